/* SPDX-License-Identifier: MIT */
/*
 * A program is a chain of steps. A step is a function that reads the exchange
 * and either sets its response, or requests operations of the database and
 * names the step that follows when they have been carried out:
 *
 *   plan(context, exchange)    checks the request;
 *                              um_exchange_request_op(ex, UM_OP_OPEN, opened)
 *   opened(context, exchange)  turns what came of it into the response
 *
 * Steps have no side effects. Whatever reads sockets, clocks, random bytes or
 * the database is around them, in server/loop.c for FastCGI and in
 * server/cgi.c for plain CGI. So a unit test can call the steps, and set
 * itself what came of an operation.
 */
#ifndef UM_PROGRAM_H
#define UM_PROGRAM_H

#include <stddef.h>
#include <stdint.h>

#include "config/config.h"
#include "crypto/keys.h"

struct um_exchange;
struct um_metrics;

/* What the steps of all requests share. */
struct um_context {
	const struct um_config *config;
	struct um_metrics *metrics;
	struct um_keys *keys; /* replaced when the file is read again */
	int64_t now_ms;       /* Unix time in milliseconds */
	int64_t clock_ms;     /* milliseconds of a clock that never jumps */
	/* Fills `out` with `len` random bytes; must not fail. */
	void (*random)(void *out, size_t len);
};

typedef void um_step(const struct um_context *context, struct um_exchange *ex);

struct um_program {
	const char *name;
	size_t body_max; /* bytes; a longer body is not read */
	um_step *plan;   /* the first step */
};

#endif
