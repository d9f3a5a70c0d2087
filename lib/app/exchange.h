/* SPDX-License-Identifier: MIT */
/* One request on its way to its response. */
#ifndef UM_EXCHANGE_H
#define UM_EXCHANGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "app/cookies.h"
#include "app/program.h"
#include "crypto/ticket.h"
#include "crypto/token.h"
#include "http/final_page.h"
#include "http/form.h"
#include "http/request.h"
#include "http/response.h"
#include "jose/jws.h"
#include "postgres/op.h"
#include "webhook/spec.h"

/* What the response will be: app/respond.h makes it after the last step. */
enum um_answer {
	UM_ANSWER_WRITTEN,  /* `response`, as a step has written it */
	UM_ANSWER_RECEIVED, /* what the provider takes for "received" */
	UM_ANSWER_REDIRECT, /* to `url` */
	UM_ANSWER_CONFIRM,  /* the confirm page of op.row, with `state` */
	UM_ANSWER_FOLLOW,   /* the page that follows a payment */
	UM_ANSWER_CHECKING, /* the page that waits for a check */
	UM_ANSWER_DECIDED,  /* who has decided the approval of op.row */
	UM_ANSWER_FINAL,    /* the page `final` */
	UM_ANSWER_DONE,     /* a redirect to /done, which shows `final` */
};

/*
 * Begins zeroed, or with um_exchange_begin(). It must stay where it is while
 * operations are requested: the store and `ops` point into it.
 */
struct um_exchange {
	struct um_request request;

	/*
	 * The operations that are requested, and the step that follows when
	 * all of them have been carried out. `then` is NULL when none are
	 * requested: the answer stands.
	 */
	struct um_op *ops; /* &op, or an array that the exchange owns */
	size_t ops_len;
	um_step *then;
	struct um_op op; /* of programs that request one at a time */
	bool is_parked;  /* `then` follows when the side resumes it */
	/* Of the program: what its steps have read, freed with the exchange. */
	void *own;
	void (*free_own)(void *own);

	enum um_refusal refusal; /* or NONE; then `answer` counts */
	enum um_answer answer;
	char allow[sizeof("GET, HEAD, POST")]; /* of METHOD_NOT_ALLOWED */
	bool plain;           /* refusals are text for a program, not a page */
	bool is_api;          /* they are JSON (http/api_error.h) */
	struct um_buf url;    /* of REDIRECT; UNAVAILABLE: where to try again */
	struct um_buf way_on; /* of a link on the page, of FINAL or a refusal */
	bool attempt_failed;  /* FOLLOW: so did the last attempt to pay */
	bool opened_before;   /* CONFIRM: by this browser */
	enum um_final_page final;
	bool sets_cookie; /* unless it is refused */
	struct um_response response;

	char cookie[UM_COOKIE_MAX + 1]; /* the browser's, or "" */

	/* Set by the checks. */
	const struct um_provider *provider;
	struct um_form form;
	struct um_token token;
	bool has_token;
	bool is_link; /* the row has yet to say the binding of the token */
	bool is_approval_link;         /* and it is of an approval by others */
	char state[UM_TOKEN_LEN + 1];  /* the last that was minted */
	char user[UM_SUBJECT_MAX + 1]; /* who it is known to be, or "" */
	char user_name[UM_ID_TOKEN_NAME_MAX + 1]; /* for people, or "" */
	char reader[UM_SUBJECT_MAX + 1]; /* of the form that was sent, or "" */
	struct um_buf kept;      /* of a form that is refused, for a cookie */
	bool keeps_all;          /* but for what is secret */
	struct um_event *events; /* of a delivery; from malloc() */

	/* For the log: this program's own words, never text from outside. */
	const char *outcome;
	const char *reason;
	struct um_fault fault; /* why it is refused, and what else to log */
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

/* Who the user is known to be, in words for people; empty if nobody is known. */
struct um_str um_exchange_user_name(const struct um_exchange *ex);

/*
 * Requests an operation on the row of ex->token, as ex->op; the caller sets
 * the other members that the operation needs. `then` is the step that follows.
 * ex->op.row keeps the row of an earlier operation.
 */
void um_exchange_request_op(struct um_exchange *ex, enum um_op_kind kind,
	um_step *then);

/*
 * Requests a call (postgres/call.h), as ex->op; the caller adds its parameters to
 * ex->op.args. `id` is the row that it is on, or NULL. `then` is the step that
 * follows, in which the rows can be read.
 */
void um_exchange_request_call(struct um_exchange *ex,
	const struct um_call *call, const uint8_t *id, um_step *then);

/* The exchange waits until the program's side resumes it with this step. */
void um_exchange_park(struct um_exchange *ex, um_step *then);

/*
 * Requests the first `len` operations, at least one, of the array `ops`, which
 * the exchange owns from now on; it may be the array of the last request.
 */
void um_exchange_request_ops(struct um_exchange *ex, struct um_op *ops,
	size_t len, um_step *then);

/*
 * Takes a step: the program's plan, and later the step that follows the
 * requested operations. After a refusal none follows, but of a wrong user an
 * event is recorded first, for the operator; it changes nothing in the row.
 */
void um_exchange_step(const struct um_context *context, struct um_exchange *ex,
	um_step *step);

/* The answer is a redirect to /done, which shows this page. */
void um_exchange_finish(struct um_exchange *ex, enum um_final_page final);

/*
 * Writes to ex->state a state token for the row of ex->token, bound to the
 * browser with ex->cookie, that expires at `expires` (Unix seconds). Refused
 * when OpenSSL fails.
 */
enum um_refusal um_exchange_mint(const struct um_context *context,
	struct um_exchange *ex, enum um_purpose purpose, int64_t expires);

/* What was received. It points into the exchange. */
struct um_received {
	/* What reads it; or NULL: the description of its provider has no such part. */
	const struct um_spec_part *part;
	struct um_delivery delivery;
};

/* The request as a delivery to the webhook. */
struct um_received um_exchange_delivery(const struct um_context *context,
	struct um_exchange *ex);

/*
 * The same for a browser's return; without a part where the provider does not
 * sign its URL. Its query has exactly the fields that the route has read from
 * the query or from a posted form, so that the program acts only on fields
 * that are signed.
 */
struct um_received um_exchange_return(const struct um_context *context,
	struct um_exchange *ex);

/*
 * Wipes and frees the members of the exchange: the request's code, state and
 * cookie do not stay in memory. Then it is zeroed, and may be freed again.
 */
void um_exchange_free(struct um_exchange *ex);

#endif
