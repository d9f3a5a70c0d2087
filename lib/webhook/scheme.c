/* SPDX-License-Identifier: MIT */
#include "webhook/scheme.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
		params->param[params->len++] = (struct um_field){ name, value };
	} while (text.ptr != NULL);
	return true;
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
	free(scheme->separator);
	free(scheme->equals);
	free(scheme->key_prefix);
	um_verifier_free(scheme->verifier);
	*scheme = (struct um_scheme){ 0 };
}

int
um_scheme_prefix_len(const struct um_scheme *scheme, const char *secret)
{
	size_t len = scheme->key_prefix != NULL ? strlen(scheme->key_prefix)
						: 0;

	return scheme->key_form == UM_KEY_CERTIFICATE
			|| (len != 0
				&& strncmp(secret, scheme->key_prefix, len)
					!= 0)
		? -1
		: (int)len;
}

bool
um_scheme_has_prefix_of(const struct um_scheme *scheme,
	const struct um_scheme *other)
{
	const char *a = scheme->key_prefix, *b = other->key_prefix;

	return scheme->key_form != UM_KEY_CERTIFICATE
		&& other->key_form != UM_KEY_CERTIFICATE
		&& strcmp(a != NULL ? a : "", b != NULL ? b : "") == 0;
}

const char *
um_scheme_take(struct um_scheme *scheme, const char *secret)
{
	if (scheme->key_prefix != NULL)
		secret += strlen(scheme->key_prefix);
	return um_verifier_add_secret(scheme->verifier, scheme->key_form,
		secret);
}

/* Adds a signature without its prefix, one of which must be there. */
static enum um_found
add(struct candidates *candidates, const struct um_scheme *scheme,
	struct um_str text)
{
	bool found = scheme->prefixes.len == 0;

	for (size_t i = 0; i < scheme->prefixes.len && !found; i++) {
		struct um_str prefix = um_str(scheme->prefixes.item[i]);

		found = text.len > prefix.len
			&& memcmp(text.ptr, prefix.ptr, prefix.len) == 0;
		if (found) {
			text.ptr += prefix.len;
			text.len -= prefix.len;
		}
	}
	if (!found || text.len == 0)
		return UM_BAD;
	candidates->text[candidates->len++] = text;
	return UM_FOUND;
}

static enum um_found
collect_numbered(struct candidates *candidates, const struct um_scheme *scheme,
	const struct um_delivery *delivery)
{
	while (candidates->len < UM_SIGNATURES_MAX) {
		char name[UM_EXPR_HEADER_MAX + 4];
		const char *text;

		snprintf(name, sizeof(name), "%s%zu",
			scheme->from.names.item[0], candidates->len + 1);
		text = delivery->header(name, delivery->arg);
		if (text == NULL || text[0] == '\0')
			break;
		if (add(candidates, scheme, um_str(text)) != UM_FOUND)
			return UM_BAD;
	}
	return candidates->len != 0 ? UM_FOUND : UM_ABSENT;
}

/* Of a header with parameters, those that are signatures. */
static enum um_found
collect_fields(struct candidates *candidates, const struct um_scheme *scheme,
	struct um_params *params, struct um_str text)
{
	if (!um_scheme_split_params(params, text, scheme->separator,
		    scheme->equals))
		return UM_BAD;
	for (size_t i = 0; i < params->len; i++)
		if (um_strlist_has(&scheme->fields, params->param[i].name)
			&& add(candidates, scheme, params->param[i].value)
				!= UM_FOUND)
			return UM_BAD;
	return candidates->len != 0 ? UM_FOUND : UM_BAD;
}

static enum um_found
collect(struct candidates *candidates, const struct um_scheme *scheme,
	struct um_parsed_delivery *parsed)
{
	enum um_found found;

