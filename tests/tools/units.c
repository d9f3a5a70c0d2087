/* SPDX-License-Identifier: MIT */
/*
 * Most unit tests in one program: `units` lists them, and `units NAME…` runs
 * those named, each in a process of its own. valgrind takes half a second to
 * start, and a fork of it nearly nothing. Forks also have what it has translated
 * before: with `units --here NAME…` the first one runs in the process of all.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* Makefile writes it, and renames main() of each test to the test's name. */
extern const struct unit {
	const char *name; /* NULL: the end */
	int (*run)(int argc, char **argv);
} um_units[];

static const struct unit *
find(const char *name)
{
	for (const struct unit *unit = um_units; unit->name != NULL; unit++)
		if (strcmp(unit->name, name) == 0)
			return unit;
	return NULL;
}

static long
milliseconds(const struct rusage *usage)
{
	const struct timeval *user = &usage->ru_utime,
			     *system = &usage->ru_stime;

	return (user->tv_sec + system->tv_sec) * 1000
		+ (user->tv_usec + system->tv_usec) / 1000;
}

/* True: it has ended with status 0. What else it says in TAP is its own, but for
 * the processor's time behind it. */
static bool
run(char *name)
{
	const struct unit *unit = find(name);
	struct rusage usage;
	int status;
	pid_t pid;

	printf("\n== %s\n", name);
	fflush(stdout);
	pid = unit != NULL ? fork() : -1;
	if (pid == 0)
		exit(unit->run(1, (char *[]){ name, NULL }));
	if (pid > 0 && wait4(pid, &status, 0, &usage) == pid && status == 0) {
		printf("# %s: %ld ms of the processor\n", name,
			milliseconds(&usage));
		return true;
	}
	printf("not ok 1 - %s did not end with status 0\n", name);
	return false;
}

int
main(int argc, char **argv)
{
	int failed = 0, i = 1;

	for (const struct unit *unit = um_units; argc < 2 && unit->name != NULL;
		unit++)
		printf("%s\n", unit->name);
	if (argc > 2 && strcmp(argv[1], "--here") == 0) {
		const struct unit *first = find(argv[2]);

		printf("\n== %s\n", argv[2]);
		failed = first == NULL
			|| first->run(1, (char *[]){ argv[2], NULL }) != 0;
		i = 3;
	}
	for (; i < argc; i++)
		failed += !run(argv[i]);
	return failed != 0;
}
