/* SPDX-License-Identifier: MIT */
/*
 * Counters that all programs of a host share, in one small file that each of
 * them maps into memory. /metrics shows them in the Prometheus text format
 * 0.0.4.
 */
#ifndef UM_METRICS_H
#define UM_METRICS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/str.h"

/* The programs, in the order of their rows in the file. */
#define UM_METRICS_PROGRAMS(X)                                                 \
	X("connect")                                                           \
	X("oauth-return")                                                      \
	X("payment-return")                                                    \
	X("webhook")                                                           \
	X("status")

/* The HTTP statuses with a counter of their own. */
#define UM_METRICS_STATUSES(X)                                                 \
	X(200)                                                                 \
	X(303)                                                                 \
	X(400)                                                                 \
	X(401)                                                                 \
	X(403)                                                                 \
	X(404)                                                                 \
	X(405)                                                                 \
	X(410)                                                                 \
	X(413)                                                                 \
	X(415)                                                                 \
	X(500)                                                                 \
	X(503)

/* Upper bounds of the histogram: in microseconds, and in seconds as text. */
#define UM_METRICS_BUCKETS(X)                                                  \
	X(1000, "0.001")                                                       \
	X(2500, "0.0025")                                                      \
	X(5000, "0.005")                                                       \
	X(10000, "0.01")                                                       \
	X(25000, "0.025")                                                      \
	X(100000, "0.1")                                                       \
	X(500000, "0.5")                                                       \
	X(1000000, "1")                                                        \
	X(3000000, "3")

struct um_metrics;

/*
 * Maps the file, which is created if it does not exist; with a path of NULL the
 * counters belong to this process alone. `program` is one of the list above.
 * False: the file cannot be mapped, or is not a file of these counters.
 */
bool um_metrics_open(struct um_metrics **out, const char *path,
	const char *program, struct um_error *err);
/* NULL is fine. */
void um_metrics_close(struct um_metrics *metrics);

/* Counts one request of this program. */
void um_metrics_count(struct um_metrics *metrics, int status, int64_t took_us);

/* Counts one transaction of this program, with so many operations. */
void um_metrics_batch(struct um_metrics *metrics, uint64_t operations);

/* Appends the text of /metrics. */
void um_metrics_write(const struct um_metrics *metrics, struct um_buf *out);

/* Appends how many payments no call has claimed; the database knows it. */
void um_metrics_write_unclaimed(int64_t payments, struct um_buf *out);

#endif
