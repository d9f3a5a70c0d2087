/* SPDX-License-Identifier: MIT */
/* Whether the schemes of a description prove what it claims. */
#include <string.h>

#include "description/part_load.h"
#include "description/scheme_load.h"

/*
 * Whether each scheme that signs proves the value. What comes with a token alone
 * is a recheck in any case.
 */
static bool
proves(const struct um_spec_part *part, const struct um_expr *expr)
{
	bool any = false;

	for (size_t i = 0; i < part->schemes_len; i++) {
		const struct um_scheme *scheme = &part->schemes[i];

		if (scheme->is_token && part->trust != UM_TRUST_TOKEN)
			continue;
		if (!um_scheme_proves(scheme, expr, &part->payload,
			    &part->timestamp))
			return false;
		any = true;
	}
	return any;
}

/*
 * The values that decide: from where, which elicitation, with which outcome,
 * which payment, how much.
 */
static bool
check_deciding(const struct um_spec_part *part, const struct um_conf_loc *at)
{
	static const char unsigned_[] =
		"is not signed, or the signed text is ambiguous: leave it out, "
		"or set `trust` to `part`";
	const struct {
		const char *key;
		const struct um_expr *value;
	} values[] = {
		{ "live", &part->origin.live },
		{ "account", &part->origin.account },
		{ "elicitation", &part->elicitation },
		{ "type", &part->type },
		{ "amount", &part->amount },
		{ "currency", &part->currency },
		{ "reference", &part->reference },
		{ "checkout", &part->checkout },
		{ "tax", &part->tax },
		{ "time", &part->time.from },
	};

	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
		if (values[i].value->kind != UM_EXPR_NONE
			&& !proves(part, values[i].value))
			return um_conf_member_error(at, values[i].key,
				unsigned_);
	if (part->subscription.given && part->trust != UM_TRUST_BODY)
		return um_conf_member_error(at, "subscription",
			"can only be used with the `trust` `body`");
	for (size_t i = 0; i < part->rules_len; i++) {
		const struct um_outcome_rule *rule = &part->rules[i];
		struct um_conf_loc list = um_conf_member(at, "outcomes");
		struct um_conf_loc here = um_conf_element(&list, i);

		const struct {
			const char *key;
			const struct um_expr *value;
		} own[] = {
			{ "amount", &rule->amount },
			{ "reference", &rule->reference },
			{ "checkout", &rule->checkout },
			{ "refund", &rule->refund },
			{ "state", &rule->state },
			{ "evidence_due", &rule->evidence_due.from },
			{ "also", &rule->also },
		};

		for (size_t j = 0; j < sizeof(own) / sizeof(own[0]); j++)
			if (own[j].value->kind != UM_EXPR_NONE
				&& !proves(part, own[j].value))
				return um_conf_member_error(&here, own[j].key,
					unsigned_);
		for (size_t j = 0; j < rule->when.len; j++)
			if (!proves(part, &rule->when.condition[j].from))
				return um_conf_member_error(&here, "when",
					unsigned_);
	}
	return true;
}

/* An unproven event can only cause a question to the provider's API. */
static bool
check_recheck(const struct um_spec_part *part, const struct um_conf_loc *at)
{
	static const char unproven[] =
		"cannot be used with this `trust`, because it is not proven";

	for (size_t i = 0; i < part->rules_len; i++) {
		enum um_effect effect = part->rules[i].effect;
		struct um_conf_loc list = um_conf_member(at, "outcomes");
		struct um_conf_loc here = um_conf_element(&list, i);

		if (effect != UM_EFFECT_RECHECK && effect != UM_EFFECT_IGNORE)
			return um_conf_member_error(&here, "effect",
				"can only be `recheck` or `ignore` with this "
				"`trust`");
	}
	if (part->subscription.given)
		return um_conf_member_error(at, "subscription", unproven);
	if (part->origin.live.kind != UM_EXPR_NONE)
		return um_conf_member_error(at, "live", unproven);
	if (part->origin.account.kind != UM_EXPR_NONE)
		return um_conf_member_error(at, "account", unproven);
	return true;
}

