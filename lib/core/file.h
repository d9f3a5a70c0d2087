/* SPDX-License-Identifier: MIT */
/* Files that are read whole. */
#ifndef UM_FILE_H
#define UM_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "core/str.h"

/*
 * Appends the bytes of a file to `out`, and leaves no copy of them elsewhere.
 * False, with the file's name and the reason: it cannot be read, it has more
 * than `max` bytes, or memory ran out. The caller frees `out` in either case.
 */
bool um_file_read(struct um_buf *out, const char *path, size_t max,
	struct um_error *err);

#endif
