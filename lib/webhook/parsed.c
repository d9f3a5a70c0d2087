/* SPDX-License-Identifier: MIT */
#include "webhook/parsed.h"

#include <stdio.h>
#include <stdlib.h>

#include "http/header.h"

/* How a part is parsed. */
typedef void parse(struct um_parsed *parsed, const struct um_payload *payload,
	bool is_proven);

static void
parse_fields(struct um_fields *fields, struct um_str text)
{
	fields->found = um_form_parse_lenient(&fields->form, text)
			== UM_REFUSAL_NONE
		? UM_FOUND
		: UM_BAD;
}

static void
parse_query(struct um_parsed *parsed, const struct um_payload *payload,
	bool is_proven)
{
	(void)payload, (void)is_proven;
	parse_fields(&parsed->fields[UM_FIELDS_OF_QUERY],
		parsed->delivery->query);
}

static void
parse_form(struct um_parsed *parsed, const struct um_payload *payload,
	bool is_proven)
{
	const struct um_delivery *delivery = parsed->delivery;

	(void)payload, (void)is_proven;
	if (um_media_type_is(delivery->content_type, UM_FORM_TYPE))
		parse_fields(&parsed->fields[UM_FIELDS_OF_BODY],
			delivery->body);
}

static void
parse_multipart(struct um_parsed *parsed, const struct um_payload *payload,
	bool is_proven)
{
	const struct um_delivery *delivery = parsed->delivery;

	(void)payload, (void)is_proven;
	if (!um_media_type_is(delivery->content_type, "multipart/form-data"))
		return;
	parsed->multipart_is = um_multipart_parse(&parsed->multipart,
				       delivery->content_type, delivery->body)
		? UM_FOUND
		: UM_BAD;
}

/* The text of the document; no text where it is not in the delivery. */
static struct um_str
payload_text(const struct um_parsed *parsed, const struct um_payload *payload)
{
	const struct um_fields *fields = &parsed->fields[UM_FIELDS_OF_BODY];

	if (payload->part == UM_PAYLOAD_BODY)
		return parsed->delivery->body;
	if (fields->found == UM_FOUND)
		return um_form_get(&fields->form, payload->field);
	if (parsed->multipart_is == UM_FOUND)
		return um_multipart_get(&parsed->multipart, payload->field);
	return um_str(NULL);
}

static void
parse_json(struct um_parsed *parsed, const struct um_payload *payload,
	bool is_proven)
{
	struct um_str text = payload_text(parsed, payload);
	struct um_json_fault fault;

	if (payload->part != UM_PAYLOAD_BODY && text.len == 0) {
		snprintf(parsed->json_reason, sizeof(parsed->json_reason),
			"is not in the delivery, or the body is of another "
			"type");
		return;
	}
	if (!is_proven && text.len > UM_UNPROVEN_JSON_MAX) {
		snprintf(parsed->json_reason, sizeof(parsed->json_reason),
			"has more than %d bytes, and its own signature in it",
			UM_UNPROVEN_JSON_MAX);
		return;
	}
	parsed->document = um_json_parse_lenient(text,
		is_proven ? UM_JSON_VALUES_MAX : UM_UNPROVEN_VALUES_MAX,
		&fault);
	if (payload->has_events)
		parsed->events = um_pointer_find(&payload->events,
			parsed->document);
	if (!um_json_is(parsed->events, UM_JSON_ARRAY))
		parsed->events = NULL;
	if (parsed->document == NULL && payload->part == UM_PAYLOAD_BODY
		&& um_media_type_is(parsed->delivery->content_type,
			UM_FORM_TYPE))
		snprintf(parsed->json_reason, sizeof(parsed->json_reason),
			"is a form, not JSON: set the content type of the "
			"webhook to application/json at the provider");
	else if (parsed->document == NULL)
		snprintf(parsed->json_reason, sizeof(parsed->json_reason),
			"%s (after about %zu bytes)", fault.reason, fault.at);
}

void
um_parsed_read(struct um_parsed *parsed, const struct um_payload *payload,
	unsigned needs, bool is_proven)
{
	/* JSON last: it may be in a form. */
	static const struct {
		enum um_need need;
		parse *parse;
	} parts[] = {
		{ UM_NEED_QUERY, parse_query },
		{ UM_NEED_FORM, parse_form },
		{ UM_NEED_MULTIPART, parse_multipart },
		{ UM_NEED_JSON, parse_json },
	};

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if ((needs & parts[i].need) != 0)
			parts[i].parse(parsed, payload, is_proven);
	parsed->is_malformed = parsed->multipart_is == UM_BAD;
	for (size_t i = 0; i < 2; i++)
		parsed->is_malformed |= parsed->fields[i].found == UM_BAD;
}

void
um_parsed_free(struct um_parsed *parsed)
{
	for (size_t i = 0; i < 2; i++)
		um_form_free(&parsed->fields[i].form);
	free(parsed->document);
	parsed->document = NULL;
}
