/* SPDX-License-Identifier: MIT */
#include "form/schema.h"

#include <stdio.h>

#include "contract/texts.h"
#include "form/formats.h"

#define VALUES_MAX 4096 /* values and names of the schema */
#define TEXTS_MAX 112
#define REF "#/$defs/"

static const char form_schema[] = {
#include "form/schema.inc"
};

struct check {
	const struct um_json_node *schema;
	struct um_schema_fault *fault; /* its place is that of the value */
};

typedef const struct um_json_node *node;

static bool check_value(struct check *check, node given, node value);

struct um_json_node *
um_schema_of_forms(void)
{
	return um_json_parse((struct um_str){ form_schema,
				     sizeof(form_schema) },
		VALUES_MAX, NULL);
}

static node
member(node object, const char *name)
{
	return um_json_member(object, um_str(name));
}

const struct um_json_node *
um_schema_get(const struct um_json_node *schema, struct um_str name)
{
	return um_json_member(member(schema, "$defs"), name);
}

static bool /* NOLINTNEXTLINE(misc-no-recursion): depth is limited */
check_member(struct check *check, node rules, struct um_str name, node value)
{
	size_t before = um_schema_enter(check->fault, name);

	if (value == NULL)
		return um_schema_refuse_here(check->fault, "is missing");
	if (!check_value(check, rules, value))
		return false;
	um_schema_leave(check->fault, before);
	return true;
}

static node /* NOLINTNEXTLINE(misc-no-recursion): depth is limited */
resolve(const struct check *check, node rules)
{
	node ref = member(rules, "$ref");
	struct um_str name = um_json_str(ref);

	return ref != NULL && um_str_take_prefix(&name, REF)
		? resolve(check, um_schema_get(check->schema, name))
		: rules;
}

static double
number_of(node rules, const char *name, double otherwise)
{
	double number = otherwise;

	um_format_number(&number, um_json_str(member(rules, name)));
	return number;
}

static void
append(char texts[static TEXTS_MAX], const char *between, struct um_str text)
{
	size_t len = strlen(texts);

	snprintf(texts + len, TEXTS_MAX - len, "%s%.*s",
		len != 0 ? between : "", (int)text.len, text.ptr);
}

/* The texts of an enum. */
static const char *
append_all(char texts[static TEXTS_MAX], node list)
{
	node each = NULL;

	while ((each = um_json_next(list, each)) != NULL)
		append(texts, ", ", um_json_str(each));
	return texts;
}

static const struct type {
	const char *name, *word;
	unsigned kinds; /* bits */
} types[] = {
	{ "string", "a string", 1U << UM_JSON_STRING },
	{ "boolean", "true or false",
		1U << UM_JSON_TRUE | 1U << UM_JSON_FALSE },
	{ "number", "a number", 1U << UM_JSON_INTEGER | 1U << UM_JSON_REAL },
	{ "integer", "a whole number", 1U << UM_JSON_INTEGER },
	{ "array", "an array", 1U << UM_JSON_ARRAY },
	{ "object", "an object", 1U << UM_JSON_OBJECT },
};

/* NULL for rules without a type. */
static const struct type *
type_of(node rules)
{
	node name = member(rules, "type");

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (um_json_string_eq(name, um_str(types[i].name)))
			return &types[i];
	return NULL;
}

static bool
refuse_type(struct check *check, node rules, const struct type *type)
{
	return member(rules, "minimum") == NULL
		? um_schema_refuse_here(check->fault, "must be %s", type->word)
		: um_schema_refuse_here(check->fault,
			"must be %s from %.0f to %.0f", type->word,
			number_of(rules, "minimum", 0),
			number_of(rules, "maximum", 0));
}

/* One member selects the rules. */
static bool /* NOLINTNEXTLINE(misc-no-recursion): depth is limited */
check_selected(struct check *check, node rules, node value)
{
	struct um_str name = um_json_str(
		member(member(rules, "discriminator"), "propertyName"));
	node selected = um_json_member(value, name), one = NULL;
	char texts[TEXTS_MAX] = "";

	if (!um_json_is(value, UM_JSON_OBJECT))
		return um_schema_refuse_here(check->fault,
			UM_TEXT_MUST_BE_OBJECT);
	while ((one = um_json_next(member(rules, "oneOf"), one)) != NULL) {
		node branch = resolve(check, one);
		struct um_str constant = um_json_str(
			member(um_json_member(member(branch, "properties"),
				       name),
				"const"));

		if (um_json_string_eq(selected, constant))
			return check_value(check, branch, value);
		append(texts, ", ", constant);
	}
	um_schema_enter(check->fault, name);
	return um_schema_refuse_here(check->fault, UM_TEXT_MUST_BE_ONE_OF,
		texts);
}

