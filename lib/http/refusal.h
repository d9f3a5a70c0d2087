/* SPDX-License-Identifier: MIT */
/* Every refusal: its status, its reason code and its texts. */
#ifndef UM_REFUSAL_H
#define UM_REFUSAL_H

#include "contract/refusals.h"

enum um_refusal {
	UM_REFUSAL_NONE,
#define X(name, status, code, page, advice) UM_REFUSAL_##name,
	UM_REFUSALS(X)
#undef X
};

/* The HTTP status. */
int um_refusal_status(enum um_refusal refusal);
/* The reason code: in the log and in the documentation. */
const char *um_refusal_code(enum um_refusal refusal);
/* The reason code in the response: it does not tell which keys there are. */
const char *um_refusal_shown_code(enum um_refusal refusal);
/* A sentence for the developer of the client. */
const char *um_refusal_advice(enum um_refusal refusal);

#endif
