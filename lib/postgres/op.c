/* SPDX-License-Identifier: MIT */
#include "postgres/op.h"

#include <stdlib.h>
#include <string.h>

#define WORD(name, word) word,
static const char *const look_up_words[] = { UM_LOOK_UP_OUTCOMES(WORD) NULL };
static const char *const open_words[] = { UM_OPEN_OUTCOMES(WORD) NULL };
static const char *const complete_words[] = { UM_COMPLETE_OUTCOMES(WORD) NULL };
static const char *const event_words[] = { UM_EVENT_OUTCOMES(WORD) NULL };
#undef WORD

/* The word's index, or -1. */
static int
find(const char *const *words, const char *word)
{
	for (int i = 0; words[i] != NULL; i++)
		if (strcmp(words[i], word) == 0)
			return i;
	return -1;
}

bool
um_op_parse_outcome(struct um_op *op, const char *word)
{
	int i = -1;

	switch (op->kind) {
	case UM_OP_LOOK_UP:
		if ((i = find(look_up_words, word)) >= 0)
			op->outcome.look_up = (enum um_look_up_outcome)i;
		break;
	case UM_OP_OPEN:
		if ((i = find(open_words, word)) >= 0)
			op->outcome.open = (enum um_open_outcome)i;
		break;
	case UM_OP_COMPLETE:
		if ((i = find(complete_words, word)) >= 0)
			op->outcome.complete = (enum um_complete_outcome)i;
		break;
	case UM_OP_EVENT:
		if ((i = find(event_words, word)) >= 0)
			op->outcome.event = (enum um_event_outcome)i;
		break;
	case UM_OP_PING:
	case UM_OP_COUNT_UNCLAIMED:
	case UM_OP_NONE:
		break;
	}
	return i >= 0;
}

const char *
um_op_outcome_text(const struct um_op *op)
{
	if (op->status == UM_STORE_UNAVAILABLE)
		return "unavailable";
	if (op->status == UM_STORE_FAILED)
		return "failed";
	switch (op->kind) {
	case UM_OP_LOOK_UP:
		return look_up_words[op->outcome.look_up];
	case UM_OP_OPEN:
		return open_words[op->outcome.open];
	case UM_OP_COMPLETE:
		return complete_words[op->outcome.complete];
	case UM_OP_EVENT:
		return event_words[op->outcome.event];
	case UM_OP_PING:
	case UM_OP_COUNT_UNCLAIMED:
	case UM_OP_NONE:
		break;
	}
	return "ok";
}

bool
um_op_is_unknown_event(const struct um_op *op)
{
	return op->kind == UM_OP_EVENT && op->status == UM_STORE_DONE
		&& op->outcome.event == UM_EVENT_UNKNOWN;
}

void
um_op_free(struct um_op *op)
{
	um_buf_free(&op->result);
	um_buf_free(&op->announced);
	free(op->row.requester);
	free(op->row.subject);
	free(op->row.action);
	free(op->row.reason);
	free(op->row.kind);
	free(op->row.target_url);
	free(op->row.currency);
	free(op->row.mismatch);
	op->row = (struct um_row){ 0 };
}
