/* SPDX-License-Identifier: MIT */
#include "webhook/explain.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/timestamp.h"
#include "core/uuid.h"

#define SHOWN_MAX 2000 /* bytes of a value that are shown */

const char *
um_explain_verdict(enum um_verdict verdict)
{
	static const char *const words[] = { "good", "unsigned", "forged",
		"stale", "malformed" };

	return words[verdict];
}

/* A member of an object; NULL where either is absent. */
static json_t *
member(const json_t *node, const char *key)
{
	return json_object_get(node, key);
}

/* Where a value is found, as its description says it. */
static void
put_place(struct um_buf *out, const json_t *place)
{
	char *text = json_dumps(place, JSON_ENCODE_ANY);

	um_buf_puts(out, text != NULL ? text : "");
	free(text);
}

/* On one line, and without what a terminal would act on. */
static void
put_shown(struct um_buf *out, struct um_str text)
{
	for (size_t i = 0; i < text.len && i < SHOWN_MAX; i++) {
		unsigned char c = (unsigned char)text.ptr[i];

		if (c == '\n')
			um_buf_puts(out, "\\n");
		else if (c == '\r')
			um_buf_puts(out, "\\r");
		else if (c < ' ' || c == 0x7f)
			um_buf_printf(out, "\\x%02x", c);
		else
			um_buf_put(out, text.ptr + i, 1);
	}
	if (text.len > SHOWN_MAX)
		um_buf_printf(out, " … (%zu bytes)", text.len);
}

/* Of several places, the one that has the value. */
static const json_t * /* NOLINTNEXTLINE(misc-no-recursion): depth is limited */
found_place(const struct um_expr *expr, const json_t *place,
	struct um_parsed_delivery *parsed)
{
	if (expr->kind != UM_EXPR_FIRST)
		return place;
	for (size_t i = 0; i < expr->parts_len; i++) {
		struct um_buf text = { 0 };
		enum um_found found = um_expr_eval(&expr->parts[i], parsed,
			&text);

		um_buf_free(&text);
		if (found != UM_ABSENT)
			return found_place(&expr->parts[i],
				json_array_get(member(place, "first"), i),
				parsed);
	}
	return place;
}

/* One line: the key, the value, and where it was found. */
static void
put_value(struct um_buf *out, const char *key, const struct um_expr *expr,
	const json_t *place, struct um_parsed_delivery *parsed)
{
	struct um_buf text = { 0 };
	enum um_found found;

	if (expr->kind == UM_EXPR_NONE)
		return;
	found = um_expr_eval(expr, parsed, &text);
	um_buf_printf(out, "  %-12s ", key);
	if (found == UM_FOUND)
		put_shown(out, um_buf_str(&text));
	else
		um_buf_puts(out,
			found == UM_ABSENT ? "(absent)" : "(not readable)");
	um_buf_puts(out, "  <- ");
	put_place(out, found_place(expr, place, parsed));
	um_buf_puts(out, "\n");
	um_buf_free(&text);
}

static void
put_scheme(struct um_buf *out, const struct um_spec_part *part,
	const json_t *description, size_t number,
	struct um_parsed_delivery *parsed)
{
	static const char *const words[] = { "right", "wrong",
		"not there: the signature or a signed value is absent" };
	const struct um_scheme *scheme = &part->schemes[number];
	const json_t *json = json_array_get(member(description, "verify"),
		number);
	const json_t *parts = member(json, "signed");
	enum um_check check = um_scheme_check(scheme, parsed);

	um_buf_printf(out, "scheme %zu: %s, %s\n", number,
		json_string_value(member(json, "algorithm")),
		um_verifier_count_keys(scheme->verifier) != 0
			? words[check]
			: "no secret for it");
	put_value(out, "signature", &scheme->from,
		member(member(json, "signature"), "from"), parsed);
	for (size_t i = 0; i < scheme->parts_len; i++)
		put_value(out, i == 0 ? "signed" : "", &scheme->parts[i],
			json_array_get(parts, i), parsed);
	if (check == UM_CHECK_RIGHT && parsed->ambiguous)
		um_buf_puts(out,
			"  A value has a separator in it, so that other values "
			"would have the same signature: recheck.\n");
}

