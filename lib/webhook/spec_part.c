/* SPDX-License-Identifier: MIT */
/* Verifying: what comes first, and what follows only then. */
#include "webhook/spec_part.h"

#include <stdlib.h>

void
um_spec_part_free(struct um_spec_part *part)
{
	for (size_t i = 0; i < part->schemes_len; i++)
		um_scheme_free(&part->schemes[i]);
	for (size_t i = 0; i < part->rules_len; i++) {
		struct um_outcome_rule *rule = &part->rules[i];

		um_strlist_free(&rule->types);
		for (size_t j = 0; j < rule->conditions_len; j++) {
			um_expr_free(&rule->condition[j].from);
			um_strlist_free(&rule->condition[j].is);
		}
	}
	free(part->rules);
	free(part->payload.field);
	um_pointer_free(&part->events);
	um_expr_free(&part->timestamp);
	um_expr_free(&part->identity);
	um_expr_free(&part->type);
	um_expr_free(&part->elicitation);
	um_expr_free(&part->amount);
	um_expr_free(&part->currency);
	um_expr_free(&part->reference);
	*part = (struct um_spec_part){ 0 };
}

/* Of a delivery whose signature is right. */
static enum um_verdict
check_time(const struct um_spec_part *part, struct um_parsed_delivery *parsed)
{
	int64_t now = parsed->delivery->now_ms, then;
	struct um_buf text = { 0 };
	enum um_verdict verdict = UM_DELIVERY_FORGED;
	enum um_found found;

	if (part->timestamp.kind == UM_EXPR_NONE)
		return UM_DELIVERY_GOOD;
	found = um_expr_eval(&part->timestamp, parsed, &text);
	if (found == UM_ABSENT)
		verdict = UM_DELIVERY_UNSIGNED;
	else if (found == UM_FOUND && !text.failed
		&& um_timestamp_parse(&then, um_buf_str(&text),
			part->timestamp_form))
		verdict = now - then > part->past_ms
				|| then - now > part->future_ms
			? UM_DELIVERY_STALE
			: UM_DELIVERY_GOOD;
	um_buf_free(&text);
	return verdict;
}

/* Any of the schemes that have keys will do. */
static enum um_verdict
check(const struct um_spec_part *part, struct um_parsed_delivery *parsed)
{
	enum um_verdict verdict = UM_DELIVERY_UNSIGNED;

	if (part->trust == UM_TRUST_NOTHING)
		return UM_DELIVERY_GOOD;
	for (size_t i = 0; i < part->schemes_len; i++) {
		const struct um_scheme *scheme = &part->schemes[i];

		if (um_verifier_count_keys(scheme->verifier) == 0)
			continue;
		switch (um_scheme_check(scheme, parsed)) {
		case UM_CHECK_RIGHT:
			return check_time(part, parsed);
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
read_items(const struct um_spec_part *part, struct um_parsed_delivery *parsed,
	const struct um_json_node *items, struct um_event *events, size_t max,
	size_t *len)
{
	const struct um_json_node *item = NULL;

	while ((item = um_json_next(items, item)) != NULL) {
		enum um_verdict verdict = UM_DELIVERY_GOOD;

		parsed->item = item;
		if (part->of_items)
			verdict = check(part, parsed);
		if (verdict != UM_DELIVERY_GOOD)
			return verdict;
		if (*len == max
			|| !um_spec_part_read_event(part, parsed, *len,
				&events[*len]))
			return UM_DELIVERY_MALFORMED;
		++*len;
	}
	/* Of none of them a signature was seen. */
	return part->of_items && *len == 0 ? UM_DELIVERY_UNSIGNED
					   : UM_DELIVERY_GOOD;
}

static enum um_verdict
read_events(const struct um_spec_part *part, struct um_parsed_delivery *parsed,
	struct um_event *events, size_t max, size_t *len)
{
	const struct um_json_node *document = part->uses_json
		? um_delivery_document(parsed)
		: NULL;
	const struct um_json_node *items;

	/* What cannot be read before it is verified has no signature. */
	if (part->uses_json && document == NULL)
		return part->of_items ? UM_DELIVERY_UNSIGNED
				      : UM_DELIVERY_MALFORMED;
	if (!part->has_events) {
		*len = 1;
		return um_spec_part_read_event(part, parsed, 0, events)
			? UM_DELIVERY_GOOD
			: UM_DELIVERY_MALFORMED;
	}
	items = um_pointer_find(&part->events, document);
	if (!um_json_is(items, UM_JSON_ARRAY))
		return part->of_items ? UM_DELIVERY_UNSIGNED
				      : UM_DELIVERY_MALFORMED;
	return read_items(part, parsed, items, events, max, len);
}

enum um_verdict
um_spec_part_read(const struct um_spec_part *part,
	const struct um_delivery *delivery, struct um_event *events, size_t max,
	size_t *len)
{
	struct um_parsed_delivery parsed = { .delivery = delivery,
		.payload = &part->payload };
	enum um_verdict verdict = UM_DELIVERY_GOOD;

	*len = 0;
	if (!part->of_items)
		verdict = check(part, &parsed);
	if (verdict == UM_DELIVERY_GOOD)
		verdict = read_events(part, &parsed, events, max, len);
	if (verdict == UM_DELIVERY_GOOD && um_delivery_is_malformed(&parsed))
		verdict = UM_DELIVERY_MALFORMED;
	if (verdict != UM_DELIVERY_GOOD)
		*len = 0;
	um_delivery_free(&parsed);
	return verdict;
}
