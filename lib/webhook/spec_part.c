/* SPDX-License-Identifier: MIT */
/* Verifying: what comes first, and what follows only then. */
#include "webhook/spec_part.h"

#include <stdlib.h>

void
um_spec_part_free(struct um_spec_part *reader)
{
	for (size_t i = 0; i < reader->schemes_len; i++)
		um_scheme_free(&reader->scheme[i]);
	for (size_t i = 0; i < reader->rules_len; i++) {
		struct um_outcome_rule *rule = &reader->rules[i];

		um_strlist_free(&rule->types);
		for (size_t j = 0; j < rule->conditions_len; j++) {
			um_expr_free(&rule->condition[j].from);
			um_strlist_free(&rule->condition[j].is);
		}
	}
	free(reader->rules);
	free(reader->payload.field);
	um_pointer_free(&reader->events);
	um_expr_free(&reader->timestamp);
	um_expr_free(&reader->identity);
	um_expr_free(&reader->type);
	um_expr_free(&reader->elicitation);
	um_expr_free(&reader->amount);
	um_expr_free(&reader->currency);
	um_expr_free(&reader->reference);
	*reader = (struct um_spec_part){ 0 };
}

/* Of a delivery whose signature is right. */
static enum um_verdict
check_time(const struct um_spec_part *reader,
	struct um_parsed_delivery *reading)
{
	int64_t now = reading->delivery->now_ms, then;
	struct um_buf text = { 0 };
	enum um_verdict verdict = UM_DELIVERY_FORGED;
	enum um_found found;

	if (reader->timestamp.kind == UM_EXPR_NONE)
		return UM_DELIVERY_GOOD;
	found = um_expr_eval(&reader->timestamp, reading, &text);
	if (found == UM_ABSENT)
		verdict = UM_DELIVERY_UNSIGNED;
	else if (found == UM_FOUND && !text.failed
		&& um_timestamp_parse(&then, um_buf_str(&text),
			reader->timestamp_form))
		verdict = now - then > reader->past_ms
				|| then - now > reader->future_ms
			? UM_DELIVERY_STALE
			: UM_DELIVERY_GOOD;
	um_buf_free(&text);
	return verdict;
}

/* Any of the schemes that have keys will do. */
static enum um_verdict
check(const struct um_spec_part *reader, struct um_parsed_delivery *reading)
{
	enum um_verdict verdict = UM_DELIVERY_UNSIGNED;

	if (reader->belief == UM_TRUST_NOTHING)
		return UM_DELIVERY_GOOD;
	for (size_t i = 0; i < reader->schemes_len; i++) {
		const struct um_scheme *scheme = &reader->scheme[i];

		if (um_verifier_count_keys(scheme->verifier) == 0)
			continue;
		switch (um_scheme_check(scheme, reading)) {
		case UM_CHECK_RIGHT:
			return check_time(reader, reading);
		case UM_CHECK_WRONG:
			verdict = UM_DELIVERY_FORGED;
			break;
		case UM_CHECK_NONE:
			break;
		}
	}
	return verdict;
}

/* One event each element; those that are signed by themselves are verified. */
static enum um_verdict
read_items(const struct um_spec_part *reader,
	struct um_parsed_delivery *reading, const struct um_json_node *items,
	struct um_event *events, size_t max, size_t *len)
{
	const struct um_json_node *item = NULL;

	while ((item = um_json_next(items, item)) != NULL) {
		enum um_verdict verdict = UM_DELIVERY_GOOD;

		reading->item = item;
		if (reader->of_items)
			verdict = check(reader, reading);
		if (verdict != UM_DELIVERY_GOOD)
			return verdict;
		if (*len == max
			|| !um_spec_part_read_event(reader, reading, *len,
				&events[*len]))
			return UM_DELIVERY_MALFORMED;
		++*len;
	}
	/* Of none of them a signature was seen. */
	return reader->of_items && *len == 0 ? UM_DELIVERY_UNSIGNED
					     : UM_DELIVERY_GOOD;
}

static enum um_verdict
read_events(const struct um_spec_part *reader,
	struct um_parsed_delivery *reading, struct um_event *events, size_t max,
	size_t *len)
{
	const struct um_json_node *document = reader->uses_json
		? um_delivery_document(reading)
		: NULL;
	const struct um_json_node *items;

	/* What cannot be read before it is verified has no signature. */
	if (reader->uses_json && document == NULL)
		return reader->of_items ? UM_DELIVERY_UNSIGNED
					: UM_DELIVERY_MALFORMED;
	if (!reader->has_events) {
		*len = 1;
		return um_spec_part_read_event(reader, reading, 0, events)
			? UM_DELIVERY_GOOD
			: UM_DELIVERY_MALFORMED;
	}
	items = um_pointer_find(&reader->events, document);
	if (!um_json_is(items, UM_JSON_ARRAY))
		return reader->of_items ? UM_DELIVERY_UNSIGNED
					: UM_DELIVERY_MALFORMED;
	return read_items(reader, reading, items, events, max, len);
}

enum um_verdict
um_spec_part_read(const struct um_spec_part *reader,
	const struct um_delivery *delivery, struct um_event *events, size_t max,
	size_t *len)
{
	struct um_parsed_delivery reading = { .delivery = delivery,
		.payload = &reader->payload };
	enum um_verdict verdict = UM_DELIVERY_GOOD;

	*len = 0;
	if (!reader->of_items)
		verdict = check(reader, &reading);
	if (verdict == UM_DELIVERY_GOOD)
		verdict = read_events(reader, &reading, events, max, len);
	if (verdict == UM_DELIVERY_GOOD && um_delivery_is_malformed(&reading))
		verdict = UM_DELIVERY_MALFORMED;
	if (verdict != UM_DELIVERY_GOOD)
		*len = 0;
	um_delivery_free(&reading);
	return verdict;
}
