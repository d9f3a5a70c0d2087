/* SPDX-License-Identifier: MIT */
#include "app/result.h"

#include "contract/limits.h"
#include "core/json_put.h"
#include "crypto/seal.h"

static void
put_unless_empty(struct um_buf *json, const char *name, const char *value)
{
	struct um_str text = um_str(value);

	if (text.len != 0)
		um_json_put_member(json, name, text);
}

/* um_seal_put() or um_seal_put_outcome() */
typedef bool seal_put(struct um_buf *out, struct um_str json,
	const uint8_t id[static UM_UUID_LEN], const uint8_t *binding,
	const struct um_keys *keys, const uint8_t nonce[static UM_NONCE_LEN]);

static bool
seal(struct um_buf *out, seal_put *put, const struct um_op *op,
	const struct um_buf *json, const struct um_context *context)
{
	/* The token of a return knows the owner, an event does not. */
	const uint8_t *binding = op->event == NULL ? op->binding : NULL;
	uint8_t nonce[UM_NONCE_LEN];

	context->random(nonce, sizeof(nonce));
	return !json->failed
		&& put(out, um_buf_str(json), op->id, binding, context->keys,
			nonce);
}

/* Seals the outcome, which contains the JSON text of the result. */
static bool
seal_outcome(struct um_op *op, const struct um_buf *result, const char *action,
	const char *reason, struct um_str reference,
	const struct um_context *context)
{
	struct um_buf json = { 0 };
	bool ok;

	um_json_put_begin(&json);
	um_json_put_member(&json, "action", um_str(action));
	um_json_put_member(&json, "reason", um_str(reason));
	if (reference.len != 0)
		um_json_put_member(&json, "reference", reference);
	um_json_put_key(&json, um_str("result"));
	um_buf_put(&json, result->ptr, result->len);
	um_json_put_end(&json);
	ok = json.len + UM_SEAL_OVERHEAD > UM_NOTIFIED_MAX
		|| seal(&op->notified, um_seal_put_outcome, op, &json, context);
	um_buf_free(&json);
	return ok;
}

bool
um_result_of_json(struct um_op *op, const struct um_buf *json,
	const struct um_context *context)
{
	return seal(&op->result, um_seal_put, op, json, context)
		&& seal_outcome(op, json, op->action, op->reason, um_str(NULL),
			context);
}

bool
um_result_of_form(struct um_op *op, const struct um_form *form,
	const struct um_context *context)
{
	struct um_buf json = { 0 };
	bool ok;

	um_json_put_begin(&json);
	for (size_t i = 0; i < form->len; i++) {
		if (form->field[i].value.ptr == NULL
			|| um_str_is(form->field[i].name, "state"))
			continue;
		um_json_put_key(&json, form->field[i].name);
		um_json_put_string(&json, form->field[i].value);
	}
	um_json_put_end(&json);
	ok = um_result_of_json(op, &json, context);
	um_buf_free(&json);
	return ok;
}

/* Without a reference of the provider, it is the elicitation's id. */
static bool
seal_accept(struct um_op *op, const struct um_buf *result,
	const struct um_context *context)
{
	struct um_str reference = um_str(op->event->reference);
	char id[UM_UUID_TEXT_LEN + 1];

	um_uuid_format(id, op->id);
	return seal_outcome(op, result, "accept", "",
		reference.len != 0 ? reference : um_str(id), context);
}

bool
um_result_of_event(struct um_op *op, const struct um_context *context)
{
	const struct um_event *event = op->event;
	struct um_buf json = { 0 };
	bool ok;

	um_json_put_begin(&json);
	um_json_put_member(&json, "event", um_str(event->identity));
	um_json_put_member(&json, "type", um_str(event->type));
	put_unless_empty(&json, "reference", event->reference);
	if (event->has_amount) {
		um_json_put_key(&json, um_str("amount"));
		um_json_put_int(&json, event->amount);
	}
	put_unless_empty(&json, "currency", event->currency);
	if (event->details.has_tax) {
		um_json_put_key(&json, um_str("tax"));
		um_json_put_int(&json, event->details.tax);
	}
	um_json_put_end(&json);
	ok = seal(&op->result, um_seal_put, op, &json, context)
		&& (!um_event_accepts(event)
			|| seal_accept(op, &json, context));
	um_buf_free(&json);
	return ok;
}
