/* SPDX-License-Identifier: MIT */
#include "server/readers.h"

#include <stddef.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#define EVENT_LEN sizeof(struct inotify_event)

void
um_readers_watch(struct um_readers *readers, const char *path)
{
	um_readers_end(readers);
	readers->fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	readers->watching = readers->fd >= 0;
	if (readers->watching)
		inotify_add_watch(readers->fd, path, IN_OPEN | IN_CLOSE);
}

static void
count(struct um_readers *readers, const char *bytes)
{
	struct inotify_event event;

	memcpy(&event, bytes, sizeof(event));
	if ((event.mask & IN_OPEN) != 0)
		readers->open++;
	else if ((event.mask & IN_CLOSE) != 0 && readers->open != 0)
		readers->open--;
}

bool
um_readers_are_there(struct um_readers *readers, int64_t now)
{
	/* The watch is of one file: its events have no names behind them. */
	char events[64 * EVENT_LEN];
	ssize_t n;

	if (!readers->watching)
		return false;
	while ((n = read(readers->fd, events, sizeof(events))) > 0)
		for (size_t at = 0; at + EVENT_LEN <= (size_t)n;
			at += EVENT_LEN)
			count(readers, events + at);
	if (!readers->waiting)
		readers->since = now;
	else if (now - readers->since >= UM_READERS_WAIT_MS)
		readers->open = 0;
	readers->waiting = readers->open != 0;
	return readers->waiting;
}

void
um_readers_end(struct um_readers *readers)
{
	if (readers->watching)
		close(readers->fd);
	*readers = (struct um_readers){ 0 };
}
