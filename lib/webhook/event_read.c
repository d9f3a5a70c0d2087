/* SPDX-License-Identifier: MIT */
#include "webhook/event_read.h"

#include <stdio.h>
#include <string.h>

#include <openssl/sha.h>

#include "core/encode.h"
#include "webhook/event_details.h"

bool
um_event_outcome(size_t *outcome, const struct um_spec_part *part,
	const struct um_source *source, const char *type,
	struct um_misread *misread)
{
	enum um_holding holding = UM_HOLDS_NOT;
	size_t i = 0;

	for (; i < part->rules_len; i++) {
		const struct um_outcome_rule *rule = &part->rules[i];
		struct um_value unread;

		if (rule->types.len != 0
			&& !um_strlist_has(&rule->types, um_str(type)))
			continue;
		holding = um_conditions_hold(&rule->when, source, &unread);
		if (holding == UM_HOLDS_UNKNOWN)
			um_event_refuse(misread, "/outcomes", unread.bad_at,
				um_event_reason(&unread));
		um_value_free(&unread);
		if (holding != UM_HOLDS_NOT)
			break;
	}
	*outcome = i;
	return holding != UM_HOLDS_UNKNOWN;
}

const struct um_expr *
um_event_amount(const struct um_spec_part *part, size_t outcome)
{
	return outcome < part->rules_len && part->rules[outcome].has_amount
		? &part->rules[outcome].amount
		: &part->amount;
}

const struct um_expr *
um_event_checkout(const struct um_spec_part *part, size_t outcome)
{
	return outcome < part->rules_len && part->rules[outcome].has_checkout
		? &part->rules[outcome].checkout
		: &part->checkout;
}

static void
hash_into(char *out, size_t size, const char *kind, struct um_str bytes,
	size_t index)
{
	uint8_t digest[SHA256_DIGEST_LENGTH];
	char hex[2 * SHA256_DIGEST_LENGTH + 1];
	char suffix[24] = "";

	SHA256((const uint8_t *)(bytes.len != 0 ? bytes.ptr : ""), bytes.len,
		digest);
	um_hex_encode(hex, digest, sizeof(digest));
	if (index != 0)
		snprintf(suffix, sizeof(suffix), ":%zu", index);
	snprintf(out, size, "%ssha256:%s%s", kind, hex, suffix);
}

/*
 * The provider's own identity where it fits, otherwise a digest. An event that a
 * token alone came with has another one than the same event with a signature,
 * whose place it must not take.
 */
static bool
read_identity(struct um_event *event, const struct um_spec_part *part,
	const struct um_source *source, size_t number,
	struct um_misread *misread)
{
	const struct um_delivery *delivery = source->parsed->delivery;
	struct um_value value;
	const char *unfit;
	enum um_found found = um_event_value(&value, &part->identity, source,
		sizeof(event->identity), &unfit);
	bool ok = found != UM_BAD || !value.is_unreadable;

	if (source->has_only_token)
		found = UM_ABSENT;
	if (!ok)
		um_event_refuse(misread, "/identity", value.bad_at,
			um_event_reason(&value));
	if (found != UM_FOUND)
		hash_into(event->identity, sizeof(event->identity),
			source->has_only_token ? "token:" : "",
			delivery->body.len != 0 ? delivery->body
						: delivery->query,
			number);
	else if (unfit != NULL)
		hash_into(event->identity, sizeof(event->identity), "",
			value.text, 0);
	else
		snprintf(event->identity, sizeof(event->identity), "%.*s",
			(int)value.text.len, value.text.ptr);
	um_value_free(&value);
	return ok;
}

/* An amount without a currency is ignored, and vice versa. */
static bool
read_amount(struct um_event *event, const struct um_spec_part *part,
	const struct um_source *source, size_t outcome,
	struct um_misread *misread)
{
	char amount[32], currency[16];
	enum um_found a, c = UM_BAD;

