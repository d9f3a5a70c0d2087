/* SPDX-License-Identifier: MIT */
#include "postgres/op.h"

#include <stdlib.h>
#include <string.h>

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

enum {
	LOOK_UP = 1 << UM_OP_LOOK_UP | 1 << UM_OP_LOOK_UP_LINK,
	TENANT = 1 << UM_OP_LINK_TENANT,
	OPEN = 1 << UM_OP_OPEN | 1 << UM_OP_OPEN_LINK,
	COMPLETE = 1 << UM_OP_COMPLETE,
	FORM = 1 << UM_OP_OPEN_FORM | 1 << UM_OP_LOOK_UP_FORM
		| 1 << UM_OP_ANSWER_FORM,
	WITH_ROW = LOOK_UP | TENANT | OPEN | COMPLETE | FORM
};

static const struct {
	const char *word;
	int kinds;
} row_outcomes[] = {
#define X(name, word, kinds) { word, kinds },
	UM_ROW_OUTCOMES(X)
#undef X
};

static const char *const event_words[] = {
#define X(name, word) word,
	UM_EVENT_OUTCOMES(X)
#undef X
};

static bool
parse_row_outcome(struct um_op *op, const char *word)
{
	for (size_t i = 0; i < LENGTH(row_outcomes); i++) {
		if (strcmp(row_outcomes[i].word, word) != 0
			|| (row_outcomes[i].kinds & 1 << op->kind) == 0)
			continue;
		op->outcome = (enum um_row_outcome)i;
		return true;
	}
	return false;
}

static bool
parse_event_outcome(struct um_op *op, const char *word)
{
	for (size_t i = 0; i < LENGTH(event_words); i++) {
		if (strcmp(event_words[i], word) != 0)
			continue;
		op->event_outcome = (enum um_event_outcome)i;
		return true;
	}
	return false;
}

bool
um_op_parse_outcome(struct um_op *op, const char *word)
{
	return op->kind == UM_OP_EVENT ? parse_event_outcome(op, word)
				       : parse_row_outcome(op, word);
}

const char *
um_op_outcome_text(const struct um_op *op)
{
	if (op->status == UM_STORE_UNAVAILABLE)
		return "unavailable";
	if (op->status == UM_STORE_FAILED)
		return "failed";
	if (op->kind == UM_OP_EVENT)
		return event_words[op->event_outcome];
	if ((WITH_ROW & 1 << op->kind) != 0)
		return row_outcomes[op->outcome].word;
	return "ok";
}

bool
um_op_is_unknown_event(const struct um_op *op)
{
	return op->kind == UM_OP_EVENT && op->status == UM_STORE_DONE
		&& op->event_outcome == UM_EVENT_UNKNOWN;
}

void
um_op_list_add(struct um_op_list *list, struct um_op *op)
{
	op->next = NULL;
	if (list->first == NULL)
		list->first = op;
	else
		list->last->next = op;
	list->last = op;
	list->len++;
}

struct um_op *
um_op_list_take(struct um_op_list *list)
{
	struct um_op *op = list->first;

	if (op != NULL) {
		list->first = op->next;
		list->len--;
	}
	return op;
}

const struct um_op *
um_op_find_row(struct um_op *const *ops, size_t len, const struct um_op *op)
{
	static const uint8_t none[UM_UUID_LEN];

	if (memcmp(op->id, none, sizeof(none)) == 0)
		return NULL;
	for (size_t i = 0; i < len; i++)
		if (ops[i] != NULL
			&& memcmp(ops[i]->id, op->id, sizeof(op->id)) == 0)
			return ops[i];
	return NULL;
}

void
um_op_free(struct um_op *op)
{
	um_buf_free(&op->result);
	um_buf_free(&op->notified);
	um_buf_free(&op->typed);
	um_buf_free(&op->args);
	free(op->row.requester);
	free(op->row.subject);
	free(op->row.action);
	free(op->row.reason);
	free(op->row.kind);
	free(op->row.target_url);
	free(op->row.currency);
	free(op->row.mismatch);
	free(op->row.decided_by);
	um_buf_free(&op->row.form);
	um_buf_free(&op->row.problem);
	um_buf_free(&op->row.typed);
	op->row = (struct um_row){ 0 };
}
