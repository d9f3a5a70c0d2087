/* SPDX-License-Identifier: MIT */
#include "operate/explain.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/timestamp.h"
#include "core/uuid.h"
#include "operate/explain_value.h"
#include "webhook/event_read.h"

const char *
um_explain_verdict(enum um_verdict verdict)
{
	static const char *const words[] = { "good", "unsigned", "forged",
		"stale", "malformed", "outdated", "keyless" };

	return words[verdict];
}

/* A member of an object; NULL where either is absent. */
static json_t *
member(const json_t *node, const char *key)
{
	return json_object_get(node, key);
}

/* When the certificate that is valid longest ends. */
static void
put_end(struct um_buf *out, const struct um_scheme *scheme)
{
	int64_t end;
	time_t seconds;
	struct tm tm;
	char text[32];

	if (!um_verifier_end(scheme->verifier, &end))
		return;
	seconds = (time_t)(end / 1000);
	gmtime_r(&seconds, &tm);
	strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &tm);
	um_buf_cat(out, "  The last certificate is valid until ", text, ".\n");
}

/* Why the signature is not right, in the words of this scheme. */
static void
put_error(struct um_buf *out, const struct um_scheme *scheme,
	const json_t *json, enum um_verify_error error)
{
	const char *as = json_string_value(
		member(member(json, "signature"), "as"));

	um_buf_puts(out, "  The signature ");
	if (error == UM_VERIFY_NO_FIELD)
		um_buf_cat(out, "has no parameter `", scheme->fields.item[0],
			"`");
	else if (error == UM_VERIFY_NO_PREFIX && scheme->prefixes.len != 0)
		um_buf_cat(out, "does not begin with the prefix `",
			scheme->prefixes.item[0], "`");
	else if (error == UM_VERIFY_NOT_ENCODED && as != NULL)
		um_buf_cat(out, "is not ",
			strcmp(as, "hex") == 0 ? "hexadecimal, all in one case"
					       : "base64");
	else
		um_buf_puts(out, um_verify_error_text(error));
	um_buf_puts(out, ".\n");
	if (error == UM_VERIFY_OUT_OF_DATE)
		put_end(out, scheme);
}

/* Of several lists in the header, whose values follow. */
static void
put_list(struct um_buf *out, enum um_check check,
	const struct um_signature *signature)
{
	if (signature->lists < 2)
		return;
	um_buf_printf(out, "  %-12s ", "list");
	if (check == UM_CHECK_RIGHT)
		um_buf_printf(out, "%zu of %zu is right, with these values:\n",
			signature->list, signature->lists);
	else
		um_buf_printf(out, "%zu, the last that was looked at:\n",
			signature->list);
}

static enum um_check
put_scheme(struct um_buf *out, const struct um_spec_part *part,
	const json_t *description, size_t number,
	const struct um_source *source, struct um_signature *signature)
{
	static const char *const words[] = { "right", "wrong",
		"not there: the signature or a signed value is absent" };
	const struct um_scheme *scheme = &part->schemes[number];
	const json_t *json = json_array_get(member(description, "verify"),
		number);
	const json_t *parts = member(json, "signed");
	enum um_check check = um_scheme_check(scheme, source, signature);

	um_buf_printf(out, "scheme %zu: %s, %s\n", number,
		json_string_value(member(json, "algorithm")),
		scheme->has_keys ? words[check] : "no secret for it");
	um_explain_value(out, "signature", &scheme->from,
		member(member(json, "signature"), "from"), source);
	put_list(out, check, signature);
	for (size_t i = 0; i < scheme->parts_len; i++)
		um_explain_value(out, i == 0 ? "signed" : "", &scheme->parts[i],
			json_array_get(parts, i), source);
	if (check == UM_CHECK_WRONG && scheme->has_keys)
		put_error(out, scheme, json, signature->error);
	if (check == UM_CHECK_RIGHT && scheme->is_token
		&& part->trust != UM_TRUST_TOKEN)
		um_buf_puts(out,
			"  A token counts only where no signature is there, "
			"and "
			"proves nothing of what is said: recheck.\n");
	if (check == UM_CHECK_RIGHT && signature->is_ambiguous)
		um_buf_puts(out,
			"  A value has a separator in it, so that other values "
			"would have the same signature: recheck.\n");
	return check;
}