	a = um_event_text(um_event_amount(part, outcome), source, amount,
		sizeof(amount), "/amount", misread);
	if (a != UM_BAD)
		c = um_event_text(&part->currency, source, currency,
			sizeof(currency), "/currency", misread);
	if (a != UM_FOUND || c != UM_FOUND)
		return a != UM_BAD && c != UM_BAD;
	if (!um_amount_parse_currency(event->currency, um_str(currency)))
		return um_event_refuse(misread, "/currency", NULL,
			"is not a currency of ISO 4217, which has three "
			"letters");
	event->has_amount = um_amount_parse(&event->amount, um_str(amount),
		&part->amount_units, event->currency);
	return event->has_amount
		|| um_event_refuse(misread, "/amount", NULL,
			part->amount_units.form == UM_AMOUNT_MINOR
				? "is not a whole number of minor units, or is "
				  "negative"
				: "is not a decimal number with at most as "
				  "many places as the currency has");
}

/* Whether it is of the other mode, or of an account that is not configured. */
static bool
is_of_others(const struct um_event *event)
{
	return event->effect == UM_EFFECT_OTHER_MODE
		|| event->effect == UM_EFFECT_OTHER_ACCOUNT;
}

/* Not a payment: its result is sealed for its elicitation. */
static bool
may_be_unnamed(const struct um_event *event)
{
	return event->effect != UM_EFFECT_IGNORE && !um_event_accepts(event)
		&& !is_of_others(event);
}

static bool
is_ours(const struct um_event *event)
{
	return event->has_id
		|| (may_be_unnamed(event) && event->reference[0] != '\0');
}

/*
 * An amount that moves nothing is not read, so that it may be malformed. Of what
 * names no elicitation, only that of a refund can move something.
 */
static bool
needs_amount(const struct um_event *event, const struct um_spec_part *part)
{
	switch (event->effect) {
	case UM_EFFECT_IGNORE:
	case UM_EFFECT_RECHECK:
	case UM_EFFECT_SUBSCRIPTION:
	case UM_EFFECT_NAMED:
	case UM_EFFECT_OTHER_MODE:
	case UM_EFFECT_OTHER_ACCOUNT:
	case UM_EFFECT_DISPUTED:
		return false;
	case UM_EFFECT_REFUNDED:
	case UM_EFFECT_REFUND_REVERSED:
	case UM_EFFECT_RENEWED:
		return part->elicitation.kind == UM_EXPR_NONE || event->is_ours;
	default:
		return part->elicitation.kind == UM_EXPR_NONE || event->has_id;
	}
}

/*
 * Replaces the effect of an event that is of the other mode or of an account
 * that is not configured. An event that does not name its mode or account is
 * treated as one of the site. Returns NULL, or the key whose value is not a text
 * where the other one does not replace the effect.
 */
static const char *
apply_origin(const struct um_origin *origin, const struct um_source *source,
	enum um_effect *effect)
{
	struct um_value live, account;
	enum um_found has_live = um_expr_eval(&origin->live, source, &live);
	enum um_found has_account = um_expr_eval(&origin->account, source,
		&account);
	const char *bad = NULL;

	if (has_live == UM_FOUND
		&& um_strlist_has(&origin->live_is, live.text)
			== origin->takes_test)
		*effect = UM_EFFECT_OTHER_MODE;
	else if (has_account == UM_FOUND
		&& !um_strlist_has(&origin->accounts, account.text))
		*effect = UM_EFFECT_OTHER_ACCOUNT;
	else if (has_live == UM_BAD)
		bad = "/live";
	else if (has_account == UM_BAD)
		bad = "/account";
	um_value_free(&live);
	um_value_free(&account);
	return bad;
}

/* What the outcome says, as far as the signature proves it. */
static enum um_effect
effect_of(const struct um_spec_part *part, size_t outcome, bool is_proven)
{
	if (outcome == part->rules_len
		|| part->rules[outcome].effect == UM_EFFECT_IGNORE)
		return UM_EFFECT_IGNORE;
	return is_proven ? part->rules[outcome].effect : UM_EFFECT_RECHECK;
}

/* The id of the elicitation; one that is no UUID belongs to another system. */
static bool
read_id(struct um_event *event, const struct um_spec_part *part,
	const struct um_source *source, struct um_misread *misread)
{
	char id[UM_UUID_TEXT_LEN + 2];
	bool ok = um_event_fit(&part->elicitation, source, id, sizeof(id),
		"/elicitation", misread);

	event->has_id = um_uuid_parse(event->id, um_str(id));
	return ok;
}

