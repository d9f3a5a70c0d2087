/* SPDX-License-Identifier: MIT */
/* How `create` answers. */
#ifndef UM_CREATE_ANSWER_H
#define UM_CREATE_ANSWER_H

#include "api/create_row.h"

/* What is answered, of a row. */
struct um_create_row {
	uint8_t id[UM_UUID_LEN];
	int64_t expires_ms;
	int kid; /* of its link, or -1 */
	bool resumed;
};

enum um_refusal um_create_answer(const struct um_context *context,
	struct um_exchange *ex, const struct um_create_row *row);

/* Nothing is written: the server makes its checkout, and calls again. */
enum um_refusal um_create_answer_needs(const struct um_context *context,
	struct um_exchange *ex);

#endif
