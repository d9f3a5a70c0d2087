/* SPDX-License-Identifier: MIT */
#include "webhook/scheme.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/sha.h>

#include "core/encode.h"
#include "jose/jws.h"

#define CLAIMS_MAX 4096 /* values and names in a token */

_Static_assert(UM_PARAMS_MAX <= UM_SIGNATURES_MAX,
	"each parameter of a header may be a signature");

bool
um_scheme_split_params(struct um_params *params, struct um_str text,
	const char *separator, const char *equals)
{
	params->len = 0;
	do {
		struct um_str value = um_str_trim(um_str_cut(&text, separator));
		struct um_str name = um_str_cut(&value, equals);

		if (params->len == UM_PARAMS_MAX || name.len == 0
			|| value.ptr == NULL)
			return false;
		params->param[params->len++] = (struct um_field){ name, value,
			false };
	} while (text.ptr != NULL);
	return true;
}

bool
um_scheme_name_params(struct um_params *params, struct um_str text,
	const char *separator, const struct um_strlist *order)
{
	params->len = 0;
	do {
		struct um_str value = um_str_trim(um_str_cut(&text, separator));

		if (params->len == order->len || params->len == UM_PARAMS_MAX
			|| value.len == 0)
			return false;
		params->param[params->len] = (struct um_field){
			um_str(order->item[params->len]), value, false
		};
		params->len++;
	} while (text.ptr != NULL);
	return params->len == order->len;
}

/* The signatures of one delivery, as text. */
struct candidates {
	size_t len;
	struct um_str text[UM_SIGNATURES_MAX];
};

void
um_scheme_free(struct um_scheme *scheme)
{
	um_expr_free(&scheme->from);
	for (size_t i = 0; i < scheme->parts_len; i++)
		um_expr_free(&scheme->parts[i]);
	free(scheme->parts);
	um_strlist_free(&scheme->prefixes);
	um_strlist_free(&scheme->fields);
	um_strlist_free(&scheme->order);
	free(scheme->separator);
	free(scheme->equals);
	free(scheme->list_separator);
	free(scheme->key_prefix);
	um_verifier_free(scheme->verifier);
	um_pointer_free(&scheme->digest);
	um_jwks_free(scheme->jwks);
	free(scheme->jwks_file);
	*scheme = (struct um_scheme){ 0 };
}

/* Adds a signature without its prefix, one of which must be there. */
static enum um_verify_error
add(struct candidates *candidates, const struct um_scheme *scheme,
	struct um_str text)
{
	struct um_str rest = text;
	bool found = scheme->prefixes.len == 0;

	for (size_t i = 0; i < scheme->prefixes.len && !found; i++) {
		rest = text;
		found = um_str_take_prefix(&rest, scheme->prefixes.item[i])
			&& rest.len != 0;
	}
	if (!found || rest.len == 0)
		return UM_VERIFY_NO_PREFIX;
	candidates->text[candidates->len++] = rest;
	return UM_VERIFY_OK;
}

static enum um_verify_error
collect_numbered(struct candidates *candidates, const struct um_scheme *scheme,
	const struct um_delivery *delivery)
{
	enum um_verify_error error = UM_VERIFY_OK;

	while (candidates->len < UM_SIGNATURES_MAX && error == UM_VERIFY_OK) {
		char name[UM_EXPR_HEADER_MAX + 4];
		const char *text;

		snprintf(name, sizeof(name), "%s%zu",
			scheme->from.names.item[0], candidates->len + 1);
		text = delivery->header(name, delivery->arg);
		if (text == NULL || text[0] == '\0')
			break;
		error = add(candidates, scheme, um_str(text));
	}
	return error;
}

/* Of a header with parameters, those that are signatures. */
static enum um_verify_error
collect_fields(struct candidates *candidates, const struct um_scheme *scheme,
	struct um_params *params, struct um_str text)
{
	enum um_verify_error error = UM_VERIFY_OK;
	bool ok = scheme->order.len != 0
		? um_scheme_name_params(params, text, scheme->separator,
			&scheme->order)
		: um_scheme_split_params(params, text, scheme->separator,
			scheme->equals);

	if (!ok)
		return UM_VERIFY_NOT_PARAMETERS;
	for (size_t i = 0; i < params->len && error == UM_VERIFY_OK; i++)
		if (um_strlist_has(&scheme->fields, params->param[i].name))
			error = add(candidates, scheme, params->param[i].value);
	return error == UM_VERIFY_OK && candidates->len == 0
		? UM_VERIFY_NO_FIELD
		: error;
}

/* Finds the signatures; none where they are absent. */
static enum um_verify_error
collect(struct candidates *candidates, const struct um_scheme *scheme,
	const struct um_source *source, struct um_signature *signature)
{
	enum um_found found;

	if (scheme->numbered)
		return collect_numbered(candidates, scheme,
			source->parsed->delivery);
	found = um_expr_eval(&scheme->from, source, &signature->value);
	if (found != UM_FOUND)
		return found == UM_BAD ? UM_VERIFY_VALUE_BAD : UM_VERIFY_OK;
	if (scheme->list_separator != NULL) {
		candidates->text[candidates->len++] = signature->value.text;
		return UM_VERIFY_OK;
	}
	if (scheme->fields.len != 0)
		return collect_fields(candidates, scheme, &signature->params,
			signature->value.text);
	return add(candidates, scheme, signature->value.text);
}

void
um_signature_free(struct um_signature *signature)
{
	um_value_free(&signature->value);
	free(signature->claims);
	*signature = (struct um_signature){ 0 };
}

