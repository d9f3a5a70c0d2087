/* SPDX-License-Identifier: MIT */
/*
 * An operation: one call of a function of PostgreSQL's schema `urlmode` for
 * one elicitation, and what came of it. What the functions do is written in
 * sql/, and so is what their outcomes mean.
 */
#ifndef UM_OP_H
#define UM_OP_H

#include <stdbool.h>
#include <stdint.h>

#include "core/str.h"
#include "crypto/token.h"
#include "webhook/event.h"

enum um_op_kind {
	UM_OP_NONE,
	UM_OP_LOOK_UP,  /* urlmode.look_up: changes nothing */
	UM_OP_OPEN,     /* urlmode.open */
	UM_OP_COMPLETE, /* urlmode.complete */
	UM_OP_EVENT,    /* urlmode.record_events */
	UM_OP_PING,     /* urlmode.ping: changes nothing */
	/* urlmode.count_unclaimed: of no row; changes nothing */
	UM_OP_COUNT_UNCLAIMED,
};

/* Whether the database has carried an operation out; the store sets it. */
enum um_store_status {
	UM_STORE_UNAVAILABLE, /* no answer in time; it may be carried out */
	UM_STORE_FAILED,      /* the database refused this operation */
	UM_STORE_DONE,        /* committed; the outcome and the row are set */
};

/*
 * The outcomes of each operation, and the words for them that its function in
 * PostgreSQL returns and that the log shows.
 */
#define UM_LOOK_UP_OUTCOMES(X)                                                 \
	X(UM_LOOK_UP_UNKNOWN, "unknown")                                       \
	X(UM_LOOK_UP_EXPIRED, "expired")                                       \
	X(UM_LOOK_UP_PENDING, "pending")                                       \
	X(UM_LOOK_UP_OPENED, "opened")                                         \
	X(UM_LOOK_UP_PROCESSING, "processing")                                 \
	X(UM_LOOK_UP_COMPLETED, "completed")

#define UM_OPEN_OUTCOMES(X)                                                    \
	X(UM_OPEN_UNKNOWN, "unknown")                                          \
	X(UM_OPEN_EXPIRED, "expired")                                          \
	X(UM_OPEN_WRONG_USER, "wrong_user")                                    \
	X(UM_OPEN_OPENED, "opened")                                            \
	X(UM_OPEN_PROCESSING, "processing")                                    \
	X(UM_OPEN_COMPLETED, "completed")

#define UM_COMPLETE_OUTCOMES(X)                                                \
	X(UM_COMPLETE_UNKNOWN, "unknown")                                      \
	X(UM_COMPLETE_EXPIRED, "expired")                                      \
	X(UM_COMPLETE_WRONG_USER, "wrong_user")                                \
	X(UM_COMPLETE_PROCESSING, "processing")                                \
	X(UM_COMPLETE_COMPLETED, "completed")                                  \
	X(UM_COMPLETE_ALREADY, "already")

#define UM_EVENT_OUTCOMES(X)                                                   \
	X(UM_EVENT_UNKNOWN, "unknown")                                         \
	X(UM_EVENT_ACCEPT, "accept")                                           \
	X(UM_EVENT_DECLINE, "decline")                                         \
	X(UM_EVENT_CANCEL, "cancel")                                           \
	X(UM_EVENT_PROCESSING, "processing")                                   \
	X(UM_EVENT_RECHECK, "recheck")                                         \
	X(UM_EVENT_ATTEMPT_FAILED, "attempt_failed")                           \
	X(UM_EVENT_REFUNDED, "refunded")                                       \
	X(UM_EVENT_LATE, "late")                                               \
	X(UM_EVENT_REPEATED, "repeated")                                       \
	X(UM_EVENT_REFERENCE_TAKEN, "reference_taken")                         \
	X(UM_EVENT_OTHER_MODE, "other_mode")                                   \
	X(UM_EVENT_OTHER_ACCOUNT, "other_account")                             \
	X(UM_EVENT_IGNORED, "ignored")                                         \
	X(UM_EVENT_SEEN, "seen")

#define UM_OUTCOME_NAME(name, word) name,
enum um_look_up_outcome { UM_LOOK_UP_OUTCOMES(UM_OUTCOME_NAME) };
enum um_open_outcome { UM_OPEN_OUTCOMES(UM_OUTCOME_NAME) };
enum um_complete_outcome { UM_COMPLETE_OUTCOMES(UM_OUTCOME_NAME) };
enum um_event_outcome { UM_EVENT_OUTCOMES(UM_OUTCOME_NAME) };
#undef UM_OUTCOME_NAME

struct um_op {
	enum um_op_kind kind;
	uint8_t id[UM_UUID_LEN];
	uint8_t binding[UM_BINDING_LEN];
	const char *provider; /* borrowed, as all that is const here */

	/* OPEN and COMPLETE: who the user is known to be, or NULL. */
	const char *subject;
	uint8_t browser[UM_BROWSER_LEN]; /* OPEN: the browser that goes on */
	/* OPEN: how long the row waits for its provider after its expiry. */
	int64_t grace_ms;

	/* COMPLETE: the protocol's word, and a reason or "". */
	const char *action;
	const char *reason;
	const struct um_event *event; /* EVENT */
	/* COMPLETE, EVENT: sealed, or empty. */
	struct um_buf result;
	/* The same: the sealed outcome that the database announces. */
	struct um_buf announced;

	enum um_store_status status;
	/* The one of its kind; PING and COUNT_UNCLAIMED have none. */
	union {
		enum um_look_up_outcome look_up;
		enum um_open_outcome open;
		enum um_complete_outcome complete;
		enum um_event_outcome event;
	} outcome;
	struct um_row {
		char *requester;  /* LOOK_UP */
		char *subject;    /* LOOK_UP */
		char *action;     /* LOOK_UP; NULL until it is completed */
		char *reason;     /* LOOK_UP */
		char *kind;       /* OPEN, when opened */
		char *target_url; /* OPEN, when opened */
		int64_t expires;  /* LOOK_UP, OPEN: Unix seconds */
		/* LOOK_UP: what is to be paid; NULL where nothing is said. */
		char *currency;
		int64_t amount; /* in minor units of that */
		/* LOOK_UP: attempts to pay that failed. */
		int64_t failed_attempts;
		/* LOOK_UP: it was paid rightly, but after it had ended. */
		bool late;
		bool has_browser; /* LOOK_UP: one has gone on from /connect */
		uint8_t browser[UM_BROWSER_LEN];
		/* EVENT: amount or currency, if it is not the expected one. */
		char *mismatch;
		int64_t unclaimed; /* COUNT_UNCLAIMED: payments */
		/* The same: Unix time there, and what pg_notification_queue_usage()
		 * says. */
		int64_t database_ms;
		double queue_usage;
	} row;

	/* For the store's queue. */
	struct um_op *next;
	int64_t deadline; /* when it is handed back as UNAVAILABLE */
	bool isolated;    /* it gets a transaction of its own */

	void *owner; /* for whoever submits it */
};

/*
 * Sets the outcome that this word stands for. False, and nothing is set, when
 * it is not a word of the operation's kind.
 */
bool um_op_parse_outcome(struct um_op *op, const char *word);

/*
 * The word for the outcome; "unavailable" or "failed" when the operation is
 * not DONE, and "ok" for a kind without outcomes.
 */
const char *um_op_outcome_text(const struct um_op *op);

/* Whether it is an event that is done, and the provider has no such row. */
bool um_op_is_unknown_event(const struct um_op *op);

/* Frees the result and the row, not the operation itself. */
void um_op_free(struct um_op *op);

#endif
