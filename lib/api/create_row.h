/* SPDX-License-Identifier: MIT */
/* The row that `create` makes: what is sealed in it, and how it is sent. */
#ifndef UM_CREATE_ROW_H
#define UM_CREATE_ROW_H

#include "api/create_request.h"

/* The state of a call of `create`. */
struct um_create {
	struct um_api_request request;
	struct um_create_request what;
	uint8_t id[UM_UUID_LEN];
	struct um_buf target_url; /* with a challenge */
	struct um_buf verifier;   /* sealed */
	struct um_buf form;       /* sealed */
	bool is_used; /* a row with its id was there when it was to be made */
	unsigned resumes, busy;
};

/*
 * Makes the target with its challenge, and what is sealed in the row. A mistake of the
 * target is answered; the refusal is NONE then.
 */
enum um_refusal um_create_seal(const struct um_context *context,
	struct um_exchange *ex);

/* Adds the parameters of create_elicitation. */
void um_create_put_row(struct um_buf *args, const struct um_create *create,
	const struct um_context *context);

#endif