	parsed->params.len = 0;
	um_buf_free(&parsed->signature);
	if (scheme->numbered)
		return collect_numbered(candidates, scheme, parsed->delivery);
	found = um_expr_eval(&scheme->from, parsed, &parsed->signature);
	if (found == UM_FOUND && parsed->signature.failed)
		return UM_BAD;
	if (found != UM_FOUND)
		return found;
	if (scheme->fields.len != 0)
		return collect_fields(candidates, scheme, &parsed->params,
			um_buf_str(&parsed->signature));
	return add(candidates, scheme, um_buf_str(&parsed->signature));
}

/* The body, where it is signed; otherwise the end. */
static size_t
find_body(const struct um_scheme *scheme)
{
	for (size_t i = 0; i < scheme->parts_len; i++)
		if (scheme->parts[i].kind == UM_EXPR_BODY)
			return i;
	return scheme->parts_len;
}

/* Whether the separator, which begins at `start`, occurs again later. */
static bool
separator_repeats(const struct um_buf *out, size_t start, const char *separator)
{
	return memmem(out->ptr + start + 1, out->len - start - 1, separator,
		       strlen(separator))
		!= NULL;
}

/*
 * Puts the signed text together. It is unambiguous if each value before the
 * body ends at the first occurrence of the literal after it, and each value
 * after the body begins at the last occurrence of the literal before it.
 */
static enum um_found
put_signed(const struct um_scheme *scheme, struct um_parsed_delivery *parsed,
	struct um_buf *out)
{
	size_t body = find_body(scheme), before = 0;
	bool fixed_before = true;

	for (size_t i = 0; i < scheme->parts_len; i++) {
		const struct um_expr *part = &scheme->parts[i];
		bool fixed = part->kind == UM_EXPR_LITERAL;
		size_t start = out->len;
		enum um_found found = um_expr_eval(part, parsed, out);

		if (found == UM_BAD || out->failed)
			return UM_BAD;
		if (found == UM_ABSENT && part->kind != UM_EXPR_BODY)
			return UM_ABSENT;
		if (fixed && !fixed_before && i <= body
			&& um_expr_separator_is_ambiguous(out, before,
				part->text))
			parsed->ambiguous = true;
		if (!fixed && fixed_before && i > body && i != 0
			&& separator_repeats(out, before,
				scheme->parts[i - 1].text))
			parsed->ambiguous = true;
		before = start;
		fixed_before = fixed;
	}
	return UM_FOUND;
}

enum um_check
um_scheme_check(const struct um_scheme *scheme,
	struct um_parsed_delivery *parsed)
{
	struct candidates candidates = { 0 };
	struct um_buf message = { 0 };
	enum um_check check = UM_CHECK_WRONG;
	enum um_found found;

	parsed->ambiguous = false;
	/* Most schemes sign the body and little else. */
	um_buf_reserve(&message, parsed->delivery->body.len + 256);
	found = collect(&candidates, scheme, parsed);
	if (found == UM_FOUND)
		found = put_signed(scheme, parsed, &message);
	if (found == UM_ABSENT)
		check = UM_CHECK_NONE;
	else if (found == UM_FOUND
		&& !(scheme->answers_digits
			&& um_expr_is_digits(um_buf_str(&message)))
		&& um_verifier_match(scheme->verifier, um_buf_str(&message),
			candidates.text, candidates.len,
			parsed->delivery->now_ms))
		check = UM_CHECK_RIGHT;
	um_buf_free(&message);
	return check;
}

bool
um_scheme_sign(const struct um_scheme *scheme,
	struct um_parsed_delivery *parsed, struct um_str params,
	struct um_buf *out)
{
	struct um_buf message = { 0 };
	bool ok = put_signed(scheme, parsed, &message) == UM_FOUND;

	um_buf_put(out, params.ptr, params.len);
	if (scheme->fields.len != 0)
		um_buf_cat(out, scheme->fields.item[0], scheme->equals);
	if (scheme->prefixes.len != 0)
		um_buf_puts(out, scheme->prefixes.item[0]);
	ok = ok
		&& um_verifier_sign(scheme->verifier, um_buf_str(&message),
			out);
	um_buf_free(&message);
	return ok;
}
