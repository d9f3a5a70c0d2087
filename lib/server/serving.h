/* SPDX-License-Identifier: MIT */
/*
 * Requests from their connections to their answers: what has arrived begins an
 * exchange, whose operations the store carries out, which is parked, or which is
 * answered.
 */
#ifndef UM_SERVING_H
#define UM_SERVING_H

#include <stdbool.h>
#include <stdint.h>

#include "app/program.h"
#include "app/side.h"
#include "core/file.h"
#include "postgres/store.h"
#include "server/connections.h"
#include "server/log.h"
#include "server/watch.h"

#define UM_SERVING_MEASURE_MS 10000 /* between two questions of a program */

/* The requests of a process. The loop sets it up. */
struct um_serving {
	const struct um_program *program;
	size_t body_max; /* of its routes */
	struct um_context *context;
	struct um_log *log;
	struct um_store *store;
	struct um_connections connections;
	struct um_watch watch;
	int64_t stopped_at; /* ms; -1: no signal has come yet */
	bool submitted;     /* there is something for the store */

	/* Of its functions. */
	struct um_buf out; /* the response that is being made */
	struct um_op measure;
	int64_t measured_at; /* ms, when it was submitted last */
	bool is_measuring;
	struct um_file_version jwks_version; /* of the provider's keys */
};

/* An event of a connection, which may be closed by now. */
void um_serving_event(struct um_serving *sv, struct um_connection *c,
	int64_t now);

/* Asks what the program asks the database beside the requests, now and then. */
void um_serving_measure(struct um_serving *sv, int64_t now);

/* A message for the operator; `arg` is the struct um_serving. */
void um_serving_notice(const char *text, void *arg);

/* What the store and the program's side call. */
struct um_store_events um_serving_store_events(struct um_serving *sv);
struct um_side_loop um_serving_side_loop(struct um_serving *sv);

#endif
