/* SPDX-License-Identifier: MIT */
/* What a description claims to be proven, and the keys that prove it. */
#include <string.h>

#include "webhook/spec_part.h"

static bool
proves(const struct um_spec_part *reader, const struct um_expr *value)
{
	for (size_t i = 0; i < reader->schemes_len; i++)
		if (!um_scheme_proves(&reader->scheme[i], value,
			    &reader->payload, &reader->timestamp))
			return false;
	return reader->schemes_len != 0;
}

/* Everything that decides: which elicitation, what became of it, how much. */
static bool
prove_deciding(const struct um_spec_part *reader, const struct um_conf_loc *at)
{
	static const char unsigned_[] = "is not signed, or what is signed can "
					"be cut in another way: believe only "
					"`part`, or leave it out";
	const struct {
		const char *key;
		const struct um_expr *value;
	} values[] = {
		{ "elicitation", &reader->elicitation },
		{ "type", &reader->type },
		{ "amount", &reader->amount },
		{ "currency", &reader->currency },
	};

	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
		if (values[i].value->kind != UM_EXPR_NONE
			&& !proves(reader, values[i].value))
			return um_conf_member_error(at, values[i].key,
				unsigned_);
	for (size_t i = 0; i < reader->rules_len; i++) {
		const struct um_outcome_rule *rule = &reader->rules[i];
		struct um_conf_loc list = um_conf_member(at, "outcomes");
		struct um_conf_loc here = um_conf_element(&list, i);

		for (size_t j = 0; j < rule->conditions_len; j++)
			if (!proves(reader, &rule->condition[j].from))
				return um_conf_member_error(&here, "when",
					unsigned_);
	}
	return true;
}

static bool
prove_body(const struct um_spec_part *reader, const struct um_conf_loc *at)
{
	for (size_t i = 0; i < reader->schemes_len; i++)
		if (!um_scheme_proves_body(&reader->scheme[i], &reader->payload,
			    &reader->timestamp))
			return um_conf_member_error(at, "believed",
				"`body`, but not every scheme signs the body");
	return true;
}

/* Without a proof an event can only make somebody ask. */
static bool
only_recheck(const struct um_spec_part *reader, const struct um_conf_loc *at)
{
	for (size_t i = 0; i < reader->rules_len; i++) {
		enum um_effect meaning = reader->rules[i].meaning;
		struct um_conf_loc list = um_conf_member(at, "outcomes");
		struct um_conf_loc here = um_conf_element(&list, i);

		if (meaning != UM_EFFECT_RECHECK && meaning != UM_EFFECT_IGNORE)
			return um_conf_member_error(&here, "means",
				"can only be `recheck` or `ignore`, as "
				"believed");
	}
	return true;
}

/* Whether the list of schemes is one for this belief. */
static bool
fits_belief(const struct um_spec_part *reader, const struct um_conf_loc *at)
{
	bool nothing = reader->belief == UM_TRUST_NOTHING;
	bool token = reader->belief == UM_TRUST_TOKEN;

	if (nothing != (reader->schemes_len == 0))
		return um_conf_member_error(at, "believed",
			nothing ? "`nothing`, but there is a scheme to verify"
				: "something, but there is no scheme");
	for (size_t i = 0; i < reader->schemes_len; i++)
		if (reader->scheme[i].is_token != token)
			return um_conf_member_error(at, "believed",
				token ? "`token`, but a scheme has none"
				      : "more than the `token` of a scheme");
	return true;
}

bool
um_spec_part_prove(const struct um_spec_part *reader,
	const struct um_conf_loc *at)
{
	if (!fits_belief(reader, at))
		return false;
	if (reader->belief == UM_TRUST_BODY && !prove_body(reader, at))
		return false;
	if (reader->timestamp.kind != UM_EXPR_NONE
		&& !proves(reader, &reader->timestamp))
		return um_conf_member_error(at, "timestamp", "is not signed");
	if (reader->identity.kind != UM_EXPR_NONE
		&& !proves(reader, &reader->identity))
		return um_conf_member_error(at, "identity",
			"is not signed: leave it out, and the body's digest "
			"counts");
	return reader->belief > UM_TRUST_FIELDS ? only_recheck(reader, at)
						: prove_deciding(reader, at);
}

static bool
take_secret(struct um_spec_part *reader, const struct um_conf_loc *at,
	const char *secret, size_t number)
{
	for (size_t i = 0; i < reader->schemes_len; i++) {
		const char *reason;

		if (!um_scheme_wants(&reader->scheme[i], secret))
			continue;
		reason = um_scheme_take(&reader->scheme[i], secret);
		return reason == NULL
			|| um_conf_error(at,
				"secret %zu of the configuration %s", number,
				reason);
	}
	return um_conf_error(at,
		reader->schemes_len == 0
			? "the description verifies nothing, and has no use "
			  "for secret %zu of the configuration"
			: "secret %zu of the configuration begins like none "
			  "of a scheme's keys",
		number);
}

static bool
take_certificate(struct um_spec_part *reader, const struct um_conf_loc *at,
	const char *path, bool used)
{

	for (size_t i = 0; i < reader->schemes_len; i++) {
		struct um_scheme *scheme = &reader->scheme[i];
		const char *reason;

		if (scheme->key_form != UM_KEY_CERTIFICATE || path == NULL)
			continue;
		used = true;
		reason = um_verifier_add_certificates(scheme->verifier, path);
		if (reason != NULL)
			return um_conf_error(at, "the certificate %.96s %s",
				path, reason);
	}
	return used || path == NULL
		|| um_conf_error(at, "no scheme has a use for a certificate");
}

bool
um_spec_part_take_keys(struct um_spec_part *reader,
	const struct um_conf_loc *at, const struct um_provider_env *site,
	bool is_return)
{
	bool own = is_return && site->return_secrets_len != 0;
	const char *const *secrets = own ? site->return_secrets : site->secrets;
	size_t len = own ? site->return_secrets_len : site->secrets_len;
	struct um_conf_loc here = um_conf_member(at, "verify");
	size_t keys = 0;

	for (size_t i = 0; i < len; i++)
		if (!take_secret(reader, &here, secrets[i], i + 1))
			return false;
	/* A return need not use what the webhook does. */
	if (!take_certificate(reader, &here, site->certificate, is_return))
		return false;
	for (size_t i = 0; i < reader->schemes_len; i++)
		keys += um_verifier_count_keys(reader->scheme[i].verifier);
	return reader->schemes_len == 0 || keys != 0
		|| um_conf_error(&here,
			"the configuration has no secret or "
			"certificate for it");
}
