/* SPDX-License-Identifier: MIT */
/*
 * The files of a program that runs, which may change: the keys, the providers'
 * certificates and public keys, and the configuration. Each look at them costs
 * little, and is left out until its time has come.
 *
 * Times are monotonic, in milliseconds, and the caller passes them.
 */
#ifndef UM_WATCH_H
#define UM_WATCH_H

#include <stdint.h>

#include "app/program.h"
#include "core/file.h"
#include "server/log.h"

#define UM_WATCH_KEYS_MS 1000   /* between two looks at a file of keys, */
#define UM_WATCH_CONFIG_MS 5000 /* at the files of the configuration, */
#define UM_WATCH_CERTIFICATES_MS 86400000 /* at the certificates: a day */

/* Set the first three; the others begin zeroed. */
struct um_watch {
	const struct um_program *program;
	struct um_context *context;
	struct um_log *log;
	/* Versions: those that the program has, or has refused. */
	struct um_file_version keys;
	uint64_t config;
	/* When each was looked at last; 0: not yet. */
	int64_t keys_at;      /* for a request */
	int64_t keys_idle_at; /* without one */
	int64_t signing_keys_at;
	int64_t certificates_at;
	int64_t config_at;
};

/* Takes the versions of the files that the program has read at its start. */
void um_watch_begin(struct um_watch *watch);

/*
 * Reads the keys file, and replaces context->keys. A file that is refused leaves
 * the keys as they were. The log and the metrics say which of the two it was.
 * Does nothing where the keys come from the environment.
 */
void um_watch_reload_keys(struct um_watch *watch);

/*
 * Before the plan of a request, reads the keys file again if it has changed or is
 * gone, so that a link with a new key works before the programs get a signal. It
 * also reads the providers' files of public keys again if they have changed: a key
 * that was added is found, and one that was removed is not trusted any more. A
 * file that is refused is logged once, and its keys stay as they were.
 */
void um_watch_for_request(struct um_watch *watch, int64_t now);

/*
 * In each turn of the event loop, checks what a request would meet later:
 *
 * - webhook checks its certificates, and logs those that have expired or expire
 *   soon;
 * - status checks whether a program would start with the configuration as it is
 *   on disk now. A running program does not use it. The metrics have the result,
 *   and the log has a line each time that it changes.
 *
 * The keys are checked here and before each request.
 */
void um_watch_turn(struct um_watch *watch, int64_t now);

#endif
