/* SPDX-License-Identifier: MIT */
/*
 * The configuration of a program that runs. It is read at the start alone; what
 * changes later is looked at, because the next start may be refused for it.
 */
#ifndef UM_CONFIG_WATCH_H
#define UM_CONFIG_WATCH_H

#include <stdint.h>

#include "app/program.h"
#include "server/log.h"

#define UM_CONFIG_WATCH_MS 5000 /* between two looks at the files */

/* Begins with the version of the configuration that the program has. */
struct um_config_watch {
	uint64_t version;
	int64_t at; /* ms, when the files were looked at last */
};

/*
 * If the files of the configuration have changed: reads them, and throws away
 * what they say. The metrics tell whether they are refused, and the log does so
 * when they are, and when they are not any more. `now` is monotonic, in
 * milliseconds.
 */
void um_config_watch(struct um_config_watch *seen, struct um_context *context,
	struct um_log *log, int64_t now);

#endif
