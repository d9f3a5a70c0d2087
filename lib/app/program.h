/* SPDX-License-Identifier: MIT */
/*
 * A program is a chain of steps. A step is a function that reads the exchange
 * and does one of three things: it returns why the request is refused, it sets
 * the answer, or it requests operations of the database and names the step that
 * follows them:
 *
 *   plan(context, exchange)    checks the request;
 *                              um_exchange_request_op(ex, UM_OP_OPEN, opened)
 *   opened(context, exchange)  sets the answer from the outcome
 *
 * Steps have no side effects: server/loop.c (FastCGI) and server/cgi.c (plain
 * CGI) read sockets, clocks and random bytes, carry out the operations, and
 * make the response (app/respond.h). So a unit test can call the steps, and set
 * the outcome of an operation itself.
 */
#ifndef UM_PROGRAM_H
#define UM_PROGRAM_H

#include <stddef.h>
#include <stdint.h>

#include "config/config.h"
#include "crypto/keys.h"
#include "http/refusal.h"
#include "jose/jwks.h"
#include "postgres/op.h"

struct um_exchange;
struct um_metrics;

/* Shared by the steps of all requests. */
struct um_context {
	const struct um_config *config;
	struct um_metrics *metrics;
	struct um_keys *keys; /* replaced when the file is read again */
	struct um_jwks *jwks; /* likewise; NULL until it could be read */
	int64_t now_ms;       /* Unix time in milliseconds */
	int64_t monotonic_ms; /* the monotonic clock */
	/* Fills `out` with `len` random bytes; must not fail. */
	void (*random)(void *out, size_t len);
};

typedef enum um_refusal um_step(const struct um_context *context,
	struct um_exchange *ex);

struct um_program {
	const char *name;
	size_t body_max; /* bytes; a longer body is not read */
	um_step *plan;   /* the first step */
	/*
	 * What a process that serves FastCGI asks the database every
	 * UM_LOOP_MEASURE_MS, beside the requests, or UM_OP_NONE.
	 */
	enum um_op_kind measures;
};

#endif
