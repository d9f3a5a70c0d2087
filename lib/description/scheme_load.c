/* SPDX-License-Identifier: MIT */
/* Compiles a scheme from the description's JSON. */
#include <stdlib.h>
#include <string.h>

#include "description/scheme_load.h"

/* In the order of enum um_key_form. */
static const char *const key_forms[] = { "utf8", "base64", "hex", "certificate",
	"jwks", NULL };

/* `["utf8", "base64"]`: a provider has used both, and a secret does not tell. */
static bool
load_key_forms(struct um_scheme *scheme, const struct um_conf_loc *at,
	json_t *node)
{
	struct um_conf_loc here = um_conf_member(at, "as");
	json_t *as = json_object_get(node, "as");
	struct um_strlist forms = { 0 };
	unsigned form = 0;
	bool ok;

	if (!json_is_array(as)) {
		ok = um_conf_get_choice(at, node, "as", key_forms, &form);
		scheme->key_form = (enum um_key_form)form;
		return ok;
	}
	scheme->key_form = UM_KEY_BASE64;
	scheme->key_is_text_too = true;
	ok = um_conf_get_strlist(&forms, &here, as, false);
	if (ok
		&& (forms.len != 2 || !um_str_is(um_str(forms.item[0]), "utf8")
			|| !um_str_is(um_str(forms.item[1]), "base64")))
		ok = um_conf_error(&here,
			"is neither one form nor `utf8` and `base64`");
	um_strlist_free(&forms);
	return ok;
}

static bool
load_key(struct um_scheme *scheme, const struct um_conf_loc *at, json_t *node,
	enum um_algorithm algorithm)
{
	static const char *const keys[] = { "as", "prefix", NULL };

	if (node == NULL)
		return um_conf_error(at, "is missing");
	if (!um_conf_check_keys(at, node, keys)
		|| !load_key_forms(scheme, at, node)
		|| !um_conf_take_text(at, node, "prefix", false,
			&scheme->key_prefix))
		return false;
	if (scheme->key_is_text_too && !um_verifier_is_hmac(algorithm))
		return um_conf_member_error(at, "as",
			"has two forms, which only the key of an HMAC can "
			"have");
	if (!um_verifier_accepts_key_form(algorithm, scheme->key_form))
		return um_conf_member_error(at, "as",
			"cannot be used with this algorithm");
	if (scheme->key_prefix != NULL && um_key_is_file(scheme->key_form))
		return um_conf_member_error(at, "prefix",
			"is not allowed: only a secret has a prefix");
	return true;
}

static bool
load_numbered(struct um_scheme *scheme, const struct um_conf_loc *at,
	const json_t *node)
{
	if (!um_conf_get_bool(at, node, "numbered", &scheme->numbered))
		return false;
	if (!scheme->numbered)
		return true;
	if (scheme->from.kind != UM_EXPR_HEADER || scheme->from.names.len != 1)
		return um_conf_member_error(at, "numbered",
			"requires that `from` is a single `header`");
	return scheme->fields.len == 0
		|| um_conf_member_error(at, "numbered",
			"cannot be used together with `field`");
}

/* A text, or a constant of the site with all its values. */
static bool
load_texts(struct um_strlist *list, const struct um_conf_loc *at,
	const json_t *node, const char *key, const struct um_expr_scope *scope)
{
	static const char *const keys[] = { "site", NULL };
	struct um_conf_loc here = um_conf_member(at, key);
	json_t *value = json_object_get(node, key);
	const char *text;

	if (json_is_object(value))
		return um_conf_check_keys(&here, value, keys)
			&& um_expr_load_constants(list, &here, value, scope);
	if (!um_conf_get_text(at, node, key, false, &text) || text == NULL)
		return value == NULL;
	list->item = calloc(1, sizeof(list->item[0]));
	if (list->item == NULL)
		return um_conf_error(&here, "out of memory");
	if (!um_conf_copy_text(&here, text, &list->item[0]))
		return false;
	list->len = 1;
	return true;
}

