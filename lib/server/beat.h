/* SPDX-License-Identifier: MIT */
/*
 * Whether a transaction commits: every ten seconds this host's row is written
 * (urlmode.beat), on a connection of its own, since a commit that waits for a
 * standby holds up whatever is behind it. A host to which nobody comes commits
 * nothing else.
 *
 * The loop waits for it as for the store (postgres/store.h).
 */
#ifndef UM_BEAT_H
#define UM_BEAT_H

#include <stdbool.h>
#include <stdint.h>

#include "server/metrics.h"

#define UM_BEAT_EVERY_MS 10000

struct um_beat;

/*
 * Sets the time of the last commit in `metrics`, which it borrows; to begin with
 * to `now`. NULL when out of memory.
 */
struct um_beat *um_beat_new(const char *conninfo, struct um_metrics *metrics,
	int64_t now);

/* Begins what is due, and continues, also because the socket is `ready`. */
void um_beat_run(struct um_beat *beat, bool ready, int64_t now);

/* As um_store_watch() and um_store_deadline(). */
int um_beat_watch(const struct um_beat *beat, bool *want_write,
	unsigned *connection);
int64_t um_beat_deadline(const struct um_beat *beat);

/* NULL is fine. */
void um_beat_free(struct um_beat *beat);

#endif
