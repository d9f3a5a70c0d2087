/* SPDX-License-Identifier: MIT */
/*
 * A program is two functions without side effects:
 *
 *   plan(context, exchange)    the request becomes an answer at once, or an
 *                              operation for the database
 *   answer(context, exchange)  what the operation came to becomes the answer
 *
 * Everything that reads sockets, clocks, random bytes or the database is
 * around them: loop.c for FastCGI, cgi.c for plain CGI.
 */
#ifndef UM_PROGRAM_H
#define UM_PROGRAM_H

#include <stdint.h>

#include "config/config.h"
#include "crypto/keys.h"
#include "crypto/ticket.h"
#include "crypto/token.h"
#include "http/form.h"
#include "http/page.h"
#include "http/refusal.h"
#include "http/request.h"
#include "http/response.h"
#include "postgres/op.h"
#include "server/metrics.h"

#define UM_COOKIE_LEN 22        /* 16 random bytes as base64url */
#define UM_COOKIE_MAX_AGE 86400 /* seconds */
#define UM_COOKIE_MAX 128       /* characters of a cookie that is looked at */

struct um_context {
	const struct um_config *config;
	struct um_metrics *metrics;
	struct um_keys *keys; /* replaced when they are read again */
	int64_t now_ms;       /* Unix time */
	/* Fills with random bytes; must not fail. */
	void (*random)(void *out, size_t len);
};

/* One request on its way to its answer; zeroed to begin with. */
struct um_exchange {
	struct um_request request;
	struct um_response response;
	/*
	 * What plan(), or answer() after it, wants done in the database: the
	 * first `asked` of `ops`, or `op` alone where ops is NULL. 0: nothing,
	 * the answer is there.
	 */
	size_t asked;
	struct um_op op;
	struct um_op *ops;
	size_t ops_len;

	bool plain; /* a program is at the other end: refusals without a page */

	/* Known from plan() on. */
	const struct um_provider *provider;
	struct um_form form;
	struct um_token token;
	bool has_token;
	char cookie[UM_COOKIE_MAX + 1]; /* the browser's, or "" */
	char user[UM_SUBJECT_MAX + 1];  /* who it is known to be, or "" */
	struct um_event *events;        /* of a delivery */

	bool wrong_user; /* refused already; its event is on its way */

	/* For the log: words of ours, never what came from outside. */
	const char *outcome;
	const char *reason;
};

struct um_program {
	const char *name;
	size_t body_max; /* bytes; over them a body is not read */
	void (*plan)(const struct um_context *context, struct um_exchange *ex);
	void (*answer)(const struct um_context *context,
		struct um_exchange *ex);
};

/* The whole life of a program; main() is this call. */
int um_program_main(const struct um_program *program, int argc, char **argv);

/* The rest is what plan() and answer() are made of. */

/* The answer is this refusal; always false, for `return um_exchange_refuse(…)`. */
bool um_exchange_refuse(struct um_exchange *ex, enum um_refusal refusal);

/*
 * Steps of plan(). Each answers true, or refuses and answers false.
 */

/* The path is prefix, provider, suffix; the provider of this kind or ANY. */
bool um_check_route(const struct um_context *context, struct um_exchange *ex,
	const char *prefix, const char *suffix, enum um_kind kind);

/* The method is among `allow` ("GET, HEAD"), and this is no prefetch. */
bool um_check_method(struct um_exchange *ex, const char *allow);

/* The fields of the query, or of the posted form, go to ex->form. */
bool um_check_fields(struct um_exchange *ex);

/*
 * The field `state` is a good token for this purpose and ex->provider, and
 * this browser's where it is bound to one; it goes to ex->token, the
 * browser's cookie to ex->cookie.
 */
bool um_check_state(const struct um_context *context, struct um_exchange *ex,
	enum um_purpose purpose);

/*
 * Who the user is, as the configuration says to find it out: goes to
 * ex->user, which stays empty where the confirm page is to ask.
 */
bool um_check_user(const struct um_context *context, struct um_exchange *ex);

/* The browser has a cookie; one that has none is given one by the answer. */
void um_exchange_ensure_cookie(const struct um_context *context,
	struct um_exchange *ex);
void um_exchange_set_cookie(struct um_exchange *ex);

/*
 * After UM_OP_LOOK_UP: ex->user, where there is one, is the row's subject;
 * and this is the browser that went on from /connect. For
 * tokens that are bound to none, because the MCP server minted them.
 */
bool um_require_owner(struct um_exchange *ex);

/* Makes the exchange ask for this operation on the token's row. */
void um_exchange_request_op(struct um_exchange *ex, enum um_op_kind kind);

/* The request as its provider's description reads it. */
struct um_delivery um_delivery(const struct um_context *context,
	struct um_exchange *ex);

/* Good, or refused and false. */
bool um_check_verdict(struct um_exchange *ex, enum um_verdict verdict);

/* A state token for ex->token's row, bound to the browser ex->cookie. */
bool um_exchange_mint(const struct um_context *context, struct um_exchange *ex,
	enum um_purpose purpose, int64_t expires,
	char text[static UM_TOKEN_LEN + 1]);

/*
 * Steps of answer(). What every program says alike: not there, expired,
 * another user (which is recorded as an event first), no database. True: the
 * answer is set, or the database is asked again.
 */
bool um_exchange_answer_common(struct um_exchange *ex);

/* 503 that tries again by itself; `url`, or NULL for the same address. */
void um_exchange_unavailable(struct um_exchange *ex, const char *url);

void um_exchange_free(struct um_exchange *ex);

#endif
