/* SPDX-License-Identifier: MIT */
#include "app/result.h"

#include "core/json_put.h"
#include "crypto/seal.h"

static void
put_unless_empty(struct um_buf *json, const char *name, const char *value)
{
	struct um_str text = um_str(value);

	if (text.len != 0)
		um_json_put_member(json, name, text);
}

/* Ends the object, and frees it. */
static bool
seal(struct um_op *op, struct um_buf *json, const struct um_context *context)
{
	uint8_t nonce[UM_NONCE_LEN];
	bool ok;

	um_json_put_end(json);
	context->random(nonce, sizeof(nonce));
	ok = !json->failed
		&& um_seal_put(&op->result, um_buf_str(json), op->id,
			op->binding, context->keys, nonce);
	um_buf_free(json);
	return ok;
}

bool
um_result_of_form(struct um_op *op, const struct um_form *form,
	const struct um_context *context)
{
	struct um_buf json = { 0 };

	um_json_put_begin(&json);
	for (size_t i = 0; i < form->len; i++) {
		if (um_str_is(form->field[i].name, "state"))
			continue;
		um_json_put_key(&json, form->field[i].name);
		um_json_put_string(&json, form->field[i].value);
	}
	return seal(op, &json, context);
}

bool
um_result_of_event(struct um_op *op, const struct um_context *context)
{
	const struct um_event *event = op->event;
	struct um_buf json = { 0 };

	um_json_put_begin(&json);
	um_json_put_member(&json, "event", um_str(event->identity));
	um_json_put_member(&json, "type", um_str(event->type));
	put_unless_empty(&json, "reference", event->reference);
	if (event->has_amount) {
		um_json_put_key(&json, um_str("amount"));
		um_json_put_int(&json, event->amount);
	}
	put_unless_empty(&json, "currency", event->currency);
	return seal(op, &json, context);
}
