/* SPDX-License-Identifier: MIT */
/* Compiles an expression: from the description's JSON to a tree. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "description/expr_load.h"

#define POINTER_CHARS                                                          \
	"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"       \
	"$._-/"

/* The object that is compiled, and the key that says what it is. */
struct load {
	const struct um_expr_scope *scope;
	struct um_conf_loc at;
	json_t *node;
	const char *key;
	int depth;
};

static bool load_node(struct um_expr *expr, const struct um_conf_loc *at,
	json_t *node, const struct um_expr_scope *scope, int depth);

/* The name of a field, or of a parameter of the signature. */
static bool
load_name(struct um_expr *expr, const struct load *load)
{
	if (expr->kind == UM_EXPR_SIGNATURE && !load->scope->has_params)
		return um_conf_error(&load->at,
			"is only allowed in `signed` and `timestamp`, and only "
			"if the signature has a `field`");
	return um_conf_take_text(&load->at, load->node, load->key, true,
		&expr->text);
}

static bool
load_header(struct um_expr *expr, const struct load *load)
{
	struct um_conf_loc at = um_conf_member(&load->at, load->key);

	if (!um_conf_get_strlist(&expr->names, &at,
		    json_object_get(load->node, load->key), true))
		return false;
	for (size_t i = 0; i < expr->names.len; i++) {
		const char *name = expr->names.item[i];
		size_t good = strspn(name,
			"abcdefghijklmnopqrstuvwxyz0123456789-");

		if (name[good] != '\0' || good > UM_EXPR_HEADER_MAX)
			return um_conf_error(&at,
				"is not a header's name in lower case of at "
				"most %d characters",
				UM_EXPR_HEADER_MAX);
	}
	return true;
}

/* Of `$.data.x`, as JSONPath has it, or of `data/x`: the pointer that is meant. */
static bool
refuse_pointer(const struct load *load, const char *key, const char *text)
{
	struct um_conf_loc at = um_conf_member(&load->at, key);
	size_t len = strlen(text), i = text[0] == '$';
	char meant[64];

	if (text[0] == '/' || len == 0 || len >= sizeof(meant) - 1
		|| text[strspn(text, POINTER_CHARS)] != '\0')
		return um_conf_error(&at,
			"is not a JSON pointer of at most 16 names and 256 "
			"characters");
	snprintf(meant, sizeof(meant), "%s%s",
		text[i] == '.' || text[i] == '/' ? "" : "/", text + i);
	for (char *c = meant; *c != '\0'; c++)
		if (*c == '.')
			*c = '/';
	return um_conf_error(&at,
		"is not a JSON pointer (RFC 6901); did you mean `%s`?", meant);
}

static bool
load_pointer(struct um_pointer *pointer, const struct load *load,
	const char *key)
{
	const json_t *node = json_object_get(load->node, key);
	const char *text = json_string_value(node);

	if (text == NULL)
		return um_conf_member_error(&load->at, key,
			"is missing or not a string");
	return (strlen(text) == json_string_length(node)
		       && um_pointer_compile(pointer, text))
		|| refuse_pointer(load, key, text);
}

static bool
load_json(struct um_expr *expr, const struct load *load)
{
	struct um_expr_json *json = &expr->json;

	if (expr->kind == UM_EXPR_ITEM && !load->scope->has_items)
		return um_conf_error(&load->at,
			"is only allowed in a description with `events`");
	if (expr->kind == UM_EXPR_CLAIM && !load->scope->has_claims)
		return um_conf_error(&load->at,
			"is only allowed in `timestamp`, and only if the "
			"signature is a token");
	if (!load_pointer(&json->at, load, load->key))
		return false;
	json->is_text = json_object_get(load->node, "inside") != NULL;
	if (json->is_text && !load_pointer(&json->inside, load, "inside"))
		return false;
	json->selects = json_object_size(load->node) != (json->is_text ? 2 : 1);
	if (!json->selects)
		return true;
	return load_pointer(&json->where, load, "where")
		&& um_conf_take_text(&load->at, load->node, "is", true,
			&json->is)
		&& load_pointer(&json->value, load, "value");
}