/* The reference of the payment, and of a refund that has its own. */
static bool
read_references(struct um_event *event, const struct um_spec_part *part,
	const struct um_source *source, size_t outcome,
	struct um_misread *misread)
{
	const struct um_outcome_rule *rule = outcome < part->rules_len
		? &part->rules[outcome]
		: NULL;

	return um_event_fit(rule != NULL && rule->has_reference
			       ? &rule->reference
			       : &part->reference,
		       source, event->reference, sizeof(event->reference),
		       "/reference", misread)
		&& (rule == NULL
			|| um_event_fit(&rule->refund, source, event->refund,
				sizeof(event->refund), "/refund", misread));
}

/* Whether it is about an elicitation of ours, or its address says so. */
static bool
may_be_ours(const struct um_event *event, const struct um_spec_part *part)
{
	return event->is_ours || part->elicitation.kind == UM_EXPR_NONE;
}

/*
 * What it names: an elicitation, a payment, and itself. Each is judged only where
 * those before it leave open whether the event is ours.
 */
static bool
read_names(struct um_event *event, const struct um_spec_part *part,
	const struct um_source *source, size_t number, size_t outcome,
	struct um_misread *misread)
{
	/* The last one that is misread is the one that is reported. */
	bool has_identity = read_identity(event, part, source, number, misread);
	bool has_references = read_references(event, part, source, outcome,
		misread);
	bool has_name = read_id(event, part, source, misread);

	event->is_ours = is_ours(event);
	if (event->effect == UM_EFFECT_IGNORE || is_of_others(event))
		return true;
	if (!has_references && !event->has_id && !may_be_unnamed(event))
		return has_name;
	return has_name && has_references
		&& (has_identity || !may_be_ours(event, part));
}

/* What is captured later may not name its checkout: `processing` has named it. */
static bool
read_checkout(struct um_event *event, const struct um_spec_part *part,
	const struct um_source *source, size_t outcome,
	struct um_misread *misread)
{
	return (!um_event_accepts(event)
		       && event->effect != UM_EFFECT_PROCESSING)
		|| um_event_fit(um_event_checkout(part, outcome), source,
			event->checkout, sizeof(event->checkout), "/checkout",
			misread);
}

/* What it says of an elicitation that is ours, or may be. */
static bool
read_rest(struct um_event *event, const struct um_spec_part *part,
	const struct um_source *source, size_t outcome,
	struct um_misread *misread)
{
	if (!read_checkout(event, part, source, outcome, misread)
		|| !um_event_read_subscription(event, part, source, misread)
		|| (needs_amount(event, part)
			&& !read_amount(event, part, source, outcome, misread)))
		return false;
	um_event_read_tax(event, part, source);
	return um_event_read_details(event, part, source, outcome, misread);
}

bool
um_event_read(struct um_event *event, const struct um_spec_part *part,
	const struct um_source *source, size_t number, bool is_ambiguous,
	struct um_misread *misread)
{
	bool is_proven = !is_ambiguous && !source->has_only_token
		&& part->trust <= UM_TRUST_FIELDS;
	size_t outcome = 0;
	bool is_decided;
	const char *bad_origin = NULL;

	*event = (struct um_event){ 0 };
	is_decided = um_event_text(&part->type, source, event->type,
			     sizeof(event->type), "/type", misread)
			!= UM_BAD
		&& um_event_outcome(&outcome, part, source, event->type,
			misread);
	event->effect = is_decided ? effect_of(part, outcome, is_proven)
				   : UM_EFFECT_RECHECK;
	/* What is of others is judged no further. */
	if (event->effect != UM_EFFECT_IGNORE && is_proven)
		bad_origin = apply_origin(&part->origin, source,
			&event->effect);
	event->details.checkout_paid = event->effect == UM_EFFECT_PAID
		&& outcome < part->rules_len
		&& part->rules[outcome].checkout_paid;
	if (!is_decided && !is_of_others(event))
		return false;
	if (!read_names(event, part, source, number, outcome, misread))
		return false;
	if (!may_be_ours(event, part)) {
		read_checkout(event, part, source, outcome, misread);
		return true;
	}
	if (bad_origin != NULL)
		return um_event_refuse(misread, bad_origin, NULL,
			"is not a text");
	return read_rest(event, part, source, outcome, misread);
}
