/* SPDX-License-Identifier: MIT */
/*
 * An operation: one call of a function of PostgreSQL's schema `urlmode` for one
 * elicitation, and its outcome. sql/ documents the functions and their
 * outcomes.
 */
#ifndef UM_OP_H
#define UM_OP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/str.h"
#include "crypto/token.h"
#include "webhook/event.h"

enum um_op_kind {
	UM_OP_NONE,
	UM_OP_LOOK_UP,      /* urlmode.look_up: changes nothing */
	UM_OP_LOOK_UP_LINK, /* urlmode.look_up_link: changes nothing */
	UM_OP_LINK_TENANT,  /* urlmode.link_tenant: changes nothing */
	UM_OP_OPEN,         /* urlmode.open */
	UM_OP_OPEN_LINK,    /* urlmode.open_link */
	UM_OP_COMPLETE,     /* urlmode.complete */
	UM_OP_OPEN_FORM,    /* urlmode.open_form, for a link */
	UM_OP_LOOK_UP_FORM, /* urlmode.look_up_form */
	UM_OP_ANSWER_FORM,  /* urlmode.answer_form_noted */
	UM_OP_EVENT,        /* urlmode.receive_events */
	UM_OP_UNREADABLE,   /* urlmode.record_unreadable: of no row */
	UM_OP_PING,         /* urlmode.ping: changes nothing */
	/* urlmode.held: whether a row is held; sent by the store alone */
	UM_OP_HELD,
	/* urlmode.measure: of no row; changes no row */
	UM_OP_MEASURE,
	UM_OP_BEAT, /* urlmode.beat: of no row; `subject` is the host */
	UM_OP_CALL, /* of another function: see postgres/call.h */
};

/* Whether the database has carried an operation out; the store sets it. */
enum um_store_status {
	UM_STORE_UNAVAILABLE, /* no answer in time; it may be carried out */
	UM_STORE_FAILED,      /* the database refused this operation */
	UM_STORE_DONE,        /* committed; the outcome and the row are set */
};

/*
 * The outcomes of LOOK_UP, OPEN, COMPLETE and TENANT, and of the three for forms (FORM),
 * the words for them that the functions in PostgreSQL return and that the log
 * shows, and which of them can have it. LOOK_UP_LINK and OPEN_LINK are what
 * LOOK_UP and OPEN are, for a link, which does not tell the binding: they set it.
 */
#define UM_ROW_OUTCOMES(X)                                                     \
	X(UM_ROW_UNKNOWN, "unknown",                                           \
		LOOK_UP | TENANT | OPEN | COMPLETE | FORM)                     \
	X(UM_ROW_EXPIRED, "expired", LOOK_UP | OPEN | COMPLETE | FORM)         \
	X(UM_ROW_WRONG_USER, "wrong_user", OPEN | COMPLETE | FORM)             \
	X(UM_ROW_WRONG_KIND, "wrong_kind", LOOK_UP | OPEN | FORM)              \
	X(UM_ROW_WRONG_TENANT, "wrong_tenant", TENANT)                         \
	X(UM_ROW_PENDING, "pending", LOOK_UP | TENANT | FORM)                  \
	X(UM_ROW_OPENED, "opened", LOOK_UP | OPEN | FORM)                      \
	X(UM_ROW_PROCESSING, "processing", LOOK_UP | OPEN | COMPLETE | FORM)   \
	X(UM_ROW_COMPLETED, "completed", LOOK_UP | OPEN | COMPLETE | FORM)     \
	X(UM_ROW_ALREADY, "already", COMPLETE | FORM)                          \
	X(UM_ROW_USER_UNKNOWN, "user_unknown", FORM)                           \
	X(UM_ROW_OWN_REQUEST, "own_request", FORM)                             \
	X(UM_ROW_FOUR_EYES_NOT_SET_UP, "four_eyes_not_set_up", FORM)

