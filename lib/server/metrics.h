/* SPDX-License-Identifier: MIT */
/*
 * What the programs count, and whether they answer. The programs of a host share
 * it in a file (server/metrics_file.h); server/metrics_page.h shows it.
 *
 * Times are milliseconds of a clock that never jumps, which the caller passes.
 */
#ifndef UM_METRICS_H
#define UM_METRICS_H

#include <stdbool.h>
#include <stdint.h>

#include "app/exchange.h"
#include "config/config.h"
#include "core/str.h"
#include "server/metrics_file.h"

/* Where the configuration names no metrics_file. */
#ifndef UM_METRICS_FILE
#define UM_METRICS_FILE "/run/urlmode/metrics/counters"
#endif

#define UM_METRICS_BEAT_MS 1000 /* between two beats of a process that waits */
#define UM_METRICS_SILENT_MS 5000 /* without a beat: it does not answer */

struct um_metrics {
	struct um_metrics_file file;
	struct um_metrics_program *program; /* this one's row */
	const struct um_config *config;
	size_t *providers;    /* the places of the configuration's */
	struct um_error note; /* why the counters are not shared, or "" */
};

/* Whether a program answers, all its processes together. */
enum um_metrics_health {
	UM_METRICS_UNKNOWN, /* it has not run since the file was made */
	UM_METRICS_OK,
	UM_METRICS_SILENT, /* one of its processes lives, and does nothing */
	UM_METRICS_GONE,   /* none has lived for UM_METRICS_SILENT_MS */
};

/*
 * Opens the metrics_file of the configuration, which must outlive the metrics.
 * False: it cannot be opened. Where the configuration names none, UM_METRICS_FILE
 * is tried, and otherwise the process counts for itself. `program` is one of
 * UM_METRICS_PROGRAMS.
 */
bool um_metrics_open(struct um_metrics **out, const struct um_config *config,
	const char *program, struct um_error *err);

/* Has the process count for itself. False: out of memory. */
bool um_metrics_open_own(struct um_metrics **out,
	const struct um_config *config, const char *program,
	struct um_error *err);

/* NULL is fine. */
void um_metrics_close(struct um_metrics *metrics);

/* This process serves from now on, and beats. */
void um_metrics_join(struct um_metrics *metrics);

/*
 * A beat of this process: how many requests are not answered, how many operations
 * are not sent, and since when it has been connected to the database, or -1.
 */
void um_metrics_beat(struct um_metrics *metrics, int64_t now, size_t requests,
	size_t queue, int64_t connected);

/* Counts one request of this program, and its refusal. */
void um_metrics_count(struct um_metrics *metrics, const struct um_exchange *ex,
	int64_t took_us);

/* Counts one transaction of this program, with so many operations. */
void um_metrics_batch(struct um_metrics *metrics, uint64_t operations);

/* Counts what came of the operation, if it is an event that was recorded. */
void um_metrics_event(struct um_metrics *metrics, const struct um_op *op);

/* Whether the program with this row answers. */
enum um_metrics_health um_metrics_health(const struct um_metrics *metrics,
	size_t program, int64_t now);

#endif