/* The first scheme that is right; all that are tried before it are shown. */
static void
put_schemes(struct um_buf *out, const struct um_spec_part *part,
	const json_t *description, const struct um_source *source)
{
	const json_t *timestamp = member(description, "timestamp");
	struct um_signature signature = { 0 };
	struct um_source with_params = *source;
	enum um_check check = UM_CHECK_NONE;

	with_params.params = &signature.params;
	with_params.claims = &signature.claims;
	for (size_t i = 0; i < part->schemes_len && check != UM_CHECK_RIGHT;
		i++)
		check = put_scheme(out, part, description, i, &with_params,
			&signature);
	um_explain_value(out, "timestamp", &part->timestamp,
		member(timestamp, "from"), &with_params);
	um_signature_free(&signature);
	if (timestamp != NULL)
		um_buf_printf(out,
			"  %-12s %" PRId64 " (from %" PRId64
			" seconds before to %" PRId64 " after)\n",
			"now", source->parsed->delivery->now_ms / 1000,
			part->past_ms / 1000, part->future_ms / 1000);
}

/* As the database gets them. */
static void
put_details(struct um_buf *out, const struct um_details *details)
{
	struct um_buf json = { 0 };

	um_details_put(&json, details);
	if (json.len != 0 && !json.failed)
		um_buf_printf(out, "  %-12s %.*s\n", "details", (int)json.len,
			json.ptr);
	um_buf_free(&json);
}

static void
put_effect(struct um_buf *out, const struct um_event *event, bool by_address)
{
	static const char *const effects[] = {
		[UM_EFFECT_IGNORE] = "ignore: nothing happens",
		[UM_EFFECT_PAID] = "paid: it is accepted if this amount and "
				   "currency are expected, and cancelled "
				   "otherwise (amount_mismatch)",
		[UM_EFFECT_ACCEPTED] = "accepted: it is accepted, as what was "
				       "signed or approved",
		[UM_EFFECT_FAILED] = "failed: it is cancelled, payment_failed",
		[UM_EFFECT_CANCELLED] = "cancelled: it is declined",
		[UM_EFFECT_EXPIRED] = "expired: it is cancelled, expired",
		[UM_EFFECT_PROCESSING] = "processing: it stays open, for 30 "
					 "days after its expiry at least",
		[UM_EFFECT_ATTEMPT_FAILED] = "attempt_failed: it stays open",
		[UM_EFFECT_REFUNDED] = "refunded: it stays as it is; this "
				       "much of its payment went back",
		[UM_EFFECT_REFUND_REVERSED] = "refund_reversed: what went "
					      "back has come again",
		[UM_EFFECT_DISPUTED] = "disputed: it stays as it is; this is "
				       "how a dispute stands",
		[UM_EFFECT_RENEWED] = "renewed: a later payment of its "
				      "subscription, and of no elicitation",
		[UM_EFFECT_SUBSCRIPTION] = "subscription: it says what its "
					   "subscription is now",
		[UM_EFFECT_NAMED] = "named: refunds of its payment may have "
				    "another name",
		[UM_EFFECT_OTHER_MODE] = "other_mode: of the other mode, "
					 "nothing happens",
		[UM_EFFECT_OTHER_ACCOUNT] = "other_account: the account is not "
					    "configured, nothing happens",
		[UM_EFFECT_RECHECK] = "recheck: it stays open; the MCP server "
				      "asks the provider's API",
	};
	char uuid[UM_UUID_TEXT_LEN + 1];

	um_buf_printf(out, "  %-12s %s\n", "effect", effects[event->effect]);
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
		event->has_id        ? uuid
			: by_address ? "the elicitation of the token in the "
				       "address (webhookUrl)"
				     : "no elicitation: nothing happens");
	um_buf_printf(out, "  %-12s %s\n", "event", event->identity);
	put_details(out, &event->details);
}

static void
put_outcome(struct um_buf *out, const struct um_spec_part *part, size_t number,
	const json_t *outcome, const struct um_event *event)
{
	const char *because = json_string_value(member(outcome, "because"));
	const char *word = json_string_value(member(outcome, "effect"));

	if (number == part->rules_len)
		um_buf_printf(out, "  %-12s %s\n", "outcome", "none applies");
	else
		um_buf_printf(out, "  %-12s %zu: %s  %s\n", "outcome", number,
			word, because != NULL ? because : "");
	put_effect(out, event, part->by_address);
	if (event->effect == UM_EFFECT_PAID && part->takes_no_payments)
		um_buf_printf(out, "  %-12s %s\n", "",
			"The provider is not of the kind payment: nothing is "
			"accepted, and the money is listed as unclaimed.");
}

static void
put_other_id(struct um_buf *out, const struct um_spec_part *part,
	const struct um_event *event, const struct um_source *source)
{
	struct um_value value;
	enum um_found found = um_expr_eval(&part->elicitation, source, &value);

	if (found == UM_FOUND && !event->has_id)
		um_buf_printf(out, "  %-12s %s\n", "",
			"The elicitation is not a UUID of 36 characters: the "
			"event is another system's.");
	um_value_free(&value);
}

