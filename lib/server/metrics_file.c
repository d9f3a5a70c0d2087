/* SPDX-License-Identifier: MIT */
#include "server/metrics_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_LEN sizeof(struct um_metrics_counters)

/* The names of all counters, in their order. */
static const char layout[] =
#define PROGRAM(name) name " "
#define STATUS(status) #status " "
#define BUCKET(us, text) #us " "
#define REFUSAL(name, status, code, page, advice) code " "
#define OUTCOME(name, word) word " "
	UM_METRICS_PROGRAMS(PROGRAM) UM_METRICS_STATUSES(STATUS)
		UM_METRICS_BUCKETS(BUCKET) UM_REFUSALS(REFUSAL)
			UM_EVENT_OUTCOMES(OUTCOME);
#undef PROGRAM
#undef STATUS
#undef BUCKET
#undef REFUSAL
#undef OUTCOME

const char *
um_metrics_program_name(size_t program)
{
	static const char *const names[] = {
#define X(name) name,
		UM_METRICS_PROGRAMS(X)
#undef X
	};

	return names[program];
}

/* FNV-1a: differs with the order, the names and the lengths. */
static uint32_t
layout_number(void)
{
	uint32_t hash = 2166136261U;

	for (size_t i = 0; i < sizeof(layout); i++)
		hash = (hash ^ (uint8_t)layout[i]) * 16777619U;
	for (size_t len = FILE_LEN; len != 0; len >>= 8)
		hash = (hash ^ (uint8_t)len) * 16777619U;
	return hash;
}

static void *
map(int fd, int flags)
{
	void *at = mmap(NULL, FILE_LEN, PROT_READ | PROT_WRITE, flags, fd, 0);

	return at != MAP_FAILED ? at : NULL;
}

/*
 * Its blocks, and not its length alone: a process that writes into a mapped page
 * for which the file system has no room is killed by SIGBUS.
 */
static bool
allocate(int fd)
{
	int error;

	while ((error = posix_fallocate(fd, 0, FILE_LEN)) == EINTR)
		;
	errno = error;
	return error == 0;
}

/* False: errno says why, or it is the file of something else. */
static bool
open_named(struct um_metrics_file *file, const char *name, bool *other)
{
	struct stat st;

	*other = false;
	file->fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0660);
	if (file->fd < 0 || fstat(file->fd, &st) != 0)
		return false;
	*other = st.st_size != 0 && st.st_size != (off_t)FILE_LEN;
	if (*other || !allocate(file->fd))
		return false;
	file->counters = map(file->fd, MAP_SHARED);
	return file->counters != NULL;
}

bool
um_metrics_file_open(struct um_metrics_file *file, const char *path,
	struct um_error *err)
{
	struct um_buf name = { 0 };
	bool ok, other;

	*file = (struct um_metrics_file){ .fd = -1,
		.own = UM_METRICS_PROCESSES_MAX };
	um_buf_printf(&name, "%s.%08x", path, layout_number());
	if (name.failed)
		return um_error(err, "out of memory");
	ok = open_named(file, name.ptr, &other);
	if (!ok) {
		um_error(err, "%s: %s", name.ptr,
			other ? "not a file of counters" : strerror(errno));
		um_metrics_file_close(file);
	}
	um_buf_free(&name);
	return ok;
}

bool
um_metrics_file_own(struct um_metrics_file *file, struct um_error *err)
{
	*file = (struct um_metrics_file){ .fd = -1,
		.own = UM_METRICS_PROCESSES_MAX,
		.counters = map(-1, MAP_PRIVATE | MAP_ANONYMOUS) };
	return file->counters != NULL || um_error(err, "out of memory");
}

/* The byte to lock for a place; the last one is for naming providers. */
static bool
lock(const struct um_metrics_file *file, size_t byte, int command, short type)
{
	struct flock lock = { .l_type = type,
		.l_whence = SEEK_SET,
		.l_start = (off_t)byte,
		.l_len = 1 };

	return fcntl(file->fd, command, &lock) == 0
		&& (command != F_OFD_GETLK || lock.l_type != F_UNLCK);
}

void
um_metrics_file_join(struct um_metrics_file *file, size_t program)
{
	struct um_metrics_process *process;
	size_t place = 0;

	while (file->fd >= 0 && place < UM_METRICS_PROCESSES_MAX
		&& !lock(file, place, F_OFD_SETLK, F_WRLCK))
		place++;
	if (place == UM_METRICS_PROCESSES_MAX)
		return;
	file->own = place;
	process = &file->counters->processes[place];
	process->requests = 0;
	process->queue = 0;
	process->connected_ms = -1;
	process->heartbeat_ms = 0;
	process->program = program;
}

bool
um_metrics_file_lives(const struct um_metrics_file *file, size_t place)
{
	return place == file->own
		|| (file->fd >= 0 && lock(file, place, F_OFD_GETLK, F_WRLCK));
}

size_t
um_metrics_file_provider(struct um_metrics_file *file, const char *name)
{
	struct um_metrics_counters *counters = file->counters;
	bool locked = file->fd >= 0
		&& lock(file, UM_METRICS_PROCESSES_MAX, F_OFD_SETLKW, F_WRLCK);
	size_t len = counters->providers_len;
	size_t i = 0;

	while (i < len && i < UM_METRICS_PROVIDERS_MAX
		&& strcmp(counters->providers[i].name, name) != 0)
		i++;
	if (i == len && i < UM_METRICS_PROVIDERS_MAX) {
		snprintf(counters->providers[i].name,
			sizeof(counters->providers[i].name), "%s", name);
		counters->providers_len = len + 1;
	}
	if (locked)
		lock(file, UM_METRICS_PROCESSES_MAX, F_OFD_SETLK, F_UNLCK);
	return i;
}

void
um_metrics_file_close(struct um_metrics_file *file)
{
	if (file->counters != NULL)
		munmap(file->counters, FILE_LEN);
	if (file->fd >= 0)
		close(file->fd);
	*file = (struct um_metrics_file){ .fd = -1 };
}
