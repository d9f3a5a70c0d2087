/* SPDX-License-Identifier: MIT */
/* Verifies a delivery, then reads its events. */
#include <stdio.h>
#include <string.h>

#include <openssl/sha.h>

#include "core/hex.h"
#include "webhook/spec_part.h"

/* Control characters are refused: the text goes into rows and logs. */
static bool
is_clean(struct um_str text)
{
	for (size_t i = 0; i < text.len; i++)
		if ((unsigned char)text.ptr[i] < ' ' || text.ptr[i] == 0x7f)
			return false;
	return um_str_is_text(text);
}

/* A value as a C string, "" where it is absent. BAD where it is too long. */
static enum um_found
read_text(const struct um_expr *expr, struct um_parsed_delivery *parsed,
	char *out, size_t size)
{
	struct um_buf text = { 0 };
	enum um_found found = um_expr_eval(expr, parsed, &text);

	out[0] = '\0';
	if (found == UM_FOUND && (text.failed || text.len >= size)) {
		parsed->bad_reason = "is longer than it may be";
		found = UM_BAD;
	} else if (found == UM_FOUND && !is_clean(um_buf_str(&text))) {
		parsed->bad_reason = "has a control character, or is not UTF-8";
		found = UM_BAD;
	}
	if (found == UM_FOUND) {
		memcpy(out, text.ptr, text.len);
		out[text.len] = '\0';
	}
	um_buf_free(&text);
	return found;
}

size_t
um_spec_part_find_outcome(const struct um_spec_part *part,
	struct um_parsed_delivery *parsed, const char *type)
{
	size_t i = 0;

	for (; i < part->rules_len; i++) {
		const struct um_outcome_rule *rule = &part->rules[i];

		if (rule->types.len != 0
			&& !um_strlist_has(&rule->types, um_str(type)))
			continue;
		if (um_conditions_hold(&rule->when, parsed))
			break;
	}
	return i;
}

const struct um_expr *
um_spec_part_amount(const struct um_spec_part *part, size_t number)
{
	return number < part->rules_len && part->rules[number].has_amount
		? &part->rules[number].amount
		: &part->amount;
}

static void
hash_into(char *out, size_t size, struct um_str bytes, size_t index)
{
	uint8_t digest[SHA256_DIGEST_LENGTH];
	char hex[2 * SHA256_DIGEST_LENGTH + 1];
	char suffix[24] = "";

	SHA256((const uint8_t *)(bytes.len != 0 ? bytes.ptr : ""), bytes.len,
		digest);
	um_hex_encode(hex, digest, sizeof(digest));
	if (index != 0)
		snprintf(suffix, sizeof(suffix), ":%zu", index);
	snprintf(out, size, "sha256:%s%s", hex, suffix);
}

/* The provider's own identity where it fits, otherwise a digest. */
static void
read_identity(const struct um_spec_part *part,
	struct um_parsed_delivery *parsed, size_t index, struct um_event *event)
{
	struct um_buf text = { 0 };
	enum um_found found = um_expr_eval(&part->identity, parsed, &text);
	struct um_str identity = um_buf_str(&text);

	if (found != UM_FOUND || text.failed)
		hash_into(event->identity, sizeof(event->identity),
			parsed->delivery->body.len != 0
				? parsed->delivery->body
				: parsed->delivery->query,
			index);
	else if (identity.len >= sizeof(event->identity) || !is_clean(identity))
		hash_into(event->identity, sizeof(event->identity), identity,
			0);
	else
		snprintf(event->identity, sizeof(event->identity), "%.*s",
			(int)identity.len, identity.ptr);
	um_buf_free(&text);
}

/* An amount without a currency is ignored, and vice versa. */
static bool
read_amount(const struct um_spec_part *part, size_t rule,
	struct um_parsed_delivery *parsed, struct um_event *event)
{
	char amount[32], currency[16];
	enum um_found a = read_text(um_spec_part_amount(part, rule), parsed,
		amount, sizeof(amount));
	enum um_found c;

	if (a == UM_BAD)
		um_delivery_blame(parsed, "/amount", NULL);
	c = read_text(&part->currency, parsed, currency, sizeof(currency));
	if (c == UM_BAD)
		um_delivery_blame(parsed, "/currency", NULL);
	if (a == UM_BAD || c == UM_BAD)
		return false;
	if (a == UM_ABSENT || c == UM_ABSENT)
		return true;
	if (!um_amount_parse_currency(event->currency, um_str(currency))) {
		um_delivery_blame(parsed, "/currency", "is not three letters");
		return false;
	}
	event->has_amount = um_amount_parse(&event->amount, um_str(amount),
		part->amount_form, event->currency);
	if (!event->has_amount)
		um_delivery_blame(parsed, "/amount",
			part->amount_form == UM_AMOUNT_MINOR
				? "is not a whole number, or is negative"
				: "is not a decimal number with at most as "
				  "many places as the currency has");
	return event->has_amount;
}

/* An amount that moves nothing is not read, so that it may be malformed. */
static bool
needs_amount(enum um_effect effect)
{
	return effect != UM_EFFECT_IGNORE && effect != UM_EFFECT_RECHECK
		&& effect != UM_EFFECT_OTHER_MODE
		&& effect != UM_EFFECT_OTHER_ACCOUNT;
}

