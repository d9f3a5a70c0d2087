/* SPDX-License-Identifier: MIT */
/* One thing to be done in the database, and what came of it. */
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
	UM_OP_BINDING,  /* urlmode.bindings: changes nothing */
	UM_OP_EVENT,    /* urlmode.record_events */
};

#define UM_OUTCOMES(X)                                                         \
	X(UNAVAILABLE,                                                         \
		"unavailable") /* no database in time; may be done yet */      \
	X(FAILED, "failed")    /* the database refused this row */             \
	X(UNKNOWN, "unknown")  /* no such row for this token */                \
	X(EXPIRED, "expired")                                                  \
	X(WRONG_USER, "wrong_user") /* open, complete: not the subject */      \
	X(FOUND, "found")           /* binding */                              \
	X(PENDING, "pending")                                                  \
	X(OPENED, "opened")                                                    \
	X(PROCESSING, "processing")                                            \
	X(COMPLETED, "completed") /* look up, open: it was before */           \
	X(ALREADY, "already")     /* complete: it was before */                \
	X(ACCEPT, "accept")       /* event: completed with this action */      \
	X(DECLINE, "decline")                                                  \
	X(CANCEL, "cancel")                                                    \
	X(RECHECK, "recheck") /* event: processing, to be asked for */         \
	X(IGNORED, "ignored") /* event: kept, says nothing to us */            \
	X(LATE, "late")       /* event: kept, it was completed before */       \
	X(SEEN, "seen")       /* event: it was kept before */

enum um_outcome {
#define X(name, text) UM_OUTCOME_##name,
	UM_OUTCOMES(X)
#undef X
};

/* The word, as SQL and the log have it. */
const char *um_outcome_text(enum um_outcome outcome);
/* False for a word that is none of them. */
bool um_outcome_parse(enum um_outcome *outcome, const char *text);

struct um_op {
	enum um_op_kind kind;
	uint8_t id[UM_UUID_LEN];
	uint8_t binding[UM_BINDING_LEN];
	const char *provider;

	/* open and complete: who the user is known to be, or NULL; not its own */
	const char *subject;
	uint8_t browser[UM_BROWSER_LEN]; /* open: which browser goes on */

	/* UM_OP_COMPLETE: the protocol's word, and a reason or "". */
	const char *action;
	const char *reason;
	const struct um_event *event; /* UM_OP_EVENT; not its own */
	struct um_buf result;         /* both: sealed bytes, or none */

	enum um_outcome outcome;
	struct um_row {
		char *requester;  /* look up */
		char *subject;    /* look up */
		char *action;     /* look up, NULL until completed */
		char *reason;     /* look up */
		char *kind;       /* open, when opened */
		char *target_url; /* open, when opened */
		int64_t expires;  /* look up and open: Unix seconds */
		bool has_browser; /* look up: somebody went on */
		uint8_t browser[UM_BROWSER_LEN];
		uint8_t binding[UM_BINDING_LEN]; /* binding, when found */
	} row;

	/* The store's own, for its queue. */
	struct um_op *next;
	int64_t deadline; /* by when there must be an answer */
	bool alone;       /* not in one batch with others */

	void *owner; /* whoever submitted it */
};

/* Frees what it holds, not itself. */
void um_op_free(struct um_op *op);

#endif
