/* SPDX-License-Identifier: MIT */
/*
 * For LD_PRELOAD into PostgreSQL and the programs: clocks that are off, a resolver
 * that hangs or has another address for localhost, and disks that are full, as the file that CHAOS_CONTROL names says at
 * any time. Two disks are known by their folder: pg/base (data) and pg/pg_wal. On a
 * full one a file cannot grow. To the WAL nothing at all can be written then: its
 * files are made in advance, and would take long to fill.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

/* The layout of the file: tests/chaos/control.mjs writes it. */
struct control {
	int64_t clock_ahead_s;
	int32_t data_is_full;
	int32_t wal_is_full;
	int32_t resolver_hangs;
	int32_t localhost_is_elsewhere;
	int64_t uptime_ahead_s; /* of the clock that no one sets */
};

static const struct control nothing;
static const volatile struct control *control = &nothing;

__attribute__((constructor)) static void
open_control(void)
{
	const char *path = getenv("CHAOS_CONTROL");
	int fd = path != NULL ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	void *map;

	if (fd < 0)
		return;
	map = mmap(NULL, sizeof(*control), PROT_READ, MAP_SHARED, fd, 0);
	if (map != MAP_FAILED)
		control = map;
	close(fd);
}

/* The function of this name that would have been called. */
#define REAL(name)                                                             \
	static __typeof__(&(name)) real;                                       \
	if (real == NULL)                                                      \
	*(void **)&real = dlsym(RTLD_NEXT, #name)

int
clock_gettime(clockid_t clock_id, struct timespec *tp)
{
	int result;
	REAL(clock_gettime);

	result = real(clock_id, tp);
	if (clock_id == CLOCK_REALTIME || clock_id == CLOCK_REALTIME_COARSE)
		tp->tv_sec += control->clock_ahead_s;
	else if (clock_id == CLOCK_MONOTONIC)
		tp->tv_sec += control->uptime_ahead_s;
	return result;
}

int
gettimeofday(struct timeval *restrict tv, void *restrict tz)
{
	int result;
	REAL(gettimeofday);

	result = real(tv, tz);
	tv->tv_sec += control->clock_ahead_s;
	return result;
}

time_t
time(time_t *timer)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	if (timer != NULL)
		*timer = ts.tv_sec;
	return ts.tv_sec;
}

/* Whether `len` bytes at `offset` of this file have no room. */
static bool
is_full(int fd, off_t offset, size_t len)
{
	char entry[64], target[4096];
	struct stat file;
	ssize_t n;

	if (control->data_is_full == 0 && control->wal_is_full == 0)
		return false;
	snprintf(entry, sizeof(entry), "/proc/self/fd/%d", fd);
	n = readlink(entry, target, sizeof(target) - 1);
	if (n < 0)
		return false;
	target[n] = '\0';
	if (strstr(target, "/pg/pg_wal/") != NULL)
		return control->wal_is_full != 0;
	return control->data_is_full != 0 && strstr(target, "/pg/base/") != NULL
		&& fstat(fd, &file) == 0 && offset + (off_t)len > file.st_size;
}

ssize_t
pwrite(int fd, const void *buf, size_t n, off_t offset)
{
	REAL(pwrite);

	if (is_full(fd, offset, n)) {
		errno = ENOSPC;
		return -1;
	}
	return real(fd, buf, n, offset);
}

ssize_t
pwritev(int fd, const struct iovec *iovec, int count, off_t offset)
{
	REAL(pwritev);

	if (is_full(fd, offset, 1)) {
		errno = ENOSPC;
		return -1;
	}
	return real(fd, iovec, count, offset);
}

int
posix_fallocate(int fd, off_t offset, off_t len)
{
	REAL(posix_fallocate);

	return is_full(fd, offset, (size_t)len) ? ENOSPC
						: real(fd, offset, len);
}

int
getaddrinfo(const char *restrict name, const char *restrict service,
	const struct addrinfo *restrict req, struct addrinfo **restrict pai)
{
	REAL(getaddrinfo);

	while (control->resolver_hangs != 0)
		usleep(10000);
	if (control->localhost_is_elsewhere != 0 && name != NULL
		&& strcmp(name, "localhost") == 0)
		name = "127.0.0.2";
	return real(name, service, req, pai);
}