/* The outcome that has been read before. */
static size_t
outcome_of(const struct um_spec_part *part, const struct um_source *source,
	const struct um_event *event)
{
	struct um_misread ignored;
	size_t number;

	um_event_outcome(&number, part, source, event->type, &ignored);
	return number;
}

static void
put_event(struct um_buf *out, const struct um_spec_part *part,
	const json_t *description, const struct um_event *event,
	const struct um_source *source)
{
	size_t number = outcome_of(part, source, event);
	const json_t *outcome = json_array_get(member(description, "outcomes"),
		number);
	const json_t *own_amount = member(outcome, "amount");
	const json_t *own_checkout = member(outcome, "checkout");
	const struct {
		const char *key;
		const struct um_expr *expr;
		const json_t *place;
	} values[] = {
		{ "type", &part->type, member(description, "type") },
		{ "elicitation", &part->elicitation,
			member(description, "elicitation") },
		{ "amount", um_event_amount(part, number),
			own_amount != NULL
				? own_amount
				: member(member(description, "amount"),
					"from") },
		{ "currency", &part->currency,
			member(description, "currency") },
		{ "reference", &part->reference,
			member(description, "reference") },
		{ "checkout", um_event_checkout(part, number),
			own_checkout != NULL
				? own_checkout
				: member(description, "checkout") },
		{ "identity", &part->identity,
			member(description, "identity") },
		{ "live", &part->origin.live,
			member(member(description, "live"), "from") },
		{ "account", &part->origin.account,
			member(description, "account") },
	};

	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
		um_explain_value(out, values[i].key, values[i].expr,
			values[i].place, source);
	put_other_id(out, part, event, source);
	put_outcome(out, part, number, outcome, event);
}

static void
put_events(struct um_buf *out, const struct um_spec_part *part,
	const json_t *description, const struct um_event *events, size_t len,
	const struct um_parsed *parsed)
{
	struct um_source source = { .parsed = parsed };

	for (size_t i = 0; i < len; i++) {
		source.item = um_json_next(parsed->events, source.item);
		um_buf_printf(out, "event %zu of %zu:\n", i + 1, len);
		put_event(out, part, description, &events[i], &source);
	}
}

/* The schemes once, or (each item has a signature) for each item. */
static void
put_verification(struct um_buf *out, const struct um_spec_part *part,
	const json_t *description, const struct um_parsed *parsed)
{
	struct um_source source = { .parsed = parsed };
	size_t number = 0;

	if (!part->of_items) {
		put_schemes(out, part, description, &source);
		return;
	}
	while ((source.item = um_json_next(parsed->events, source.item))
		!= NULL) {
		um_buf_printf(out, "element %zu of %s:\n", ++number,
			json_string_value(member(description, "events")));
		put_schemes(out, part, description, &source);
	}
}

enum um_verdict
um_explain(const struct um_spec_part *part, const json_t *description,
	const struct um_delivery *delivery, bool is_challenge,
	struct um_buf *out)
{
	struct um_event *events = calloc(UM_EVENTS_MAX, sizeof(events[0]));
	struct um_fault fault = { "" };
	struct um_reply reply = { 0 };
	struct um_delivery sent = *delivery;
	struct um_parsed parsed = { .delivery = delivery };
	enum um_verdict verdict = UM_DELIVERY_MALFORMED;
	size_t len = 0;

	sent.fault = &fault;
	sent.reply = &reply;
	sent.is_get = is_challenge;
	if (events != NULL)
		verdict = um_spec_read(part, &sent, events, &len);
	um_parsed_read(&parsed, &part->payload, part->signature_needs, false);
	um_parsed_read(&parsed, &part->payload, part->event_needs, true);
	if (!is_challenge)
		put_verification(out, part, description, &parsed);
	um_buf_cat(out, "verdict: ", um_explain_verdict(verdict),
		fault.text[0] != '\0' ? ", " : "", fault.text, "\n");
	if (reply.given) {
		um_buf_puts(out, "challenge, answered with: ");
		um_buf_put(out, reply.body.ptr, reply.body.len);
		um_buf_puts(out, "\n");
	}
	if (is_challenge && !reply.given)
		um_buf_puts(out,
			"no challenge: a condition of `when` does not hold, or "
			"the answer would have other characters than letters, "
			"digits and . _ ~ + / = | -\n");
	put_events(out, part, description, events, len, &parsed);
	um_buf_free(&reply.body);
	um_parsed_free(&parsed);
	free(events);
	return verdict;
}
