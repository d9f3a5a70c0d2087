/* SPDX-License-Identifier: MIT */
/*
 * A program is a chain of steps. A step is a function that reads the exchange
 * and does one of three things: it returns why the request is refused, it sets
 * the answer, or it requests operations of the database and names the step that
 * follows them:
 *
 *   plan(context, exchange)    checks the request, of which its route has
 *                              checked path, method and fields;
 *                              um_exchange_request_op(ex, UM_OP_OPEN, opened)
 *   opened(context, exchange)  sets the answer from the outcome
 *
 * Steps have no side effects: server/serving.c (FastCGI) and server/cgi.c (plain
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

struct um_call;
struct um_exchange;
struct um_metrics;
struct um_side;

/* Shared by the steps of all requests. */
struct um_context {
	const struct um_config *config;
	struct um_metrics *metrics;
	struct um_keys *keys; /* replaced when the file is read again */
	struct um_jwks *jwks; /* likewise; NULL until it could be read */
	void *side;           /* of a program that has one (app/side.h) */
	int64_t now_ms;       /* Unix time in milliseconds */
	int64_t monotonic_ms; /* the monotonic clock */
	/* Fills `out` with `len` random bytes; must not fail. */
	void (*random)(void *out, size_t len);
};

typedef enum um_refusal um_step(const struct um_context *context,
	struct um_exchange *ex);

#define UM_KIND_BIT(kind) (1U << (kind))
#define UM_KINDS_ALL (UM_KIND_BIT(UM_KINDS) - 1)

/*
 * What a program answers: one row for each path and the methods that have the
 * same plan. nginx/urlmode/server.conf has the same paths.
 */
struct um_route {
	const char *prefix; /* "/oauth/"; without a suffix the whole path */
	/* What follows the name of a provider, perhaps "". NULL: it has none. */
	const char *suffix;
	const char *methods; /* as in Allow: "GET, HEAD" */
	unsigned kinds;      /* of the provider: UM_KIND_BIT() of each */
	size_t body_max;     /* of POST: bytes; a longer body is refused */
	/*
	 * Bytes of one field of the query or of the posted form; 0 where neither
	 * is read before the plan.
	 */
	size_t value_max;
	/* The plan judges the fields that it reads (um_form_parse_lenient()). */
	bool lenient;
	bool plain; /* refusals are text for a program, not a page */
	/* Whether this deployment has the route, for this provider; or NULL. */
	bool (*serves)(const struct um_context *context,
		const struct um_provider *provider);
	um_step *plan; /* the first step */
};

struct um_program {
	const char *name;
	const struct um_route *routes; /* the last has no prefix */
	/*
	 * What a process that serves FastCGI asks the database every
	 * UM_SERVING_MEASURE_MS, beside the requests, or UM_OP_NONE.
	 */
	enum um_op_kind measures;

	/* Whether it writes the row of this host (server/beat.h). */
	bool beats;

	/*
	 * Of the api and of the console: the functions that it calls, a list that
	 * NULL ends. Each has a configuration of its own (config/api.h,
	 * config/console.h). The api is for servers: its refusals are JSON, and it
	 * has something beside its requests.
	 */
	enum um_login login;
	const struct um_call *const *calls;
	const struct um_side *side;
};

#endif