/* The parameters have no names in the header, and always the same order. */
static bool
load_order(struct um_scheme *scheme, const struct um_conf_loc *at,
	const json_t *node)
{
	struct um_conf_loc here = um_conf_member(at, "order");
	const json_t *order = json_object_get(node, "order");
	size_t signatures = 0;

	if (order == NULL)
		return true;
	if (json_object_get(node, "equals") != NULL)
		return um_conf_error(&here,
			"cannot be used together with `equals`");
	if (scheme->fields.len == 0)
		return um_conf_error(&here, "requires `field`");
	if (!um_conf_get_strlist(&scheme->order, &here, order, false))
		return false;
	for (size_t i = 0; i < scheme->order.len; i++)
		signatures += um_strlist_has(&scheme->fields,
			um_str(scheme->order.item[i]));
	return (signatures == 1 && scheme->order.len <= UM_PARAMS_MAX)
		|| um_conf_error(&here,
			"is not a list of at most %d names, one of which is "
			"that of the signature",
			UM_PARAMS_MAX);
}

static bool
load_field(struct um_scheme *scheme, const struct um_conf_loc *at, json_t *node,
	const struct um_expr_scope *scope)
{
	bool any;

	if (!load_texts(&scheme->fields, at, node, "field", scope))
		return false;
	any = scheme->fields.len != 0;
	if (!load_order(scheme, at, node))
		return false;
	return um_conf_take_text(at, node, "between", any, &scheme->separator)
		&& um_conf_take_text(at, node, "equals",
			any && scheme->order.len == 0, &scheme->equals)
		&& (any || (scheme->separator == NULL && scheme->equals == NULL)
			|| um_conf_member_error(at, "field", "is missing"));
}

static bool
touches(const char *a, const char *b)
{
	return strstr(a, b) != NULL || strstr(b, a) != NULL;
}

/* Lists of parameters, with a text between them that cannot be of one list. */
static bool
load_lists(struct um_scheme *scheme, const struct um_conf_loc *at,
	const json_t *node)
{
	static const char key[] = "between_lists";

	if (!um_conf_take_text(at, node, key, false, &scheme->list_separator))
		return false;
	if (scheme->list_separator == NULL)
		return true;
	if (!scheme->is_hmac)
		return um_conf_member_error(at, key,
			"is only allowed with an HMAC");
	if (scheme->from.kind != UM_EXPR_HEADER || scheme->fields.len == 0
		|| scheme->order.len != 0)
		return um_conf_member_error(at, key,
			"requires `field`, and that `from` is a `header`");
	return (!touches(scheme->list_separator, scheme->separator)
		       && !touches(scheme->list_separator, scheme->equals))
		|| um_conf_member_error(at, key,
			"contains `between` or `equals`, or is contained in "
			"one of them, so that nobody could tell where a list "
			"ends");
}

/* A signature is read from the delivery itself, not from a function. */
static bool
is_place(const struct um_expr *from)
{
	return from->kind >= UM_EXPR_HEADER && from->kind <= UM_EXPR_ITEM;
}

static bool
load_signature(struct um_scheme *scheme, const struct um_conf_loc *at,
	json_t *node, const struct um_expr_scope *scope,
	enum um_encoding *encoding)
{
	static const char *const keys[] = { "from", "numbered", "prefix",
		"field", "between", "equals", "order", "between_lists", "as",
		NULL };
	/* In the order of enum um_encoding. */
	static const char *const encodings[] = { "hex", "base64", NULL };
	unsigned as = 0;

	if (node == NULL)
		return um_conf_error(at, "is missing");
	if (!um_conf_check_keys(at, node, keys)
		|| !um_expr_load(&scheme->from, at, node, "from", scope))
		return false;
	if (!is_place(&scheme->from))
		return um_conf_member_error(at, "from",
			"is not a header, query, form, multipart, json or "
			"item value");
	if (!load_field(scheme, at, node, scope)
		|| !load_lists(scheme, at, node)
		|| !load_numbered(scheme, at, node)
		|| !load_texts(&scheme->prefixes, at, node, "prefix", scope))
		return false;
	if (scheme->is_token || scheme->is_jwt)
		return json_object_get(node, "as") == NULL
			|| um_conf_member_error(at, "as",
				"is not allowed: a token is not encoded");
	if (!um_conf_get_choice(at, node, "as", encodings, &as))
		return false;
	*encoding = (enum um_encoding)as;
	return true;
}

static enum um_expr_kind
kind_at(const struct um_scheme *scheme, size_t i)
{
	return i < scheme->parts_len ? scheme->parts[i].kind : UM_EXPR_NONE;
}

