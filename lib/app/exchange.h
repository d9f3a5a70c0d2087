/* SPDX-License-Identifier: MIT */
/* One request on its way to its response. */
#ifndef UM_EXCHANGE_H
#define UM_EXCHANGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "app/program.h"
#include "crypto/ticket.h"
#include "crypto/token.h"
#include "http/form.h"
#include "http/refusal.h"
#include "http/request.h"
#include "http/response.h"
#include "postgres/op.h"
#include "webhook/spec.h"

#define UM_COOKIE_LEN 22  /* 16 random bytes as base64url */
#define UM_COOKIE_MAX 128 /* characters; a longer one is ignored */
/* Seconds: a user may come back as long as any grace lasts. */
#define UM_COOKIE_MAX_AGE UM_GRACE_MAX_S

/*
 * Begins zeroed, or with um_exchange_begin(). It must stay where it is while
 * operations are requested: the store and `ops` point into it.
 */
struct um_exchange {
	struct um_request request;
	struct um_response response;

	/*
	 * The operations that are requested, and the step that follows when
	 * all of them have been carried out. `then` is NULL when none are
	 * requested: the response is complete.
	 */
	struct um_op *ops; /* &op, or an array that the exchange owns */
	size_t ops_len;
	um_step *then;
	struct um_op op; /* of programs that request one at a time */

	bool refused; /* for this reason: */
	enum um_refusal refusal;
	bool plain; /* refusals are text for a program, not a page */

	/* What the checks have found out. */
	const struct um_provider *provider;
	struct um_form form;
	struct um_token token;
	bool has_token;
	char cookie[UM_COOKIE_MAX + 1]; /* the browser's, or "" */
	char user[UM_SUBJECT_MAX + 1];  /* who it is known to be, or "" */
	struct um_event *events;        /* of a delivery; from malloc() */

	/* For the log: words of this program, never text from outside. */
	const char *outcome;
	const char *reason;
	struct um_fault fault; /* why a delivery is refused */
};

/*
 * Begins an exchange with the request that `get(name, arg)` reads out of CGI
 * meta-variables (RFC 3875 section 4.1), except for its body. The request's id
 * is URLMODE_REQUEST_ID where the web server sets that to 32 lower-case
 * hexadecimal digits, else a random one. `path` receives the path; it and what
 * `get` returns must outlive the exchange.
 */
void um_exchange_begin(struct um_exchange *ex, struct um_buf *path,
	const char *(*get)(const char *name, void *arg), void *arg,
	const struct um_context *context);

/*
 * Requests an operation on the row of ex->token, as ex->op; the caller sets
 * what else the operation needs. `then` is the step that follows. What an
 * earlier operation has read stays in ex->op.row.
 */
void um_exchange_request_op(struct um_exchange *ex, enum um_op_kind kind,
	um_step *then);

/*
 * Requests the first `len` operations of the array `ops`, at least one. The
 * exchange owns the array from now on; it may be the one of the last request.
 */
void um_exchange_request_ops(struct um_exchange *ex, struct um_op *ops,
	size_t len, um_step *then);

/* Goes on with the step that follows the requested operations. */
void um_exchange_continue(const struct um_context *context,
	struct um_exchange *ex);

/*
 * Makes the response this refusal, whatever it was, and withdraws what was
 * requested. Always false, for `return um_exchange_refuse(…)`.
 */
bool um_exchange_refuse(struct um_exchange *ex, enum um_refusal refusal);

/*
 * Refuses with 503, and has the browser try again by itself: at `url`, or at
 * the same address when that is NULL.
 */
void um_exchange_refuse_unavailable(struct um_exchange *ex, const char *url);

/*
 * Refuses a user who is not the row's subject, after an event that changes
 * nothing in the row has been recorded for the operator. Always false.
 */
bool um_exchange_refuse_wrong_user(struct um_exchange *ex);

/*
 * Gives ex->cookie a random value unless the browser has sent one that is long
 * enough: all flows of a browser share one cookie.
 */
void um_exchange_ensure_cookie(const struct um_context *context,
	struct um_exchange *ex);

/* Sets the browser's cookie to ex->cookie with the response. */
void um_exchange_set_cookie(struct um_exchange *ex);

/*
 * Writes to `text` a state token for the row of ex->token, bound to the
 * browser with ex->cookie, that expires at `expires` (Unix seconds). False and
 * refused when OpenSSL fails.
 */
bool um_exchange_mint(const struct um_context *context, struct um_exchange *ex,
	enum um_purpose purpose, int64_t expires,
	char text[static UM_TOKEN_LEN + 1]);

/*
 * The request as the description of its provider reads a delivery to its
 * webhook. It points into the exchange.
 */
struct um_delivery um_exchange_delivery(const struct um_context *context,
	struct um_exchange *ex);

/*
 * The same as a browser's return. The fields that um_check_fields() has read,
 * whether they came in the query or in a posted form, are its query, and it has
 * nothing else: whatever is signed is what the program acts on.
 */
struct um_delivery um_exchange_return(const struct um_context *context,
	struct um_exchange *ex);

/*
 * Appends the response as it goes to the web server to `out`. When memory has
 * run out, the response becomes a 500.
 */
void um_exchange_write(struct um_exchange *ex, struct um_buf *out);

/*
 * Frees what the exchange holds, and wipes it: the request's code, state and
 * cookie do not stay in memory. It is zeroed then, and may be freed again.
 */
void um_exchange_free(struct um_exchange *ex);

#endif