bool
um_expr_load_pointer(struct um_pointer *pointer, const struct um_conf_loc *at,
	const json_t *object, const char *key)
{
	const json_t *node = json_object_get(object, key);
	const char *text = json_string_value(node);

	return (text != NULL && strlen(text) == json_string_length(node)
		       && um_pointer_compile(pointer, text))
		|| um_conf_member_error(at, key, "is not a JSON pointer");
}

/* A value of a constant, or NULL. */
static const char *
constant_of(const struct um_expr_scope *scope, const char *name, size_t index)
{
	const char *text = scope->constant != NULL
		? scope->constant(name, index, scope->arg)
		: NULL;

	return text != NULL && text[0] != '\0' ? text : NULL;
}

static bool
no_constant(const struct um_conf_loc *at, const char *name)
{
	return um_conf_error(at, "the configuration has no constant `%.64s`",
		name);
}

bool
um_expr_load_constants(struct um_strlist *list, const struct um_conf_loc *at,
	const json_t *node, const struct um_expr_scope *scope)
{
	const char *name, *text;

	if (!um_conf_get_text(at, node, "site", true, &name))
		return false;
	list->item = calloc(UM_STRLIST_MAX, sizeof(list->item[0]));
	if (list->item == NULL)
		return um_conf_error(at, "out of memory");
	while (list->len < UM_STRLIST_MAX
		&& (text = constant_of(scope, name, list->len)) != NULL) {
		if (!um_conf_copy_text(at, text, &list->item[list->len]))
			return false;
		list->len++;
	}
	return list->len != 0 || no_constant(at, name);
}

/* A constant of the configuration becomes a literal. */
static bool
load_site(struct um_expr *expr, const struct load *load)
{
	const char *name, *text;

	if (!um_conf_get_text(&load->at, load->node, load->key, true, &name))
		return false;
	text = constant_of(load->scope, name, 0);
	if (text == NULL)
		return no_constant(&load->at, name);
	if (constant_of(load->scope, name, 1) != NULL)
		return um_conf_error(&load->at,
			"the constant `%.64s` has several values, which only "
			"`field` and `prefix` of a signature can use",
			name);
	return um_conf_copy_text(&load->at, text, &expr->text);
}

static bool
load_body(struct um_expr *expr, const struct load *load)
{
	static const char *const choices[] = { "raw", NULL };
	unsigned choice;

	(void)expr;
	return um_conf_get_choice(&load->at, load->node, load->key, choices,
		&choice);
}

static bool /* NOLINTNEXTLINE(misc-no-recursion): depth is limited */
load_list(struct um_expr **parts, size_t *parts_len,
	const struct um_conf_loc *at, const json_t *list,
	const struct um_expr_scope *scope, int depth)
{
	size_t len = json_array_size(list);

	if (len == 0 || len > UM_EXPR_PARTS_MAX)
		return um_conf_error(at, "is not a list of 1 to %d values",
			UM_EXPR_PARTS_MAX);
	*parts = calloc(len, sizeof((*parts)[0]));
	if (*parts == NULL)
		return um_conf_error(at, "out of memory");
	*parts_len = len;
	for (size_t i = 0; i < len; i++) {
		struct um_conf_loc here = um_conf_element(at, i);

		if (!load_node(&(*parts)[i], &here, json_array_get(list, i),
			    scope, depth))
			return false;
	}
	return true;
}

bool
um_expr_load_list(struct um_expr **parts, size_t *parts_len,
	const struct um_conf_loc *at, const json_t *list,
	const struct um_expr_scope *scope)
{
	return load_list(parts, parts_len, at, list, scope, 0);
}

static bool /* NOLINTNEXTLINE(misc-no-recursion): depth is limited */
load_parts(struct um_expr *expr, const struct load *load)
{
	struct um_conf_loc at = um_conf_member(&load->at, load->key);

	return load_list(&expr->parts, &expr->parts_len, &at,
		json_object_get(load->node, load->key), load->scope,
		load->depth + 1);
}

