/* SPDX-License-Identifier: MIT */
/*
 * The counters of the programs, and whether they answer. The programs of a host
 * share them in a file (server/metrics_file.h); server/metrics_page.h shows it.
 *
 * Times are monotonic, in milliseconds, and the caller passes them.
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

#define UM_METRICS_HEARTBEAT_MS 1000 /* between heartbeats while idle */
#define UM_METRICS_SILENT_MS 5000    /* without a heartbeat: it hangs */
#define UM_METRICS_QUEUE_FILLING 0.1 /* of the notification queue */
#define UM_METRICS_COMMIT_MS 30000   /* without a commit: none is possible */

struct um_metrics {
	struct um_metrics_file file;
	struct um_metrics_program *program; /* this one's row */
	const struct um_config *config;
	size_t *providers;    /* their places, in the configuration's order */
	struct um_error note; /* why the counters are not shared, or "" */
	uint64_t loaded;      /* um_config_digest() when the program started */
	bool config_refused;  /* it has changed, and would be refused now */
	/* When this host has committed last (server/beat.h); 0: it is not known. */
	int64_t committed_ms;
};

/* Whether a program answers, all its processes together. */
enum um_metrics_health {
	/* it has not run since the file was made, or ended and is not needed */
	UM_METRICS_UNKNOWN,
	UM_METRICS_OK,
	UM_METRICS_SILENT, /* one of its processes lives, but hangs */
	UM_METRICS_GONE,   /* none has lived for UM_METRICS_SILENT_MS */
};

/*
 * Opens the metrics_file of the configuration, which must outlive the metrics.
 * False: it cannot be opened. Without a metrics_file UM_METRICS_FILE is tried,
 * and otherwise the process counts for itself. `program` is one of
 * UM_METRICS_PROGRAMS.
 */
bool um_metrics_open(struct um_metrics **out, const struct um_config *config,
	const char *program, struct um_error *err);

/* The process counts for itself alone. False: out of memory. */
bool um_metrics_open_own(struct um_metrics **out,
	const struct um_config *config, const char *program,
	struct um_error *err);

/* NULL is fine. */
void um_metrics_close(struct um_metrics *metrics);

/* This process serves from now on, and sends heartbeats. */
void um_metrics_join(struct um_metrics *metrics);

/*
 * A heartbeat of this process, with the number of unanswered requests, of
 * operations not yet sent, and the time at which it connected to the database,
 * or -1. /metrics shows these values until the next heartbeat.
 */
void um_metrics_heartbeat(struct um_metrics *metrics, int64_t now,
	size_t requests, size_t queue, int64_t connected);

/* Keeps the part of the notification queue that is in use, from 0 to 1. */
void um_metrics_set_queue_usage(struct um_metrics *metrics, double usage);

/* Whether that part is more than UM_METRICS_QUEUE_FILLING. */
bool um_metrics_queue_is_filling(const struct um_metrics *metrics);

/* Whether the keys file of this process was refused when it was read last. */
void um_metrics_set_keys(struct um_metrics *metrics, bool refused);

/* How many processes of the program with this row have older keys for that. */
size_t um_metrics_keys_refused(const struct um_metrics *metrics,
	size_t program);

/* Counts one request of this program, and its refusal. */
void um_metrics_count(struct um_metrics *metrics, const struct um_exchange *ex,
	int64_t took_us);

/*
 * Counts one transaction of this program, with this many operations, which the
 * database took so long to carry out.
 */
void um_metrics_batch(struct um_metrics *metrics, uint64_t operations,
	int64_t took_us);

/*
 * Counts the outcome of the operation, if it is an event that was recorded, or
 * that a delivery cannot be read, whether that was recorded or not.
 */
void um_metrics_event(struct um_metrics *metrics, const struct um_op *op);

/* Whether this host has committed something lately, as far as it is known. */
bool um_metrics_commits(const struct um_metrics *metrics, int64_t now);

/* Whether the program with this row answers. */
enum um_metrics_health um_metrics_health(const struct um_metrics *metrics,
	size_t program, int64_t now);

#endif
