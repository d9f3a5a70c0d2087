/* SPDX-License-Identifier: MIT */
/* Files: reading them whole, and who may do what with them. */
#ifndef UM_FILE_H
#define UM_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

#include "core/str.h"

/*
 * Appends the bytes of a file to `out`, and leaves no copy of them elsewhere.
 * False, with the file's name and the reason: it cannot be read, it has more
 * than `max` bytes, or memory ran out. The caller frees `out` in either case.
 */
bool um_file_read(struct um_buf *out, const char *path, size_t max,
	struct um_error *err);

/*
 * For a file with secrets. False, with its name and the reason: others than its
 * owner and its group have some right on it.
 */
bool um_file_is_private(const struct stat *st, const char *path,
	struct um_error *err);

/*
 * Whether this process could append to the file, which may have to be created.
 * Neither opens nor creates it. False, with its name and the reason, if not.
 */
bool um_file_can_append(const char *path, struct um_error *err);

#endif
