/* SPDX-License-Identifier: MIT */
/*
 * For LD_PRELOAD into PostgreSQL: each fdatasync, which is how it syncs its
 * WAL on Linux, takes FSYNC_DELAY_US microseconds longer. Data files are
 * synced with fsync and take what they take.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>

#define SECOND_NS 1000000000

int
fdatasync(int fd)
{
	static int (*real)(int);
	static long delay_ns = -1;
	struct timespec until;
	int result;

	if (delay_ns < 0) {
		const char *text = getenv("FSYNC_DELAY_US");

		*(void **)&real = dlsym(RTLD_NEXT, "fdatasync");
		delay_ns = text != NULL ? strtol(text, NULL, 10) * 1000 : 0;
		prctl(PR_SET_TIMERSLACK, 1);
	}
	result = real(fd);
	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_nsec += delay_ns;
	until.tv_sec += until.tv_nsec / SECOND_NS;
	until.tv_nsec %= SECOND_NS;
	/* A signal does not shorten it. */
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL)
		!= 0)
		;
	return result;
}
