/* SPDX-License-Identifier: MIT */
#include "http/refusal.h"

static const struct {
	int status;
	const char *code;
	const char *advice;
} table[] = {
#define X(name, status, code, page, advice)                                    \
	[UM_REFUSAL_##name] = { status, code, advice },
	UM_REFUSALS(X)
#undef X
};

int
um_refusal_status(enum um_refusal refusal)
{
	return table[refusal].status;
}

const char *
um_refusal_code(enum um_refusal refusal)
{
	return table[refusal].code;
}

const char *
um_refusal_shown_code(enum um_refusal refusal)
{
	return um_refusal_code(refusal == UM_REFUSAL_UNKNOWN_KEY
			? UM_REFUSAL_STATE_INVALID
			: refusal);
}

const char *
um_refusal_advice(enum um_refusal refusal)
{
	return table[refusal].advice;
}
