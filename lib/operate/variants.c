/* SPDX-License-Identifier: MIT */
#include "operate/variants.h"

#include <stdio.h>
#include <string.h>

#define PREFIX_MAX 32

/* What the headers of a delivery are called, in place of the description's names. */
struct names {
	const struct um_delivery *delivery;
	const struct um_scheme *scheme;
	/* Names that begin with this begin with that; or NULL. */
	const char *from, *to;
	/* The header that has the signature; or NULL. */
	const char *signature;
};

/* Names that providers have exchanged, or that come from two standards. */
static const char *const renamings[][2] = { { "webhook-", "svix-" },
	{ "svix-", "webhook-" }, { "x-", "" }, { "", "x-" } };

static const char *
header(const char *name, void *arg)
{
	const struct names *names = arg;
	const struct um_delivery *delivery = names->delivery;
	char other[UM_EXPR_HEADER_MAX + PREFIX_MAX];

	if (names->signature != NULL
		&& um_strlist_has(&names->scheme->from.names, um_str(name)))
		return delivery->header(names->signature, delivery->arg);
	if (names->from == NULL
		|| strncmp(name, names->from, strlen(names->from)) != 0)
		return delivery->header(name, delivery->arg);
	snprintf(other, sizeof(other), "%s%s", names->to,
		name + strlen(names->from));
	return delivery->header(other, delivery->arg);
}

/* Whether the scheme, as it is now, takes the delivery with these names. */
static bool
is_right(const struct um_spec_part *part, const struct names *names)
{
	const struct um_delivery delivery = { .query = names->delivery->query,
		.content_type = names->delivery->content_type,
		.body = names->delivery->body,
		.header = header,
		.arg = (void *)names,
		.now_ms = names->delivery->now_ms };
	struct um_parsed parsed = { .delivery = &delivery };
	struct um_signature signature = { 0 };
	struct um_source source = { .parsed = &parsed };
	enum um_check check;

	um_parsed_read(&parsed, &part->payload, part->signature_needs, false);
	if (names->scheme->of_items)
		source.item = um_json_next(parsed.events, NULL);
	check = um_scheme_check(names->scheme, &source, &signature);
	um_signature_free(&signature);
	um_parsed_free(&parsed);
	return check == UM_CHECK_RIGHT;
}

/* Where the signature is looked for, as the description says it. */
static void
put_place(struct um_buf *out, const struct um_scheme *scheme)
{
	for (size_t i = 0; i < scheme->from.names.len; i++)
		um_buf_cat(out, i != 0 ? " or " : "",
			scheme->from.names.item[i]);
}

static void
put_names(struct um_buf *out, const struct names *names)
{
	if (names->signature != NULL) {
		um_buf_cat(out, " in the header ", names->signature,
			", not in ");
		put_place(out, names->scheme);
	} else if (names->to != NULL && names->to[0] != '\0') {
		um_buf_cat(out, " in headers whose names begin with `",
			names->to, "`");
		if (names->from[0] != '\0')
			um_buf_cat(out, ", not with `", names->from, "`");
	} else if (names->from != NULL) {
		um_buf_cat(out, " in headers whose names do not begin with `",
			names->from, "`");
	}
}

/* Tries other names with the keys that the scheme has now. */
static bool
find_names(const struct um_spec_part *part,
	const struct um_saved_request *request, struct names *names)
{
	const struct um_scheme *scheme = names->scheme;

	for (size_t i = 0; i < sizeof(renamings) / sizeof(renamings[0]); i++) {
		names->from = renamings[i][0];
		names->to = renamings[i][1];
		if (is_right(part, names))
			return true;
	}
	names->from = names->to = NULL;
	if (scheme->from.kind != UM_EXPR_HEADER || scheme->numbered)
		return false;
	for (size_t i = 0; i < request->len; i++) {
		names->signature = request->header[i].name;
		if (!um_strlist_has(&scheme->from.names,
			    um_str(names->signature))
			&& is_right(part, names))
			return true;
	}
	names->signature = NULL;
	return false;
}

/* A reading of a secret: what of its text is the key, and how it is written. */
struct reading {
	enum um_key_form form;
	bool is_rest; /* what follows its prefix, such as whsec_ */
	const char *words;
};

static const struct reading readings[] = {
	{ UM_KEY_UTF8, false, "is the whole text of the secret" },
	{ UM_KEY_UTF8, true, "is the text of the secret after its prefix" },
	{ UM_KEY_BASE64, true,
		"is what the secret after its prefix stands for in base64" },
	{ UM_KEY_BASE64, false, "is what the secret stands for in base64" },
	{ UM_KEY_HEX, false, "is what the secret stands for in hexadecimal" },
	{ UM_KEY_HEX, true,
		"is what the secret after its prefix stands for in "
		"hexadecimal" },
};

/* The text after a prefix that providers are known to write, or NULL. */
static const char *
rest_of(const struct um_scheme *scheme, const char *secret)
{
	const char *const prefixes[] = { scheme->key_prefix, "whsec_",
		"polar_whs_", "wbhsec_" };

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
		if (prefixes[i] != NULL
			&& strncmp(secret, prefixes[i], strlen(prefixes[i]))
				== 0)
			return secret + strlen(prefixes[i]);
	return NULL;
}

/* Tries one reading, with the names of the description and with others. */
static bool
find_with_key(const struct um_spec_part *part, struct um_scheme *scheme,
	const struct um_saved_request *request, struct names *names,
	const struct reading *reading, const char *secret)
{
	const char *text = reading->is_rest ? rest_of(scheme, secret) : secret;
	struct um_verifier *own = scheme->verifier;
	bool found = false;

	if (text == NULL || text[0] == '\0')
		return false;
	scheme->verifier = um_verifier_like(own);
	if (scheme->verifier != NULL
		&& um_verifier_add_secret(scheme->verifier, reading->form, text)
			== UM_VERIFY_OK)
		found = is_right(part, names)
			|| find_names(part, request, names);
	um_verifier_free(scheme->verifier);
	scheme->verifier = own;
	return found;
}

static void
put_scheme(struct um_spec_part *part, size_t number,
	const struct um_delivery *delivery,
	const struct um_saved_request *request, const json_t *secrets,
	struct um_buf *out)
{
	struct um_scheme *scheme = &part->schemes[number];
	struct names names = { .delivery = delivery, .scheme = scheme };
	const struct reading *reading = NULL;
	size_t at = 0;
	bool found = !scheme->is_jwt && !is_right(part, &names)
		&& find_names(part, request, &names);

	for (size_t i = 0;
		!found && scheme->is_hmac && i < json_array_size(secrets); i++)
		for (size_t j = 0;
			!found && j < sizeof(readings) / sizeof(readings[0]);
			j++) {
			at = i + 1;
			reading = &readings[j];
			found = find_with_key(part, scheme, request, &names,
				reading,
				json_string_value(json_array_get(secrets, i)));
		}
	if (!found)
		return;
	um_buf_printf(out, "!! Scheme %zu: the signature is right", number);
	put_names(out, &names);
	if (reading != NULL)
		um_buf_printf(out, "%s the key %s (secret %zu)",
			names.from != NULL || names.signature != NULL ? ", and"
								      : ", if",
			reading->words, at);
	um_buf_puts(out,
		". The provider has changed, or the description is another "
		"provider's.\n");
}

void
um_variants_put(struct um_spec_part *part, const struct um_delivery *delivery,
	const struct um_saved_request *request, const json_t *secrets,
	struct um_buf *out)
{
	for (size_t i = 0; i < part->schemes_len; i++)
		put_scheme(part, i, delivery, request, secrets, out);
}