/* The outcomes of EVENT, and their words. */
#define UM_EVENT_OUTCOMES(X)                                                   \
	X(UM_EVENT_UNKNOWN, "unknown")                                         \
	X(UM_EVENT_ACCEPT, "accept")                                           \
	X(UM_EVENT_DECLINE, "decline")                                         \
	X(UM_EVENT_CANCEL, "cancel")                                           \
	X(UM_EVENT_PROCESSING, "processing")                                   \
	X(UM_EVENT_RECHECK, "recheck")                                         \
	X(UM_EVENT_ATTEMPT_FAILED, "attempt_failed")                           \
	X(UM_EVENT_REFUNDED, "refunded")                                       \
	X(UM_EVENT_REFUND_REVERSED, "refund_reversed")                         \
	X(UM_EVENT_DISPUTED, "disputed")                                       \
	X(UM_EVENT_RENEWED, "renewed")                                         \
	X(UM_EVENT_SUBSCRIPTION, "subscription")                               \
	X(UM_EVENT_NAMED, "named")                                             \
	X(UM_EVENT_LATE, "late")                                               \
	X(UM_EVENT_REPEATED, "repeated")                                       \
	X(UM_EVENT_REFERENCE_TAKEN, "reference_taken")                         \
	X(UM_EVENT_OTHER_MODE, "other_mode")                                   \
	X(UM_EVENT_OTHER_ACCOUNT, "other_account")                             \
	X(UM_EVENT_OTHER_CHECKOUT, "other_checkout")                           \
	X(UM_EVENT_OTHER_KIND, "other_kind")                                   \
	X(UM_EVENT_IGNORED, "ignored")                                         \
	X(UM_EVENT_SEEN, "seen")

enum um_row_outcome {
#define X(name, word, kinds) name,
	UM_ROW_OUTCOMES(X)
#undef X
};

enum um_event_outcome {
#define X(name, word) name,
	UM_EVENT_OUTCOMES(X)
#undef X
};

/* Which functions the login of a program may execute. */
enum um_login {
	UM_LOGIN_CALLBACK, /* urlmode_cgi: it reads no results, and lists no rows */
	UM_LOGIN_SERVER,   /* urlmode_server, which reads results */
	UM_LOGIN_OPERATOR, /* urlmode_operator, which lists rows */
};

struct um_call;
struct pg_result;

struct um_op {
	enum um_op_kind kind;
	uint8_t id[UM_UUID_LEN];
	uint8_t binding[UM_BINDING_LEN]; /* set by the row of a link */
	const char *provider; /* borrowed, as all pointers to const here */

	/* OPEN, COMPLETE, FORM: the user, if known, or NULL. */
	const char *subject;
	/* OPEN, OPEN_FORM, ANSWER_FORM: the browser that continues. */
	uint8_t browser[UM_BROWSER_LEN];
	bool only_looks; /* OPEN_FORM: changes nothing */
	/* The provider's, by its name: a row of another is not opened, and proves nothing. */
	const char *row_kind;
	bool four_eyes;      /* FORM: as the provider's, in the configuration */
	const char *tenants; /* TENANT: the same */
	/* OPEN: how long the row waits for its provider after its expiry. */
	int64_t grace_ms;

	/* COMPLETE, ANSWER_FORM: the protocol's word, and a reason or "". */
	const char *action;
	const char *reason;           /* UNREADABLE: the reason code */
	const struct um_event *event; /* EVENT */
	const char *request; /* EVENT, UNREADABLE: the request id, or NULL */
	/* UNREADABLE: of the delivery, and why it is refused, for the operator. */
	uint8_t digest[UM_DIGEST_LEN];
	const char *place;
	/* EVENT: it names a payment alone; the row then says the id. */
	bool is_unnamed;
	/* COMPLETE, EVENT, ANSWER_FORM: sealed, or empty. */
	struct um_buf result;
	/* The same: the sealed outcome that the database announces. */
	struct um_buf notified;
	/* ANSWER_FORM: what the page may show again, sealed, or empty. */
	struct um_buf typed;
	/* ANSWER_FORM: what the operator is told of a decision, or NULL. */
	const char *note;