/* The first scheme that is right; all that are tried before it are shown. */
static void
put_schemes(struct um_buf *out, const struct um_spec_part *part,
	const json_t *description, struct um_parsed_delivery *parsed)
{
	const json_t *timestamp = member(description, "timestamp");

	for (size_t i = 0; i < part->schemes_len; i++) {
		put_scheme(out, part, description, i, parsed);
		if (um_scheme_check(&part->schemes[i], parsed)
			== UM_CHECK_RIGHT)
			break;
	}
	put_value(out, "timestamp", &part->timestamp, member(timestamp, "from"),
		parsed);
	if (timestamp != NULL)
		um_buf_printf(out,
			"  %-12s %" PRId64 " (from %" PRId64
			" seconds before to %" PRId64 " after)\n",
			"now", parsed->delivery->now_ms / 1000,
			part->past_ms / 1000, part->future_ms / 1000);
}

static void
put_effect(struct um_buf *out, const struct um_event *event)
{
	static const char *const effects[] = {
		[UM_EFFECT_IGNORE] = "ignore: nothing happens",
		[UM_EFFECT_PAID] = "paid: it is accepted; a payment only if "
				   "this amount and currency are expected, and "
				   "is cancelled otherwise (amount_mismatch)",
		[UM_EFFECT_FAILED] = "failed: it is cancelled, payment_failed",
		[UM_EFFECT_CANCELLED] = "cancelled: it is declined",
		[UM_EFFECT_EXPIRED] = "expired: it is cancelled, expired",
		[UM_EFFECT_PROCESSING] = "processing: it stays open, for 30 "
					 "days after its expiry at least",
		[UM_EFFECT_ATTEMPT_FAILED] = "attempt_failed: it stays open",
		[UM_EFFECT_REFUNDED] = "refunded: it stays as it is; its "
				       "payment is marked",
		[UM_EFFECT_OTHER_MODE] = "other_mode: of the other mode, "
					 "nothing happens",
		[UM_EFFECT_OTHER_ACCOUNT] = "other_account: the account is not "
					    "configured, nothing happens",
		[UM_EFFECT_RECHECK] = "recheck: it stays open; the MCP server "
				      "asks the provider's API",
	};
	char uuid[UM_UUID_TEXT_LEN + 1];

	um_buf_printf(out, "  %-12s %s\n", "means", effects[event->effect]);
	if (event->effect == UM_EFFECT_PAID && !event->has_amount)
		um_buf_printf(out, "  %-12s %s\n", "",
			"Without an amount and a currency, a payment is a "
			"recheck instead.");
	if (event->has_amount)
		um_buf_printf(out, "  %-12s %" PRId64 " minor units of %s\n",
			"money", event->amount, event->currency);
	if (event->has_id)
		um_uuid_format(uuid, event->id);
	um_buf_printf(out, "  %-12s %s\n", "about",
		event->has_id ? uuid : "no elicitation: nothing happens");
	um_buf_printf(out, "  %-12s %s\n", "event", event->identity);
}

static void
put_outcome(struct um_buf *out, const struct um_spec_part *part, size_t number,
	const json_t *outcome, const struct um_event *event)
{
	const char *because = json_string_value(member(outcome, "because"));

	if (number == part->rules_len)
		um_buf_printf(out, "  %-12s %s\n", "outcome", "none applies");
	else
		um_buf_printf(out, "  %-12s %zu: %s  %s\n", "outcome", number,
			json_string_value(member(outcome, "means")),
			because != NULL ? because : "");
	put_effect(out, event);
}