static bool
read_event(const struct um_spec_part *part, struct um_parsed_delivery *parsed,
	size_t index, struct um_event *event)
{
	/* Evaluating other values may set it again. */
	bool ambiguous = parsed->ambiguous;
	char id[UM_UUID_TEXT_LEN + 2];
	enum um_found found;
	size_t rule;

	*event = (struct um_event){ 0 };
	if (read_text(&part->type, parsed, event->type, sizeof(event->type))
		== UM_BAD) {
		um_delivery_blame(parsed, "/type", NULL);
		return false;
	}
	rule = um_spec_part_find_outcome(part, parsed, event->type);
	event->effect = rule < part->rules_len ? part->rules[rule].effect
					       : UM_EFFECT_IGNORE;
	if (event->effect != UM_EFFECT_IGNORE) {
		if (ambiguous || part->trust > UM_TRUST_FIELDS)
			event->effect = UM_EFFECT_RECHECK;
		else if (!um_origin_apply(&part->origin, parsed,
				 &event->effect))
			return false;
	}
	read_identity(part, parsed, index, event);

	/* A reference that is not a UUID belongs to another system: ignore it. */
	found = read_text(&part->elicitation, parsed, id, sizeof(id));
	event->has_id = found == UM_FOUND
		&& um_uuid_parse(event->id, um_str(id));
	read_text(&part->reference, parsed, event->reference,
		sizeof(event->reference));
	return !needs_amount(event->effect)
		|| read_amount(part, rule, parsed, event);
}

/* Checks the timestamp of a delivery whose signature is right. */
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

/* A delivery is good if any of the schemes that have keys matches. */
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

/* Reads one event from each element; verifies those that are signed. */
static enum um_verdict
read_items(const struct um_spec_part *part, struct um_parsed_delivery *parsed,
	const struct um_json_node *items, struct um_event *events, size_t max,
	size_t *len)
{
	const struct um_json_node *item = NULL;

	while ((item = um_json_next(items, item)) != NULL) {
		enum um_verdict verdict = UM_DELIVERY_GOOD;

		parsed->item = item;
		parsed->item_number++;
		if (part->of_items)
			verdict = check(part, parsed);
		if (verdict != UM_DELIVERY_GOOD)
			return verdict;
		if (*len == max) {
			um_delivery_blame(parsed, "/events",
				"has more elements than a delivery may have "
				"events");
			return UM_DELIVERY_MALFORMED;
		}
		if (!read_event(part, parsed, *len, &events[*len]))
			return UM_DELIVERY_MALFORMED;
		++*len;
	}
	/* An empty list has no signature. */
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

	/* An unparsable body cannot contain its signature: UNSIGNED. */
	if (part->uses_json && document == NULL)
		return part->of_items ? UM_DELIVERY_UNSIGNED
				      : UM_DELIVERY_MALFORMED;
	if (!part->has_events) {
		*len = 1;
		return read_event(part, parsed, 0, events)
			? UM_DELIVERY_GOOD
			: UM_DELIVERY_MALFORMED;
	}
	items = um_pointer_find(&part->events, document);
	if (!um_json_is(items, UM_JSON_ARRAY)) {
		um_delivery_blame(parsed, "/events", "is not a list");
		return part->of_items ? UM_DELIVERY_UNSIGNED
				      : UM_DELIVERY_MALFORMED;
	}
	return read_items(part, parsed, items, events, max, len);
}

/* A challenge is verified as an event is, and says nothing else. */
static bool
is_answered_challenge(const struct um_spec_part *part,
	struct um_parsed_delivery *parsed, struct um_reply *reply)
{
	if (!part->challenge.exists || part->challenge.is_get || reply == NULL
		|| part->of_items || part->trust == UM_TRUST_NOTHING)
		return false;
	parsed->mac = part->schemes[0].verifier;
	return um_challenge_answer(&part->challenge, parsed, reply);
}

enum um_verdict
um_spec_part_challenge(const struct um_spec_part *part,
	const struct um_delivery *delivery)
{
	struct um_parsed_delivery parsed = { .delivery = delivery,
		.payload = &part->payload,
		.mac_of_digits = true };
	bool ok = part->challenge.exists && part->challenge.is_get;

	if (part->schemes_len != 0)
		parsed.mac = part->schemes[0].verifier;
	ok = ok
		&& um_challenge_answer(&part->challenge, &parsed,
			delivery->reply);
	um_delivery_free(&parsed);
	return ok ? UM_DELIVERY_GOOD : UM_DELIVERY_UNSIGNED;
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
	if (!part->of_items) {
		verdict = check(part, &parsed);
		parsed.is_proven = verdict == UM_DELIVERY_GOOD;
	}
	if (verdict == UM_DELIVERY_GOOD
		&& !is_answered_challenge(part, &parsed, delivery->reply))
		verdict = read_events(part, &parsed, events, max, len);
	if (verdict == UM_DELIVERY_GOOD && um_delivery_is_malformed(&parsed)) {
		um_delivery_blame(&parsed, "/payload",
			"is in a query or body that is not well formed, or "
			"over a limit");
		verdict = UM_DELIVERY_MALFORMED;
	}
	if (verdict != UM_DELIVERY_GOOD && delivery->reply != NULL
		&& delivery->reply->given) {
		um_buf_free(&delivery->reply->body);
		*delivery->reply = (struct um_reply){ 0 };
	}
	if (verdict != UM_DELIVERY_GOOD)
		*len = 0;
	else if (delivery->fault != NULL)
		/* A scheme that did not match may have said something. */
		*delivery->fault = (struct um_fault){ 0 };
	um_delivery_free(&parsed);
	return verdict;
}
