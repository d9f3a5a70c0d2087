/* SPDX-License-Identifier: MIT */
/* Reading and writing files, and checking the rights on them. */
#ifndef UM_FILE_H
#define UM_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <time.h>

#include "core/str.h"

/*
 * Appends the bytes of a file to `out`, and leaves no copy of them elsewhere.
 * False, with the file's name and the reason: it cannot be read, it has more
 * than `max` bytes, or memory ran out. The caller frees `out` in either case.
 */
bool um_file_read(struct um_buf *out, const char *path, size_t max,
	struct um_error *err);

/*
 * For a file with secrets. False, with its name and the reason: users other
 * than its owner and its group have a right on it.
 */
bool um_file_is_private(const struct stat *st, const char *path,
	struct um_error *err);

/*
 * Whether this process could append to the file, which may have to be created.
 * Neither opens nor creates it. False, with its name and the reason, if not.
 */
bool um_file_can_append(const char *path, struct um_error *err);

/* Writes all bytes. False, with errno: not all of them could be written. */
bool um_file_write(int fd, struct um_str bytes);

/* Differs whenever the content of the file has changed. */
struct um_file_version {
	dev_t dev;
	ino_t ino;
	off_t size;
	struct timespec changed; /* st_ctim, which also moves with st_mtim */
};

struct um_file_version um_file_version(const struct stat *st);

/*
 * Whether the file exists and has another version than *seen, which is set to
 * the new one. Costs one stat(2).
 */
bool um_file_changed(struct um_file_version *seen, const char *path);

/*
 * The same, and a file that cannot be looked at any more has a version of its
 * own: true once when it goes, and once when it is there again.
 */
bool um_file_changed_or_gone(struct um_file_version *seen, const char *path);

#endif
