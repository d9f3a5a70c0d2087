/* SPDX-License-Identifier: MIT */
/*
 * The counters that the programs of a host share, in a file that each of them
 * maps into memory. Its name ends with the number of its layout, so that a
 * program of another version has a file of its own.
 *
 * A process holds a lock on the byte of its place while it lives, so that the
 * others can see whether it does (fcntl(2), "Open file description locks").
 * Numbers are read and added without a lock.
 */
#ifndef UM_METRICS_FILE_H
#define UM_METRICS_FILE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/str.h"
#include "crypto/token.h"
#include "http/refusal.h"
#include "postgres/op.h"

/* The programs, in the order of their rows. */
#define UM_METRICS_PROGRAMS(X)                                                 \
	X("connect")                                                           \
	X("oauth-return")                                                      \
	X("payment-return")                                                    \
	X("webhook")                                                           \
	X("status")                                                            \
	X("form")                                                              \
	X("signin-return")

/* The HTTP statuses with a counter of their own. */
#define UM_METRICS_STATUSES(X)                                                 \
	X(200)                                                                 \
	X(303)                                                                 \
	X(400)                                                                 \
	X(401)                                                                 \
	X(403)                                                                 \
	X(404)                                                                 \
	X(405)                                                                 \
	X(409)                                                                 \
	X(410)                                                                 \
	X(413)                                                                 \
	X(415)                                                                 \
	X(422)                                                                 \
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

/* NOLINTNEXTLINE(bugprone-macro-parentheses): a term of a sum */
#define UM_METRICS_ONE(...) +1
#define UM_METRICS_PROGRAMS_LEN (0 UM_METRICS_PROGRAMS(UM_METRICS_ONE))
#define UM_METRICS_STATUSES_LEN (0 UM_METRICS_STATUSES(UM_METRICS_ONE))
#define UM_METRICS_BUCKETS_LEN (0 UM_METRICS_BUCKETS(UM_METRICS_ONE))
#define UM_METRICS_REFUSALS_LEN (0 UM_REFUSALS(UM_METRICS_ONE))
#define UM_METRICS_OUTCOMES_LEN (0 UM_EVENT_OUTCOMES(UM_METRICS_ONE))
#define UM_METRICS_PROVIDERS_MAX 256 /* more are counted as "other" */
#define UM_METRICS_PROCESSES_MAX 256 /* at a time; more have no place */

/* A histogram. The last bucket: longer than any bound. */
struct um_metrics_durations {
	_Atomic uint64_t bucket[UM_METRICS_BUCKETS_LEN + 1];
	_Atomic uint64_t us; /* the sum */
};

/* All processes of one program, since the file was made. */
struct um_metrics_program {
	/* The last: all other statuses. */
	_Atomic uint64_t status[UM_METRICS_STATUSES_LEN + 1];
	struct um_metrics_durations requests;
	struct um_metrics_durations transactions;
	_Atomic uint64_t refusal[UM_METRICS_REFUSALS_LEN];
	_Atomic uint64_t batches;
	_Atomic uint64_t operations;
	_Atomic int64_t heartbeat_ms; /* the latest of all; 0: none yet */
};

struct um_metrics_provider {
	char name[UM_PROVIDER_MAX + 1];
	_Atomic uint64_t outcome[UM_METRICS_OUTCOMES_LEN];
	_Atomic uint64_t unreadable;
};

/* One process, at its last heartbeat. Times are monotonic. */
struct um_metrics_process {
	_Atomic uint64_t program;     /* its row */
	_Atomic int64_t heartbeat_ms; /* 0: it has not begun */
	_Atomic uint64_t requests;
	_Atomic uint64_t queue;
	_Atomic int64_t connected_ms;  /* to the database; -1: not connected */
	_Atomic uint64_t keys_refused; /* 1: its keys file is refused now */
	_Atomic uint64_t loaded;       /* um_config_digest() when it started */
};

struct um_metrics_counters {
	struct um_metrics_program programs[UM_METRICS_PROGRAMS_LEN];
	/* The last: all providers without a place. */
	struct um_metrics_provider providers[UM_METRICS_PROVIDERS_MAX + 1];
	_Atomic uint64_t providers_len;
	_Atomic uint64_t queue_usage_ppm; /* of the notification queue */
	struct um_metrics_process processes[UM_METRICS_PROCESSES_MAX];
};

struct um_metrics_file {
	struct um_metrics_counters *counters; /* zeroed when it is new */
	int fd;                               /* -1: memory of this process */
	size_t own; /* this process's place; UM_METRICS_PROCESSES_MAX: none */
};

/* The name of the program with this row; a constant. */
const char *um_metrics_program_name(size_t program);

/*
 * Maps the file at this path, with the layout's number added, and creates it if
 * it does not exist. False: it cannot be mapped, or is another kind of file.
 */
bool um_metrics_file_open(struct um_metrics_file *file, const char *path,
	struct um_error *err);

/* Memory of this process instead. False: out of memory. */
bool um_metrics_file_own(struct um_metrics_file *file, struct um_error *err);

/* Takes a place for this process, if one is free. */
void um_metrics_file_join(struct um_metrics_file *file, size_t program);

/* Whether the process with this place lives. */
bool um_metrics_file_lives(const struct um_metrics_file *file, size_t place);

/*
 * The place of the provider of this name, which it gets if it has none. When
 * all are taken, it is the last one.
 */
size_t um_metrics_file_provider(struct um_metrics_file *file, const char *name);

/* Gives up the place and the memory. */
void um_metrics_file_close(struct um_metrics_file *file);

#endif
