/* SPDX-License-Identifier: MIT */
#include "webhook/parsed.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define FORM_TYPE "application/x-www-form-urlencoded"

static bool
is_form(struct um_str content_type)
{
	size_t len = strlen(FORM_TYPE);

	return content_type.len >= len
		&& strncasecmp(content_type.ptr, FORM_TYPE, len) == 0
		&& (content_type.len == len
			|| strchr("; \t", content_type.ptr[len]) != NULL);
}

const struct um_form *
um_delivery_query(struct um_parsed_delivery *reading)
{
	if (!reading->has_query)
		reading->query_state = um_form_parse(&reading->query,
			reading->delivery->query);
	reading->has_query = true;
	return reading->query_state == UM_FORM_GOOD ? &reading->query : NULL;
}

const struct um_form *
um_delivery_form(struct um_parsed_delivery *reading)
{
	if (!is_form(reading->delivery->content_type))
		return NULL;
	if (!reading->has_form)
		reading->form_state = um_form_parse(&reading->form,
			reading->delivery->body);
	reading->has_form = true;
	return reading->form_state == UM_FORM_GOOD ? &reading->form : NULL;
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
um_delivery_query_field(struct um_parsed_delivery *reading, const char *name,
	struct um_str *out)
{
	return field_of(um_delivery_query(reading), name, out);
}

enum um_found
um_delivery_form_field(struct um_parsed_delivery *reading, const char *name,
	struct um_str *out)
{
	if (!is_form(reading->delivery->content_type))
		return UM_ABSENT;
	return field_of(um_delivery_form(reading), name, out);
}

enum um_found
um_delivery_multipart_field(struct um_parsed_delivery *reading,
	const char *name, struct um_str *out)
{
	if (!um_multipart_is(reading->delivery->content_type))
		return UM_ABSENT;
	if (!reading->has_multipart)
		reading->multipart_good =
			um_multipart_parse(&reading->multipart,
				reading->delivery->content_type,
				reading->delivery->body);
	reading->has_multipart = true;
	if (!reading->multipart_good)
		return UM_BAD;
	*out = um_multipart_get(&reading->multipart, name);
	return out->len != 0 ? UM_FOUND : UM_ABSENT;
}

static enum um_found
payload_text(struct um_parsed_delivery *reading, struct um_str *out)
{
	const struct um_payload *payload = reading->payload;

	if (payload->part == UM_PAYLOAD_FORM)
		return um_delivery_form_field(reading, payload->field, out);
	if (payload->part == UM_PAYLOAD_MULTIPART)
		return um_delivery_multipart_field(reading, payload->field,
			out);
	*out = reading->delivery->body;
	return UM_FOUND;
}

const struct um_json_node *
um_delivery_document(struct um_parsed_delivery *reading)
{
	struct um_str text;

	if (!reading->has_document && payload_text(reading, &text) == UM_FOUND)
		reading->document = um_json_parse(text);
	reading->has_document = true;
	return reading->document;
}

bool
um_delivery_is_malformed(const struct um_parsed_delivery *reading)
{
	return (reading->has_query && reading->query_state != UM_FORM_GOOD)
		|| (reading->has_form && reading->form_state != UM_FORM_GOOD)
		|| (reading->has_multipart && !reading->multipart_good);
}

void
um_delivery_free(struct um_parsed_delivery *reading)
{
	um_buf_free(&reading->signature);
	um_form_free(&reading->query);
	um_form_free(&reading->form);
	free(reading->document);
	reading->document = NULL;
}
