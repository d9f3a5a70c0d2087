/* SPDX-License-Identifier: MIT */
#include "postgres/op.h"

#include <stdlib.h>
#include <string.h>

static const char *const words[] = {
#define X(name, text) text,
	UM_OUTCOMES(X)
#undef X
};

const char *
um_outcome_text(enum um_outcome outcome)
{
	return words[outcome];
}

bool
um_outcome_parse(enum um_outcome *outcome, const char *text)
{
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (strcmp(words[i], text) == 0) {
			*outcome = (enum um_outcome)i;
			return true;
		}
	}
	return false;
}

void
um_op_free(struct um_op *op)
{
	um_buf_free(&op->result);
	free(op->row.requester);
	free(op->row.subject);
	free(op->row.action);
	free(op->row.reason);
	free(op->row.kind);
	free(op->row.target_url);
	op->row = (struct um_row){ 0 };
}