/* Only there can um_scheme_put_signed() tell whether the text is ambiguous. */
static bool
check_order(const struct um_scheme *scheme, const struct um_conf_loc *at)
{
	for (size_t i = 0; i < scheme->parts_len; i++) {
		struct um_conf_loc here = um_conf_element(at, i);

		if (kind_at(scheme, i) == UM_EXPR_LISTED
			&& (kind_at(scheme, i + 1) != UM_EXPR_LITERAL
				|| kind_at(scheme, i + 2) != UM_EXPR_BODY))
			return um_conf_error(&here,
				"must have a text and the body after it");
	}
	return true;
}

static bool
load_signed(struct um_scheme *scheme, const struct um_conf_loc *at,
	json_t *list, const struct um_expr_scope *scope)
{
	struct um_expr_scope inner = *scope;
	bool any = false;

	if (scheme->is_token || scheme->is_jwt)
		return list == NULL
			|| um_conf_error(at,
				scheme->is_jwt
					? "is not allowed: a JSON Web Token "
					  "signs its claims"
					: "is not allowed: a token does not "
					  "sign anything");
	inner.has_params = scheme->fields.len != 0;
	inner.is_signed = true;
	if (!um_expr_load_list(&scheme->parts, &scheme->parts_len, at, list,
		    &inner))
		return false;
	for (size_t i = 0; i < scheme->parts_len; i++) {
		any |= scheme->parts[i].kind != UM_EXPR_LITERAL;
		scheme->of_items |= um_expr_uses(&scheme->parts[i],
			UM_EXPR_ITEM);
	}
	return (any || um_conf_error(at, "contains no value of the delivery"))
		&& check_order(scheme, at);
}

/* The claim of a token that has the digest of the body. */
static bool
load_digest(struct um_scheme *scheme, const struct um_conf_loc *at,
	json_t *node)
{
	const char *text;

	if (!scheme->is_jwt)
		return json_object_get(node, "digest") == NULL
			|| um_conf_member_error(at, "digest",
				"is only allowed with the algorithm `jwt`");
	return um_conf_get_text(at, node, "digest", true, &text)
		&& um_expr_load_pointer(&scheme->digest, at, node, "digest");
}

/* `since` and `source` are for people. */
static bool
load_origin(struct um_scheme *scheme, const struct um_conf_loc *at,
	const json_t *node)
{
	const char *source;
	int64_t since;

	return um_conf_get_day(at, node, "since", &since)
		&& um_conf_get_day(at, node, "compared", &scheme->compared_ms)
		&& um_conf_get_text(at, node, "source", false, &source);
}

bool
um_scheme_load(struct um_scheme *scheme, const struct um_conf_loc *at,
	json_t *node, const struct um_expr_scope *scope)
{
	static const char *const keys[] = { "since", "compared", "source",
		"algorithm", "key", "signature", "signed", "digest", NULL };
	/* In the order of enum um_algorithm. */
	static const char *const algorithms[] = { "hmac-sha256", "hmac-sha512",
		"ed25519", "rsa-sha256", "token", "jwt", NULL };
	struct um_conf_loc key = um_conf_member(at, "key");
	struct um_conf_loc signature = um_conf_member(at, "signature");
	struct um_conf_loc parts = um_conf_member(at, "signed");
	enum um_encoding encoding = UM_HEX;
	unsigned algorithm;

	*scheme = (struct um_scheme){ 0 };
	if (!um_conf_check_keys(at, node, keys)
		|| !load_origin(scheme, at, node)
		|| !um_conf_get_choice(at, node, "algorithm", algorithms,
			&algorithm))
		return false;
	scheme->is_token = algorithm == UM_TOKEN;
	scheme->is_jwt = algorithm == UM_JWT;
	scheme->is_hmac = algorithm <= UM_HMAC_SHA512;
	scheme->is_public = algorithm == UM_ED25519
		|| algorithm == UM_RSA_SHA256 || algorithm == UM_JWT;
	if (!load_key(scheme, &key, json_object_get(node, "key"),
		    (enum um_algorithm)algorithm)
		|| !load_signature(scheme, &signature,
			json_object_get(node, "signature"), scope, &encoding)
		|| !load_signed(scheme, &parts, json_object_get(node, "signed"),
			scope)
		|| !load_digest(scheme, at, node))
		return false;
	scheme->of_items |= scheme->from.kind == UM_EXPR_ITEM;
	scheme->verifier = um_verifier_new((enum um_algorithm)algorithm,
		encoding);
	return scheme->verifier != NULL || um_conf_error(at, "out of memory");
}
