/* SPDX-License-Identifier: MIT */
/*
 * Whether somebody has opened a file that this process appends to. logrotate's
 * copytruncate copies a log and then empties it: a line that is written after
 * its last read is in neither. Whoever writes nothing while the file is open
 * elsewhere loses none. That is for a second at most, since there are others who
 * open a log and keep it open, such as `tail -f`.
 */
#ifndef UM_READERS_H
#define UM_READERS_H

#include <stdbool.h>
#include <stdint.h>

#define UM_READERS_WAIT_MS 1000

/* Begins zeroed: nothing is watched. */
struct um_readers {
	bool watching;
	int fd;        /* of inotify(7) */
	unsigned open; /* how many have opened the file and not closed it */
	bool waiting;  /* for them, since this time: */
	int64_t since; /* ms */
};

/*
 * Watches this file from now on, and no other. What is opened later, by this
 * process too, counts. Without inotify nobody is waited for.
 */
void um_readers_watch(struct um_readers *readers, const char *path);

/*
 * Whether to wait before writing; to be asked again soon, then. `now` is of a
 * clock that never jumps.
 */
bool um_readers_are_there(struct um_readers *readers, int64_t now);

/* Ends the watch. */
void um_readers_end(struct um_readers *readers);

#endif