/* Verifies the signatures of the signed values, if these are all there. */
static enum um_check
check_signed(const struct um_scheme *scheme, const struct um_source *source,
	const struct candidates *candidates, struct um_signature *signature)
{
	struct um_buf message = { 0 };
	enum um_found found = um_scheme_put_signed(scheme, source, &message,
		&signature->is_ambiguous);

	if (found == UM_BAD)
		signature->error = UM_VERIFY_VALUE_BAD;
	else if (scheme->answers_digits
		&& um_expr_is_digits(um_buf_str(&message)))
		signature->error = UM_VERIFY_DIGITS;
	else if (found == UM_FOUND)
		signature->error = um_verifier_match(scheme->verifier,
			um_buf_str(&message), candidates->text, candidates->len,
			source->parsed->delivery->now_ms);
	um_buf_free(&message);
	if (found == UM_ABSENT)
		return UM_CHECK_NONE;
	return signature->error == UM_VERIFY_OK ? UM_CHECK_RIGHT
						: UM_CHECK_WRONG;
}

/* Verifies one list of parameters; the signed text has its own values. */
static enum um_check
check_list(const struct um_scheme *scheme, const struct um_source *source,
	struct um_str list, struct um_signature *signature)
{
	struct candidates candidates = { 0 };

	signature->is_ambiguous = false;
	signature->error = collect_fields(&candidates, scheme,
		&signature->params, list);
	return signature->error == UM_VERIFY_OK
		? check_signed(scheme, source, &candidates, signature)
		: UM_CHECK_WRONG;
}

/*
 * Of several lists the first that is right counts, with the values beside its
 * signature. A malformed list is refused even beside a right one.
 */
static enum um_check
check_lists(const struct um_scheme *scheme, const struct um_source *source,
	struct um_signature *signature)
{
	struct um_str rest = signature->value.text;
	struct um_signature right = { 0 };
	enum um_check check = UM_CHECK_WRONG;

	while (rest.ptr != NULL) {
		struct um_str list = um_str_cut(&rest, scheme->list_separator);

		signature->list = ++signature->lists;
		if (signature->lists > UM_LISTS_MAX) {
			signature->error = UM_VERIFY_TOO_MANY;
			return UM_CHECK_WRONG;
		}
		check = check_list(scheme, source, list, signature);
		if (check == UM_CHECK_RIGHT && right.list == 0)
			right = *signature;
		if (check != UM_CHECK_RIGHT
			&& signature->error != UM_VERIFY_WRONG)
			return check;
	}
	if (right.list == 0)
		return check;
	signature->params = right.params;
	signature->list = right.list;
	signature->is_ambiguous = right.is_ambiguous;
	signature->error = UM_VERIFY_OK;
	return UM_CHECK_RIGHT;
}

bool
um_scheme_read_keys(struct um_scheme *scheme, struct um_error *err)
{
	struct um_jwks *jwks;

	if (scheme->jwks_file == NULL
		|| (!um_file_changed(&scheme->jwks_version, scheme->jwks_file)
			&& scheme->jwks != NULL))
		return true;
	if (!um_jwks_load(&jwks, scheme->jwks_file, err))
		return false;
	um_jwks_free(scheme->jwks);
	scheme->jwks = jwks;
	return true;
}

/* Whether the claim at the pointer is the SHA-256 of the body. */
static bool
has_digest(const struct um_json_node *claims, const struct um_pointer *at,
	struct um_str body)
{
	const struct um_json_node *claim = um_pointer_find(at, claims);
	uint8_t digest[SHA256_DIGEST_LENGTH];
	char hex[2 * SHA256_DIGEST_LENGTH + 1];

	SHA256((const uint8_t *)(body.len != 0 ? body.ptr : ""), body.len,
		digest);
	um_hex_encode(hex, digest, sizeof(digest));
	return um_json_string_eq(claim, um_str(hex));
}

static enum um_verify_error
error_of(enum um_jws_verdict verdict)
{
	switch (verdict) {
	case UM_JWS_GOOD:
		return UM_VERIFY_OK;
	case UM_JWS_UNKNOWN_KEY:
		return UM_VERIFY_UNKNOWN_KEY;
	case UM_JWS_FORGED:
		return UM_VERIFY_WRONG;
	default:
		return UM_VERIFY_NOT_A_JWT;
	}
}

/* A token is as good as its signature, and is about this body alone. */
static enum um_verify_error
check_token(const struct um_scheme *scheme, struct um_str token,
	const struct um_delivery *delivery, struct um_signature *signature)
{
	struct um_buf payload = { 0 };
	enum um_verify_error error = error_of(
		um_jws_verify(&payload, token, scheme->jwks));

	if (error == UM_VERIFY_OK) {
		signature->claims = um_json_parse(um_buf_str(&payload),
			CLAIMS_MAX, NULL);
		if (!has_digest(signature->claims, &scheme->digest,
			    delivery->body))
			error = UM_VERIFY_OTHER_BODY;
	}
	um_buf_free(&payload);
	return error;
}

enum um_check
um_scheme_check(const struct um_scheme *scheme, const struct um_source *source,
	struct um_signature *signature)
{
	struct candidates candidates = { 0 };
	struct um_source with_params = *source;

	um_signature_free(signature);
	with_params.params = &signature->params;
	signature->error = collect(&candidates, scheme, source, signature);
	if (signature->error != UM_VERIFY_OK)
		return UM_CHECK_WRONG;
	if (candidates.len == 0)
		return UM_CHECK_NONE;
	if (scheme->list_separator != NULL)
		return check_lists(scheme, &with_params, signature);
	if (!scheme->is_jwt)
		return check_signed(scheme, &with_params, &candidates,
			signature);
	signature->error = check_token(scheme, candidates.text[0],
		source->parsed->delivery, signature);
	return signature->error == UM_VERIFY_OK ? UM_CHECK_RIGHT
						: UM_CHECK_WRONG;
}
