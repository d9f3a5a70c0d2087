/* SPDX-License-Identifier: MIT */
#include "webhook/delivery.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "http/media_type.h"

const struct um_form *
um_delivery_query(struct um_parsed_delivery *parsed)
{
	if (!parsed->has_query)
		parsed->query_state = um_form_parse(&parsed->query,
			parsed->delivery->query);
	parsed->has_query = true;
	return parsed->query_state == UM_FORM_GOOD ? &parsed->query : NULL;
}

const struct um_form *
um_delivery_form(struct um_parsed_delivery *parsed)
{
	if (!um_media_type_is(parsed->delivery->content_type, UM_FORM_TYPE))
		return NULL;
	if (!parsed->has_form)
		parsed->form_state = um_form_parse(&parsed->form,
			parsed->delivery->body);
	parsed->has_form = true;
	return parsed->form_state == UM_FORM_GOOD ? &parsed->form : NULL;
}

static enum um_found
field_of(const struct um_form *form, const char *name, struct um_str *out)
{
	if (form == NULL)
		return UM_BAD;
	*out = um_form_get(form, name);
	return out->len != 0 ? UM_FOUND : UM_ABSENT;
}

enum um_found
um_delivery_query_field(struct um_parsed_delivery *parsed, const char *name,
	struct um_str *out)
{
	return field_of(um_delivery_query(parsed), name, out);
}

enum um_found
um_delivery_form_field(struct um_parsed_delivery *parsed, const char *name,
	struct um_str *out)
{
	if (!um_media_type_is(parsed->delivery->content_type, UM_FORM_TYPE))
		return UM_ABSENT;
	return field_of(um_delivery_form(parsed), name, out);
}

enum um_found
um_delivery_multipart_field(struct um_parsed_delivery *parsed, const char *name,
	struct um_str *out)
{
	if (!um_media_type_is(parsed->delivery->content_type,
		    "multipart/form-data"))
		return UM_ABSENT;
	if (!parsed->has_multipart)
		parsed->multipart_good = um_multipart_parse(&parsed->multipart,
			parsed->delivery->content_type, parsed->delivery->body);
	parsed->has_multipart = true;
	if (!parsed->multipart_good)
		return UM_BAD;
	*out = um_multipart_get(&parsed->multipart, name);
	return out->len != 0 ? UM_FOUND : UM_ABSENT;
}

static enum um_found
payload_text(struct um_parsed_delivery *parsed, struct um_str *out)
{
	const struct um_payload *payload = parsed->payload;

	if (payload->part == UM_PAYLOAD_FORM)
		return um_delivery_form_field(parsed, payload->field, out);
	if (payload->part == UM_PAYLOAD_MULTIPART)
		return um_delivery_multipart_field(parsed, payload->field, out);
	*out = parsed->delivery->body;
	return UM_FOUND;
}

static void
parse_document(struct um_parsed_delivery *parsed, struct um_str text)
{
	struct um_json_fault fault;
	char reason[160];

	if (!parsed->is_proven && text.len > UM_UNPROVEN_JSON_MAX) {
		snprintf(reason, sizeof(reason),
			"has more than %d bytes, and its own signature in it",
			UM_UNPROVEN_JSON_MAX);
	} else {
		parsed->document = um_json_parse_or_say(text,
			parsed->is_proven ? UM_JSON_VALUES_MAX
					  : UM_UNPROVEN_VALUES_MAX,
			&fault);
		if (parsed->document != NULL)
			return;
		snprintf(reason, sizeof(reason), "%s (after about %zu bytes)",
			fault.reason, fault.at);
	}
	um_delivery_blame(parsed, "/payload", reason);
}

const struct um_json_node *
um_delivery_document(struct um_parsed_delivery *parsed)
{
	struct um_str text;

	if (parsed->has_document)
		return parsed->document;
	parsed->has_document = true;
	if (payload_text(parsed, &text) == UM_FOUND)
		parse_document(parsed, text);
	else
		um_delivery_blame(parsed, "/payload",
			"is not in the delivery, or the body is of another "
			"type");
	return parsed->document;
}

void
um_delivery_blame(const struct um_parsed_delivery *parsed, const char *place,
	const char *reason)
{
	struct um_fault *fault = parsed->delivery->fault;
	struct um_buf text = { 0 };

	if (fault == NULL || fault->text[0] != '\0')
		return;
	if (parsed->item_number != 0)
		um_buf_printf(&text, "event %zu: ", parsed->item_number);
	um_buf_cat(&text, place, ": ");
	if (reason == NULL && parsed->bad_at != NULL) {
		um_pointer_put(parsed->bad_at, &text);
		um_buf_puts(&text, " ");
	}
	um_buf_puts(&text,
		reason != NULL                       ? reason
			: parsed->bad_reason != NULL ? parsed->bad_reason
						     : "is not readable");
	if (!text.failed)
		snprintf(fault->text, sizeof(fault->text), "%.*s",
			(int)text.len, text.ptr);
	um_buf_free(&text);
}

bool
um_delivery_is_malformed(const struct um_parsed_delivery *parsed)
{
	return (parsed->has_query && parsed->query_state != UM_FORM_GOOD)
		|| (parsed->has_form && parsed->form_state != UM_FORM_GOOD)
		|| (parsed->has_multipart && !parsed->multipart_good);
}

void
um_delivery_free(struct um_parsed_delivery *parsed)
{
	um_buf_free(&parsed->signature);
	um_form_free(&parsed->query);
	um_form_free(&parsed->form);
	free(parsed->document);
	parsed->document = NULL;
}