/* The schemas have different types. */
static bool /* NOLINTNEXTLINE(misc-no-recursion): depth is limited */
check_any(struct check *check, node branches, node value)
{
	char words[TEXTS_MAX] = "";
	node one = NULL;

	while ((one = um_json_next(branches, one)) != NULL) {
		node branch = resolve(check, one);
		const struct type *type = type_of(branch);

		if ((type->kinds >> value->kind & 1) != 0)
			return check_value(check, branch, value);
		append(words, " or ", um_str(type->word));
	}
	return um_schema_refuse_here(check->fault, "must be %s", words);
}

static bool
check_string(struct check *check, node rules, struct um_str text)
{
	double least = number_of(rules, "minLength", 0);
	double most = number_of(rules, "maxLength", 0);
	double bytes = number_of(rules, "maxBytes", (double)text.len);
	double length = 0;
	const char *must;

	for (size_t i = 0; i < text.len; i++)
		length += (text.ptr[i] & 0xc0) != 0x80; /* characters */
	if (length < least && most < 1)
		return um_schema_refuse_here(check->fault,
			UM_TEXT_MUST_NOT_BE_EMPTY);
	if (length < least || (most >= 1 && length > most))
		return um_schema_refuse_here(check->fault,
			UM_TEXT_MUST_HAVE_CHARACTERS, least, most);
	if ((double)text.len > bytes)
		return um_schema_refuse_here(check->fault,
			UM_TEXT_MUST_HAVE_BYTES_AT_MOST, bytes);
	must = um_format_fault(um_json_str(member(rules, "format")), text);
	return must == NULL || um_schema_refuse_here(check->fault, "%s", must);
}

static bool
check_number(struct check *check, node rules, node value)
{
	double number = 0;
	bool is_short = um_format_number(&number, um_json_str(value));

	if (member(rules, "minimum") != NULL
		&& (!is_short || number < number_of(rules, "minimum", 0)
			|| number > number_of(rules, "maximum", 0)))
		return refuse_type(check, rules, type_of(rules));
	return is_short
		|| um_schema_refuse_here(check->fault, UM_TEXT_MUST_BE_SHORT);
}

/* The number of elements or members. */
static size_t
count_of(node value)
{
	size_t count = 0;

	for (node at = value + 1; at < value + value->size; at += at->size)
		count++;
	return um_json_is(value, UM_JSON_OBJECT) ? count / 2 : count;
}

static bool
check_unique(struct check *check, struct um_str name, node list)
{
	node one = NULL, other;
	char index[24];

	for (size_t i = 0; (one = um_json_next(list, one)) != NULL; i++)
		for (other = um_json_next(list, NULL); other != one;
			other = um_json_next(list, other)) {
			if (!um_json_string_eq(um_json_member(other, name),
				    um_json_str(um_json_member(one, name))))
				continue;
			snprintf(index, sizeof(index), "%zu", i);
			um_schema_enter(check->fault, um_str(index));
			um_schema_enter(check->fault, name);
			return um_schema_refuse_here(check->fault,
				UM_TEXT_MUST_NOT_OCCUR_TWICE);
		}
	return true;
}

static bool /* NOLINTNEXTLINE(misc-no-recursion): depth is limited */
check_array(struct check *check, node rules, node value)
{
	double least = number_of(rules, "minItems", 0);
	double most = number_of(rules, "maxItems", 0);
	double count = (double)count_of(value);
	node one = NULL, unique = member(rules, "uniqueMember");
	char index[24];

	if (count < least || count > most)
		return um_schema_refuse_here(check->fault,
			UM_TEXT_MUST_HAVE_ELEMENTS, least, most);
	for (size_t i = 0; (one = um_json_next(value, one)) != NULL; i++) {
		snprintf(index, sizeof(index), "%zu", i);
		if (!check_member(check, member(rules, "items"), um_str(index),
			    one))
			return false;
	}
	return unique == NULL
		|| check_unique(check, um_json_str(unique), value);
}

static bool
is_before(struct um_str a, struct um_str b)
{
	int order = memcmp(a.ptr, b.ptr, a.len < b.len ? a.len : b.len);

	return order < 0 || (order == 0 && a.len < b.len);
}

