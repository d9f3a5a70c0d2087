/* SPDX-License-Identifier: MIT */
/* Gives the schemes of a description the keys that the site has. */
#include <string.h>

#include "description/part_load.h"

/*
 * How many characters of the secret are the prefix of this scheme's keys; -1 if
 * it has another prefix, or the keys are no secrets.
 */
static int
prefix_len(const struct um_scheme *scheme, const char *secret)
{
	const char *prefix = scheme->key_prefix != NULL ? scheme->key_prefix
							: "";
	size_t len = strlen(prefix);

	return um_key_is_file(scheme->key_form)
			|| strncmp(secret, prefix, len) != 0
		? -1
		: (int)len;
}

/* Whether a secret could be one of both, because they have the same prefix. */
static bool
have_same_prefix(const struct um_scheme *a, const struct um_scheme *b)
{
	return !um_key_is_file(a->key_form) && !um_key_is_file(b->key_form)
		&& strcmp(a->key_prefix != NULL ? a->key_prefix : "",
			   b->key_prefix != NULL ? b->key_prefix : "")
		== 0;
}

/* One of two readings may fail: the secret is a key in the other one then. */
static enum um_verify_error
add_secret(struct um_scheme *scheme, const char *secret, int prefix)
{
	enum um_verify_error error = um_verifier_add_secret(scheme->verifier,
		scheme->key_form, secret + prefix);
	enum um_verify_error as_text;

	if (!scheme->key_is_text_too || error == UM_VERIFY_KEYS_TOO_MANY)
		return error;
	as_text = um_verifier_add_secret(scheme->verifier, UM_KEY_UTF8, secret);
	return as_text == UM_VERIFY_KEYS_TOO_MANY || error != UM_VERIFY_OK
		? as_text
		: UM_VERIFY_OK;
}

/* Each scheme with the longest prefix takes the secret, without the prefix. */
static bool
take_secret(struct um_spec_part *part, const struct um_conf_loc *at,
	const char *secret, size_t number)
{
	int longest = -1;

	for (size_t i = 0; i < part->schemes_len; i++) {
		int len = prefix_len(&part->schemes[i], secret);

		longest = len > longest ? len : longest;
	}
	for (size_t i = 0; i < part->schemes_len && longest >= 0; i++) {
		enum um_verify_error error;

		if (prefix_len(&part->schemes[i], secret) != longest)
			continue;
		error = add_secret(&part->schemes[i], secret, longest);
		if (error != UM_VERIFY_OK)
			return um_conf_error(at,
				"secret %zu of the configuration %s", number,
				um_verify_error_text(error));
	}
	return longest >= 0
		|| um_conf_error(at,
			part->schemes_len == 0
				? "the description does not verify signatures, "
				  "so that "
				  "secret %zu of the configuration is not used"
				: "secret %zu of the configuration does not "
				  "begin with "
				  "the `prefix` of any scheme",
			number);
}

static bool
take_certificate(struct um_spec_part *part, const struct um_conf_loc *at,
	const char *path, bool used)
{

	for (size_t i = 0; i < part->schemes_len; i++) {
		struct um_scheme *scheme = &part->schemes[i];
		enum um_verify_error error;

		if (scheme->key_form != UM_KEY_CERTIFICATE || path == NULL)
			continue;
		used = true;
		error = um_verifier_add_certificates(scheme->verifier, path);
		if (error != UM_VERIFY_OK)
			return um_conf_error(at, "the certificate %.96s %s",
				path, um_verify_error_text(error));
	}
	return used || path == NULL
		|| um_conf_error(at,
			"the configuration has a certificate, but no scheme "
			"uses one");
}

static bool
take_jwks(struct um_spec_part *part, const struct um_conf_loc *at,
	const char *path, bool used)
{
	struct um_error reason;

	for (size_t i = 0; i < part->schemes_len; i++) {
		struct um_scheme *scheme = &part->schemes[i];

		if (!scheme->is_jwt || path == NULL)
			continue;
		used = true;
		if (!um_conf_copy_text(at, path, &scheme->jwks_file))
			return false;
		if (!um_scheme_read_keys(scheme, &reason))
			return um_conf_error(at, "the jwks_file %s",
				reason.text);
	}
	return used || path == NULL
		|| um_conf_error(at,
			"the configuration has a jwks_file, but no scheme "
			"uses one");
}

/*
 * A public key is not secret: used as an HMAC key, it would let anyone sign.
 * Schemes that take the same texts must therefore all have public keys, or none.
 */
static bool
check_prefixes(const struct um_spec_part *part, const struct um_conf_loc *at)
{
	for (size_t i = 1; i < part->schemes_len; i++) {
		const struct um_scheme *scheme = &part->schemes[i];
		struct um_conf_loc here = um_conf_element(at, i);

		for (size_t j = 0; j < i; j++)
			if (scheme->is_public != part->schemes[j].is_public
				&& have_same_prefix(scheme, &part->schemes[j]))
				return um_conf_member_error(&here, "key",
					"takes the same secrets as a scheme "
					"before it, and only one of them is of "
					"public keys: give each a `prefix`");
	}
	return true;
}

/* A JSON Web Token has the digest of a body: that of a webhook's delivery. */
static bool
check_tokens(const struct um_spec_part *part, const struct um_conf_loc *at,
	bool is_return)
{
	for (size_t i = 0; i < part->schemes_len; i++) {
		struct um_conf_loc here = um_conf_element(at, i);

		if (part->schemes[i].is_jwt && (is_return || part->of_items))
			return um_conf_member_error(&here, "algorithm",
				"`jwt` is only for a webhook that signs whole "
				"deliveries");
	}
	return true;
}

bool
um_spec_part_take_keys(struct um_spec_part *part, const struct um_conf_loc *at,
	const struct um_provider_env *env, bool is_return)
{
	bool own = is_return && env->return_secrets_len != 0;
	const char *const *secrets = own ? env->return_secrets : env->secrets;
	size_t len = own ? env->return_secrets_len : env->secrets_len;
	struct um_conf_loc here = um_conf_member(at, "verify");
	bool any = false;

	if (!check_prefixes(part, &here)
		|| !check_tokens(part, &here, is_return))
		return false;
	for (size_t i = 0; i < len; i++)
		if (!take_secret(part, &here, secrets[i], i + 1))
			return false;
	/* The return part need not use the certificate of the webhook. */
	if (!take_certificate(part, &here, env->certificate, is_return)
		|| !take_jwks(part, &here, env->jwks_file, is_return))
		return false;
	for (size_t i = 0; i < part->schemes_len; i++) {
		struct um_scheme *scheme = &part->schemes[i];

		scheme->has_keys = scheme->jwks != NULL
			|| um_verifier_count_keys(scheme->verifier) != 0;
		any |= scheme->has_keys;
	}
	return part->schemes_len == 0 || any
		|| um_conf_error(&here,
			"the configuration has no secret, certificate or "
			"jwks_file for it");
}