static bool /* NOLINTNEXTLINE(misc-no-recursion): depth is limited */
load_join(struct um_expr *expr, const struct load *load)
{
	const json_t *with = json_object_get(load->node, "with");
	const char *text = json_string_value(with); /* It may be empty. */

	if (!load_parts(expr, load))
		return false;
	if (text == NULL || strlen(text) != json_string_length(with))
		return um_conf_member_error(&load->at, "with",
			"is missing, is not a string, or contains a NUL");
	return um_conf_copy_text(&load->at, text, &expr->text);
}

static bool /* NOLINTNEXTLINE(misc-no-recursion): depth is limited */
load_digest(struct um_expr *expr, const struct load *load)
{
	struct um_conf_loc at = um_conf_member(&load->at, load->key);

	if (expr->kind == UM_EXPR_MAC && !load->scope->has_mac)
		return um_conf_error(&load->at,
			"is only allowed in the answer to a challenge");
	expr->parts = calloc(1, sizeof(expr->parts[0]));
	if (expr->parts == NULL)
		return um_conf_error(&at, "out of memory");
	expr->parts_len = 1;
	return load_node(&expr->parts[0], &at,
		json_object_get(load->node, load->key), load->scope,
		load->depth + 1);
}

static bool
load_sorted(struct um_expr *expr, const struct load *load)
{
	static const char *const keys[] = { "without", NULL };
	struct um_conf_loc at = um_conf_member(&load->at, load->key);
	struct um_conf_loc without = um_conf_member(&at, "without");
	json_t *how = json_object_get(load->node, load->key);

	if (!um_conf_check_keys(&at, how, keys))
		return false;
	return json_object_get(how, "without") == NULL
		|| um_conf_get_strlist(&expr->names, &without,
			json_object_get(how, "without"), false);
}

static bool /* NOLINTNEXTLINE(misc-no-recursion): depth is limited */
load_listed(struct um_expr *expr, const struct load *load)
{
	if (!load->scope->is_signed || load->depth != 0)
		return um_conf_error(&load->at, "is only allowed in `signed`");
	return load_digest(expr, load)
		&& um_conf_take_text(&load->at, load->node, "with", true,
			&expr->text)
		&& (expr->parts[0].kind == UM_EXPR_SIGNATURE
			|| um_conf_member_error(&load->at, load->key,
				"is not a parameter of the signature"));
}

/* The keys that say what an object is, and those allowed beside them. */
static const struct form {
	const char *key;
	enum um_expr_kind kind;
	bool (*load)(struct um_expr *expr, const struct load *load);
	const char *keys[6];
} forms[] = {
	{ "header", UM_EXPR_HEADER, load_header, { "header" } },
	{ "query", UM_EXPR_QUERY, load_name, { "query" } },
	{ "form", UM_EXPR_FORM, load_name, { "form" } },
	{ "multipart", UM_EXPR_MULTIPART, load_name, { "multipart" } },
	{ "json", UM_EXPR_JSON, load_json,
		{ "json", "where", "is", "value", "inside" } },
	{ "item", UM_EXPR_ITEM, load_json,
		{ "item", "where", "is", "value", "inside" } },
	{ "claim", UM_EXPR_CLAIM, load_json, { "claim" } },
	{ "site", UM_EXPR_LITERAL, load_site, { "site" } },
	{ "body", UM_EXPR_BODY, load_body, { "body" } },
	{ "signature", UM_EXPR_SIGNATURE, load_name, { "signature" } },
	{ "crc32", UM_EXPR_CRC32, load_digest, { "crc32" } },
	{ "lower", UM_EXPR_LOWER, load_digest, { "lower" } },
	{ "mac", UM_EXPR_MAC, load_digest, { "mac" } },
	{ "join", UM_EXPR_JOIN, load_join, { "join", "with" } },
	{ "first", UM_EXPR_FIRST, load_parts, { "first" } },
	{ "sorted_query", UM_EXPR_SORTED_QUERY, load_sorted,
		{ "sorted_query" } },
	{ "listed_headers", UM_EXPR_LISTED, load_listed,
		{ "listed_headers", "with" } },
};

