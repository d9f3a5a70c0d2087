/* SPDX-License-Identifier: MIT */
#include "result.h"

#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "seal.h"

/* Takes the object, which may be NULL. */
static bool
seal(struct um_op *op, json_t *object, const struct um_context *context)
{
	uint8_t nonce[UM_NONCE_LEN];
	char *text = object != NULL ? json_dumps(object, JSON_COMPACT) : NULL;
	bool ok;

	context->random(nonce, sizeof(nonce));
	ok = text != NULL
		&& um_seal_result(&op->result, um_str(text), op->id,
			op->binding, context->keys, nonce);
	if (text != NULL)
		explicit_bzero(text, strlen(text));
	free(text);
	json_decref(object);
	return ok;
}

bool
um_result_of_form(struct um_op *op, const struct um_form *form,
	const struct um_context *context)
{
	json_t *object = json_object();

	for (size_t i = 0; object != NULL && i < form->len; i++) {
		const struct um_field *field = &form->field[i];

		if (um_str_is(field->name, "state"))
			continue;
		if (json_object_setn_new(object, field->name.ptr,
			    field->name.len,
			    json_stringn(field->value.ptr, field->value.len))
			!= 0) {
			json_decref(object);
			object = NULL;
		}
	}
	return seal(op, object, context);
}

bool
um_result_of_event(struct um_op *op, const struct um_context *context)
{
	const struct um_event *event = op->event;
	json_t *object = json_pack("{s:s, s:s, s:s*, s:o*, s:s*}", "event",
		event->identity, "type", event->type, "reference",
		event->reference[0] != '\0' ? event->reference : NULL, "amount",
		event->has_amount ? json_integer(event->amount) : NULL,
		"currency",
		event->currency[0] != '\0' ? event->currency : NULL);

	return seal(op, object, context);
}