	enum um_store_status status;
	enum um_row_outcome outcome;         /* LOOK_UP, OPEN, COMPLETE */
	enum um_event_outcome event_outcome; /* EVENT */
	struct um_row {
		char *requester;  /* LOOK_UP */
		char *subject;    /* LOOK_UP */
		char *action;     /* LOOK_UP; NULL until it is completed */
		char *reason;     /* LOOK_UP */
		char *kind;       /* OPEN, when opened */
		char *target_url; /* OPEN, when opened */
		int64_t expires;  /* LOOK_UP, OPEN, FORM: Unix seconds */
		/* LOOK_UP_FORM: sealed, or empty; who has decided, or NULL. */
		struct um_buf form, problem, typed;
		char *decided_by;
		bool unchecked; /* the last value could not be checked */
		/* LOOK_UP: of the amount to be paid; NULL if there is none. */
		char *currency;
		int64_t amount; /* in minor units */
		/* LOOK_UP: attempts to pay that failed. */
		int64_t failed_attempts;
		/* LOOK_UP: paid in full, but after it had ended. */
		bool late;
		/* LOOK_UP, LOOK_UP_FORM: a browser has opened it. */
		bool has_browser;
		uint8_t browser[UM_BROWSER_LEN];
		/* EVENT: amount or currency, if it is not the expected one. */
		char *mismatch;
		int64_t unclaimed;       /* MEASURE: payments */
		int64_t unclaimed_age_s; /* of the oldest of them, or 0 */
		int64_t undelivered;     /* MEASURE: claims */
		int64_t undelivered_age_s;
		int64_t failing; /* MEASURE: accounts */
		/* The same: Unix time there, and what pg_notification_queue_usage()
		 * says. */
		int64_t database_ms;
		double queue_usage;
	} row;

	/*
	 * CALL: the function, and the parameters as um_call_put_bool() and others
	 * add them. The rows are there while done() runs.
	 */
	const struct um_call *call;
	struct um_buf args;
	/* How many rows it reads at most, of 64 KB each; 0: one, or small ones. */
	unsigned reads;
	const struct pg_result *rows;
	int rows_first;
	int rows_len;
	char sqlstate[6]; /* if it FAILED: of its error, or "" */

	/* For the store's queue. */
	struct um_op *next;
	int64_t deadline; /* when it is handed back as UNAVAILABLE */
	bool isolated;    /* it gets a transaction of its own */
	bool is_held;     /* HELD said that another session has its row */
	bool was_aside;   /* it was tried again after a lock */
	bool was_sent;    /* so that it may be carried out, if UNAVAILABLE */

	void *owner; /* for the caller that submits it */
};

/*
 * Sets the outcome from its word. False, and nothing is set, if the operation's
 * kind has no such outcome.
 */
bool um_op_parse_outcome(struct um_op *op, const char *word);

/*
 * The word for the outcome; "unavailable" or "failed" when the operation is
 * not DONE, and "ok" for a kind without outcomes.
 */
const char *um_op_outcome_text(const struct um_op *op);

/* Whether it is an event, carried out, for which the provider has no row. */
bool um_op_is_unknown_event(const struct um_op *op);

/*
 * A list of operations in the order in which they were added. It begins zeroed.
 * An operation is in one list at a time, which uses its member `next`.
 */
struct um_op_list {
	struct um_op *first;
	struct um_op *last; /* valid while first is not NULL */
	size_t len;
};

void um_op_list_add(struct um_op_list *list, struct um_op *op);

/* Removes the first operation and returns it, or NULL. */
struct um_op *um_op_list_take(struct um_op_list *list);

/*
 * The first of these operations, of which some may be NULL, that is on the same
 * row, or NULL. An operation that names no row is on the row of no other.
 */
const struct um_op *um_op_find_row(struct um_op *const *ops, size_t len,
	const struct um_op *op);

/* Frees the result and the row, not the operation itself. */
void um_op_free(struct um_op *op);

#endif