static bool
is_in(node list, struct um_str name)
{
	node one = NULL;

	while ((one = um_json_next(list, one)) != NULL)
		if (um_json_string_eq(one, name))
			return true;
	return false;
}

/* Refuses the first name, by its bytes, that is not allowed. */
static bool
check_names(struct check *check, node rules, node names, node value)
{
	node properties = member(rules, "properties"), first = NULL, name;
	char texts[TEXTS_MAX] = "";

	for (name = value + 1; name < value + value->size;
		name += 1 + name[1].size) {
		struct um_str text = um_json_str(name);

		if (names != NULL ? is_in(names, text)
				  : um_json_member(properties, text) != NULL)
			continue;
		if (first == NULL || is_before(text, um_json_str(first)))
			first = name;
	}
	if (first == NULL)
		return true;
	um_schema_enter(check->fault, um_json_str(first));
	if (names != NULL)
		return um_schema_refuse_here(check->fault, UM_TEXT_ALLOWED_HERE,
			append_all(texts, names));
	for (name = properties + 1; name < properties + properties->size;
		name += 1 + name[1].size)
		append(texts, ", ", um_json_str(name));
	return um_schema_refuse_here(check->fault, UM_TEXT_ALLOWED_HERE, texts);
}

/* Names beside the properties are those of an enum, or none are allowed. */
static bool /* NOLINTNEXTLINE(misc-no-recursion): depth is limited */
check_members(struct check *check, node rules, node value)
{
	node properties = member(rules, "properties"), one = NULL, found;
	node required = member(rules, "required");
	node names = member(resolve(check, member(rules, "propertyNames")),
		"enum");

	if (!check_names(check, rules, names, value))
		return false;
	if ((double)count_of(value) < number_of(rules, "minProperties", 0))
		return um_schema_refuse_here(check->fault,
			UM_TEXT_MUST_NOT_BE_EMPTY);
	for (one = properties != NULL ? properties + 1 : NULL;
		one != NULL && one < properties + properties->size;
		one += 1 + one[1].size) {
		found = um_json_member(value, um_json_str(one));
		if ((found != NULL || is_in(required, um_json_str(one)))
			&& !check_member(check, one + 1, um_json_str(one),
				found))
			return false;
	}
	one = NULL;
	while ((one = um_json_next(names, one)) != NULL) {
		found = um_json_member(value, um_json_str(one));
		if (found != NULL
			&& !check_member(check,
				member(rules, "additionalProperties"),
				um_json_str(one), found))
			return false;
	}
	return true;
}

static bool
check_choice(struct check *check, node choices, node value)
{
	char texts[TEXTS_MAX] = "";

	return (um_json_is(value, UM_JSON_STRING)
		       && is_in(choices, um_json_str(value)))
		|| um_schema_refuse_here(check->fault, UM_TEXT_MUST_BE_ONE_OF,
			append_all(texts, choices));
}

static bool /* NOLINTNEXTLINE(misc-no-recursion): depth is limited */
check_value(struct check *check, node given, node value)
{
	node rules = resolve(check, given), list;
	const struct type *type = type_of(rules);

	if (member(rules, "discriminator") != NULL)
		return check_selected(check, rules, value);
	if ((list = member(rules, "anyOf")) != NULL)
		return check_any(check, list, value);
	if ((list = member(rules, "enum")) != NULL)
		return check_choice(check, list, value);
	if ((list = member(rules, "const")) != NULL)
		return (value->kind == list->kind
			       && um_str_eq(um_json_str(value),
				       um_json_str(list)))
			|| um_schema_refuse_here(check->fault, "must be true");
	if ((type->kinds >> value->kind & 1) == 0)
		return refuse_type(check, rules, type);
	switch (value->kind) {
	case UM_JSON_OBJECT:
		return check_members(check, rules, value);
	case UM_JSON_ARRAY:
		return check_array(check, rules, value);
	case UM_JSON_STRING:
		return check_string(check, rules, um_json_str(value));
	case UM_JSON_INTEGER:
	case UM_JSON_REAL:
		return check_number(check, rules, value);
	default:
		return true;
	}
}

bool
um_schema_check(const struct um_json_node *schema, const char *name,
	const struct um_json_node *value, struct um_schema_fault *fault)
{
	struct check check = { .schema = schema, .fault = fault };

	*fault = (struct um_schema_fault){ 0 };
	return check_value(&check, um_schema_get(schema, um_str(name)), value);
}