static void
put_event(struct um_buf *out, const struct um_spec_part *part,
	const json_t *description, const struct um_event *event,
	struct um_parsed_delivery *parsed)
{
	size_t number = um_spec_part_find_outcome(part, parsed, event->type);
	const json_t *outcome = json_array_get(member(description, "outcomes"),
		number);
	const json_t *own_amount = member(outcome, "amount");
	const struct {
		const char *key;
		const struct um_expr *expr;
		const json_t *place;
	} values[] = {
		{ "type", &part->type, member(description, "type") },
		{ "elicitation", &part->elicitation,
			member(description, "elicitation") },
		{ "amount", um_spec_part_amount(part, number),
			own_amount != NULL
				? own_amount
				: member(member(description, "amount"),
					"from") },
		{ "currency", &part->currency,
			member(description, "currency") },
		{ "reference", &part->reference,
			member(description, "reference") },
		{ "identity", &part->identity,
			member(description, "identity") },
		{ "live", &part->origin.live,
			member(member(description, "live"), "from") },
		{ "account", &part->origin.account,
			member(description, "account") },
	};

	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
		put_value(out, values[i].key, values[i].expr, values[i].place,
			parsed);
	put_outcome(out, part, number, outcome, event);
}

static void
put_events(struct um_buf *out, const struct um_spec_part *part,
	const json_t *description, const struct um_event *events, size_t len,
	struct um_parsed_delivery *parsed)
{
	const struct um_json_node *items = NULL;

	parsed->is_proven = true;
	if (part->has_events)
		items = um_pointer_find(&part->events,
			um_delivery_document(parsed));
	for (size_t i = 0; i < len; i++) {
		if (part->has_events)
			parsed->item = um_json_next(items, parsed->item);
		um_buf_printf(out, "event %zu of %zu:\n", i + 1, len);
		put_event(out, part, description, &events[i], parsed);
	}
}

/* The schemes once, or (each item has a signature) for each item. */
static void
put_verification(struct um_buf *out, const struct um_spec_part *part,
	const json_t *description, struct um_parsed_delivery *parsed)
{
	const struct um_json_node *items;

	if (!part->of_items) {
		put_schemes(out, part, description, parsed);
		return;
	}
	items = um_pointer_find(&part->events, um_delivery_document(parsed));
	while ((parsed->item = um_json_next(items, parsed->item)) != NULL) {
		um_buf_printf(out, "element %zu of %s:\n",
			++parsed->item_number,
			json_string_value(member(description, "events")));
		put_schemes(out, part, description, parsed);
	}
	parsed->item_number = 0;
}

enum um_verdict
um_explain(const struct um_spec_part *part, const json_t *description,
	const struct um_delivery *delivery, struct um_buf *out)
{
	struct um_event *events = calloc(UM_EVENTS_MAX, sizeof(events[0]));
	struct um_fault fault = { "" };
	struct um_reply reply = { 0 };
	struct um_delivery sent = *delivery;
	struct um_parsed_delivery parsed = { .delivery = delivery,
		.payload = &part->payload };
	enum um_verdict verdict = UM_DELIVERY_MALFORMED;
	size_t len = 0;

	sent.fault = &fault;
	sent.reply = &reply;
	if (events != NULL)
		verdict = um_spec_part_read(part, &sent, events,
			part->has_events ? UM_EVENTS_MAX : 1, &len);
	put_verification(out, part, description, &parsed);
	um_buf_cat(out, "verdict: ", um_explain_verdict(verdict),
		fault.text[0] != '\0' ? ", " : "", fault.text, "\n");
	if (reply.given) {
		um_buf_puts(out, "challenge, answered with: ");
		um_buf_put(out, reply.body.ptr, reply.body.len);
		um_buf_puts(out, "\n");
	}
	put_events(out, part, description, events, len, &parsed);
	um_buf_free(&reply.body);
	um_delivery_free(&parsed);
	free(events);
	return verdict;
}