/* Refuses schemes that do not go with `trust`. */
static bool
check_schemes(const struct um_spec_part *part, const struct um_conf_loc *at)
{
	bool nothing = part->trust == UM_TRUST_NOTHING;
	bool token = part->trust == UM_TRUST_TOKEN;
	size_t tokens = 0;

	if (nothing != (part->schemes_len == 0))
		return um_conf_member_error(at, "trust",
			nothing ? "is `nothing`, but `verify` has a scheme"
				: "must be `nothing`, because `verify` has no "
				  "scheme");
	for (size_t i = 0; i < part->schemes_len; i++)
		tokens += part->schemes[i].is_token;
	if (token && tokens != part->schemes_len)
		return um_conf_member_error(at, "trust",
			"is `token`, but a scheme is not one of a token");
	return token || nothing || tokens != part->schemes_len
		|| um_conf_member_error(at, "trust",
			"must be `token`, because no scheme has a signature");
}

/*
 * Before anything is verified, only a query, a form and headers are read, and
 * what is answered is no value that somebody has sent.
 */
static bool
check_unsigned(const struct um_challenge *challenge,
	const struct um_conf_loc *at)
{
	unsigned needs = 0;

	for (size_t i = 0; i < challenge->len; i++)
		if (challenge->piece[i].value.kind != UM_EXPR_NONE
			&& challenge->piece[i].value.kind != UM_EXPR_LITERAL)
			return um_conf_member_error(at, "answer",
				"can only have constants if `signed` is false");
	for (size_t i = 0; i < challenge->when.len; i++)
		needs |= um_expr_needs(&challenge->when.condition[i].from);
	return (needs & (UM_NEED_JSON | UM_NEED_MULTIPART)) == 0
		|| um_conf_member_error(at, "when",
			"can only have a query, a form and headers if `signed` "
			"is false");
}

/*
 * Anyone who chose the MAC's input could forge deliveries. So a POST that is
 * answered with a MAC must be signed itself. In a GET, which nothing signs, the
 * MAC is of hexadecimal digits only, and a delivery that signs nothing but such
 * digits is refused (um_scheme_check()).
 */
static bool
check_challenge(struct um_spec_part *part, const struct um_conf_loc *at)
{
	struct um_conf_loc here = um_conf_member(at, "challenge");
	const struct um_challenge *challenge = &part->challenge;

	if (challenge->exists && !challenge->is_get
		&& (part->schemes_len == 0 || part->of_items))
		return um_conf_member_error(&here, "method",
			"is POST, but not every delivery is signed as a whole");
	if (challenge->is_unsigned && !check_unsigned(challenge, &here))
		return false;
	for (size_t i = 0; i < challenge->len; i++) {
		const struct um_expr *value = &challenge->piece[i].value;

		if (!um_expr_uses(value, UM_EXPR_MAC))
			continue;
		if (part->schemes_len == 0 || !part->schemes[0].is_hmac)
			return um_conf_member_error(&here, "answer",
				"needs an HMAC as the first scheme for `mac`");
		if (!challenge->is_get && !proves(part, value))
			return um_conf_member_error(&here, "answer",
				"has a `mac` of what is not signed");
		for (size_t j = 0; j < part->schemes_len; j++)
			part->schemes[j].answers_digits = challenge->is_get;
	}
	return true;
}

bool
um_spec_part_check_trust(struct um_spec_part *part,
	const struct um_conf_loc *at)
{
	static const struct um_expr body = { .kind = UM_EXPR_BODY };

	if (!check_schemes(part, at) || !check_challenge(part, at))
		return false;
	if (part->trust == UM_TRUST_BODY && !proves(part, &body))
		return um_conf_member_error(at, "trust",
			"is `body`, but not every scheme signs the body "
			"unambiguously");
	if (part->timestamp.kind != UM_EXPR_NONE
		&& !proves(part, &part->timestamp))
		return um_conf_member_error(at, "timestamp", "is not signed");
	if (part->identity.kind != UM_EXPR_NONE
		&& !proves(part, &part->identity))
		return um_conf_member_error(at, "identity",
			"is not signed: leave it out, and the digest of the "
			"body is used");
	return part->trust > UM_TRUST_FIELDS ? check_recheck(part, at)
					     : check_deciding(part, at);
}
