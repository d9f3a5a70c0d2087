/* SPDX-License-Identifier: MIT */
/* One thing to be done in the database, and what came of it. */
#ifndef UM_OP_H
#define UM_OP_H

#include <stdbool.h>
#include <stdint.h>

#include "str.h"
#include "token.h"

enum um_op_kind {
	UM_OP_NONE,
	UM_OP_LOOK_UP,  /* urlmode.look_up: changes nothing */
	UM_OP_OPEN,     /* urlmode.open */
	UM_OP_COMPLETE, /* urlmode.complete */
};

#define UM_OUTCOMES(X)                                                        \
	X(UNAVAILABLE, "unavailable") /* no database in time; may be done yet */ \
	X(FAILED, "failed")           /* the database refused this row */     \
	X(UNKNOWN, "unknown")         /* no such row for this token */        \
	X(EXPIRED, "expired")                                                 \
	X(PENDING, "pending")                                                 \
	X(OPENED, "opened")                                                   \
	X(PROCESSING, "processing")                                           \
	X(COMPLETED, "completed")     /* look up, open: it was before */      \
	X(ALREADY, "already")         /* complete: it was before */

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
	uint8_t id[UM_ID_LEN];
	uint8_t binding[UM_BINDING_LEN];
	const char *provider;

	/* UM_OP_COMPLETE: the protocol's word, a reason or "", sealed bytes. */
	const char *action;
	const char *reason;
	struct um_buf result;

	enum um_outcome outcome;
	struct um_row {
		char *requester;  /* look up */
		char *subject;    /* look up */
		char *action;     /* look up, NULL until completed */
		char *reason;     /* look up */
		char *kind;       /* open, when opened */
		char *target_url; /* open, when opened */
		int64_t expires;  /* look up and open: Unix seconds */
	} row;

	/* The store's own: its queue, and by when there must be an answer. */
	struct um_op *next;
	int64_t deadline;
	bool alone;
};

/* Frees what it holds, not itself. */
void um_op_free(struct um_op *op);

#endif