static bool
load_literal(struct um_expr *expr, const struct um_conf_loc *at,
	const json_t *node)
{
	const char *text = json_string_value(node);

	if (text[0] == '\0' || strlen(text) != json_string_length(node))
		return um_conf_error(at, "is empty or contains a NUL");
	expr->kind = UM_EXPR_LITERAL;
	return um_conf_copy_text(at, text, &expr->text);
}

static const struct form *
form_of(const json_t *node)
{
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++)
		if (json_object_get(node, forms[i].key) != NULL)
			return &forms[i];
	return NULL;
}

static bool
refuse_form(const struct um_conf_loc *at, json_t *node)
{
	const char *words[sizeof(forms) / sizeof(forms[0]) + 1] = { NULL };
	const char *key = json_object_iter_key(json_object_iter(node));

	if (key == NULL)
		return um_conf_error(at,
			"is neither a string nor an object with "
			"the key of a source or function");
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++)
		words[i] = forms[i].key;
	return um_conf_refuse_word(at,
		"is an object without the key of a source or function", words);
}

/* An object with the keys of two sources would be one of them. */
static bool
is_one_source(const struct um_conf_loc *at, const json_t *node,
	const struct form *form)
{
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++)
		if (&forms[i] != form
			&& json_object_get(node, forms[i].key) != NULL)
			return um_conf_error(at,
				"has two sources, `%s` and `%s`: `first` takes "
				"the first that exists, `join` both",
				form->key, forms[i].key);
	return true;
}

/* Whether it reads nothing but the row, or the values of which it consists. */
static bool
is_of_row(enum um_expr_kind kind)
{
	return kind == UM_EXPR_ITEM || kind == UM_EXPR_LITERAL
		|| kind == UM_EXPR_JOIN || kind == UM_EXPR_FIRST;
}

static bool /* NOLINTNEXTLINE(misc-no-recursion): depth is limited */
load_node(struct um_expr *expr, const struct um_conf_loc *at, json_t *node,
	const struct um_expr_scope *scope, int depth)
{
	const struct form *form = form_of(node);
	struct load load = { scope, *at, node, NULL, depth };

	if (node == NULL)
		return um_conf_error(at, "is missing");
	if (json_is_string(node))
		return load_literal(expr, at, node);
	if (form == NULL)
		return refuse_form(at, node);
	if (!is_one_source(at, node, form))
		return false;
	if (scope->has_only_items && !is_of_row(form->kind))
		return um_conf_error(at, "can only have `item` values");
	if (depth > UM_EXPR_DEPTH_MAX)
		return um_conf_error(at, "is nested more than %d deep",
			UM_EXPR_DEPTH_MAX);
	load.key = form->key;
	expr->kind = form->kind;
	return um_conf_check_keys(at, node, form->keys)
		&& form->load(expr, &load);
}

bool
um_expr_load(struct um_expr *expr, const struct um_conf_loc *at,
	const json_t *object, const char *key,
	const struct um_expr_scope *scope)
{
	struct um_conf_loc here = um_conf_member(at, key);

	*expr = (struct um_expr){ 0 };
	return load_node(expr, &here, json_object_get(object, key), scope, 0);
}

bool
um_expr_load_found(struct um_expr *expr, const struct um_conf_loc *at,
	const json_t *node, const char *key, const struct um_expr_scope *scope)
{
	struct um_conf_loc here = um_conf_member(at, key);
	const char *text = json_string_value(json_object_get(node, key));

	if (!um_expr_load(expr, at, node, key, scope))
		return false;
	if (!um_expr_is_constant(expr))
		return true;
	if (text == NULL)
		return um_conf_error(&here,
			"is the same for every delivery: it must be a value of "
			"the delivery");
	return um_conf_error(&here,
		"is the constant `%.64s`; did you mean {\"%s\": \"%s%.64s\"}?",
		text, scope->has_items ? "item" : "json",
		text[0] == '/' ? "" : "/", text);
}
