/* SPDX-License-Identifier: MIT */
/* The keys file of a program that runs: read again when it has changed. */
#ifndef UM_KEYS_RELOAD_H
#define UM_KEYS_RELOAD_H

#include <stdint.h>

#include "app/program.h"
#include "core/file.h"
#include "server/log.h"

#define UM_KEYS_RELOAD_MS 1000 /* between two looks at the file */

/* Begins with the version of the keys that the program has. */
struct um_keys_reload {
	struct um_file_version version; /* also of a file that is refused */
	int64_t at;      /* ms, when it was last looked at for a request */
	int64_t idle_at; /* ms, when it was last looked at without one */
};

/*
 * Reads the file, and replaces context->keys. A file that is refused leaves the
 * keys as they were. The log and the metrics say which of the two it was. Does
 * nothing where the keys come from the environment.
 */
void um_keys_reload(struct um_context *context, struct um_log *log);

/*
 * The same if the file has changed or is gone; call it for each request, so
 * that a link with a new key works before the programs get a signal. `now` is a
 * monotonic time in milliseconds.
 */
void um_keys_reload_changed(struct um_keys_reload *seen,
	struct um_context *context, struct um_log *log, int64_t now);

/*
 * The same; call it in each turn, so that a file that is refused is known
 * before a request comes. The next request looks again all the same.
 */
void um_keys_reload_idle(struct um_keys_reload *seen,
	struct um_context *context, struct um_log *log, int64_t now);

#endif
