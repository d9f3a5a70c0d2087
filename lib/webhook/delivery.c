/* SPDX-License-Identifier: MIT */
#include "webhook/delivery.h"

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

const struct um_json_node *
um_delivery_document(struct um_parsed_delivery *parsed)
{
	struct um_str text;

	if (!parsed->has_document && payload_text(parsed, &text) == UM_FOUND)
		parsed->document = um_json_parse(text);
	parsed->has_document = true;
	return parsed->document;
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
