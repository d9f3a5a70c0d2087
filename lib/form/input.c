/* SPDX-License-Identifier: MIT */
#include "form/input.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>

#include "form/characters.h"
#include "form/formats.h"
#include "form/value.h"

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

static const char *const types[] = { "text", "secret", "multiline", "email",
	"url", "number", "choice", "checkbox" };

static bool
read_name(struct um_input *input, const struct um_place *at)
{
	const struct um_json_node *node = um_place_get(at, "name");
	struct um_str name = um_json_str(node);
	bool ok = um_json_is(node, UM_JSON_STRING) && name.len != 0
		&& name.len <= UM_FORM_NAMES_MAX
		&& islower((unsigned char)name.ptr[0]);

	for (size_t i = 0; ok && i < name.len; i++)
		ok = islower((unsigned char)name.ptr[i])
			|| isdigit((unsigned char)name.ptr[i])
			|| name.ptr[i] == '_';
	if (!ok)
		return um_place_refuse(at, "name",
			"is not a name of [a-z][a-z0-9_]*");
	input->name = name;
	return true;
}

static bool
read_type(struct um_input *input, const struct um_place *at)
{
	struct um_str type = um_json_str(um_place_get(at, "type"));

	for (size_t i = 0; i < LENGTH(types); i++) {
		if (!um_json_is(um_place_get(at, "type"), UM_JSON_STRING)
			|| !um_str_is(type, types[i]))
			continue;
		input->type = (enum um_input_type)i;
		return true;
	}
	return um_place_refuse(at, "type", "is not a type");
}

static bool
read_link(struct um_input *input, const struct um_place *at)
{
	static const char *const names[] = { "url", "label", NULL };
	struct um_place here = { .node = um_place_get(at, "link"),
		.fault = at->fault };
	const struct um_json_node *url;

	if (here.node == NULL)
		return true;
	snprintf(here.pointer, sizeof(here.pointer), "%.32s/link", at->pointer);
	if (!um_place_has(&here, names)
		|| !um_place_words(&input->link_label, &here, "label",
			UM_FORM_LINK_LABEL_MAX, false, true))
		return false;
	url = um_place_get(&here, "url");
	input->link = um_json_str(url);
	if (!um_json_is(url, UM_JSON_STRING) || !um_is_link(input->link))
		return um_place_refuse(&here, "url", "is not an https address");
	return true;
}

/* Whether the type has this member at all. */
static bool
read_absent(const struct um_place *at, const char *name, bool is_allowed)
{
	return is_allowed || um_place_get(at, name) == NULL
		|| um_place_refuse(at, name, "is not for this type");
}

static bool
read_length(size_t *out, const struct um_place *at, const char *name,
	size_t most)
{
	const struct um_json_node *node = um_place_get(at, name);
	double number;

	if (node == NULL)
		return true;
	if (!um_json_is(node, UM_JSON_INTEGER)
		|| !um_value_number(&number, um_json_str(node)) || number < 0
		|| number > (double)most)
		return um_place_refuse(at, name,
			"is not a length that is possible");
	*out = (size_t)number;
	return true;
}

static bool
read_bound(double *out, const struct um_place *at, const char *name)
{
	const struct um_json_node *node = um_place_get(at, name);

	return node == NULL
		|| ((um_json_is(node, UM_JSON_INTEGER)
			    || um_json_is(node, UM_JSON_REAL))
			&& um_value_number(out, um_json_str(node)))
		|| um_place_refuse(at, name,
			"is not a number of at most 15 digits");
}

static bool
read_limits(struct um_input *input, const struct um_place *at)
{
	size_t most = input->type == UM_INPUT_EMAIL ? UM_FORM_EMAIL_MAX
		: input->type == UM_INPUT_URL       ? UM_LINK_MAX
						    : UM_FORM_VALUES_MAX;
	bool has_limits = input->type != UM_INPUT_CHOICE
		&& input->type != UM_INPUT_CHECKBOX;

	if (!read_absent(at, "min", has_limits)
		|| !read_absent(at, "max", has_limits))
		return false;
	input->least = -INFINITY;
	input->greatest = INFINITY;
	if (input->type == UM_INPUT_NUMBER)
		return read_bound(&input->least, at, "min")
			&& read_bound(&input->greatest, at, "max")
			&& (input->least <= input->greatest
				|| um_place_refuse(at, "max",
					"is less than min"));
	input->max = input->has_lines || most < UM_FORM_ONE_LINE_MAX
			|| input->type == UM_INPUT_URL
		? most
		: UM_FORM_ONE_LINE_MAX;
	return read_length(&input->min, at, "min", most)
		&& read_length(&input->max, at, "max", most)
		&& ((input->max != 0 && input->min <= input->max)
			|| um_place_refuse(at, "max",
				"is zero, or less than min"));
}

static bool
read_format(struct um_input *input, const struct um_place *at)
{
	const struct um_json_node *node = um_place_get(at, "format");

	if (!read_absent(at, "format",
		    (input->type == UM_INPUT_TEXT
			    || input->type == UM_INPUT_SECRET)
			    && !input->has_lines))
		return false;
	return node == NULL
		|| (um_json_is(node, UM_JSON_STRING)
			&& um_format_named(&input->format, um_json_str(node)))
		|| um_place_refuse(at, "format", "is not a format");
}

static bool
read_choice(const struct um_input *input, const struct um_place *at)
{
	static const char *const names[] = { "value", "label", NULL };
	const struct um_json_node *label, *value;
	struct um_str text;
	size_t count;

	if (!um_place_has(at, names)
		|| !um_place_words(&label, at, "label", UM_FORM_LABEL_MAX,
			false, true))
		return false;
	value = um_place_get(at, "value");
	text = um_json_str(value);
	if (!um_json_is(value, UM_JSON_STRING) || text.len == 0
		|| text.len > UM_FORM_CHOICE_MAX
		|| !um_characters_count(&count, text, false))
		return um_place_refuse(at, "value",
			"is not a text of this length");
	/* A sent value is trimmed, so that it could never be this one. */
	if (um_str_trim(text).len != text.len)
		return um_place_refuse(at, "value",
			"begins or ends with a blank");
	return um_input_choice(input, text) == at->node
		|| um_place_refuse(at, "value", "is used twice");
}

static bool
read_choices(struct um_input *input, const struct um_place *at)
{
	const struct um_json_node *node = NULL;
	size_t len = 0;

	if (!read_absent(at, "choices", input->type == UM_INPUT_CHOICE))
		return false;
	if (input->type != UM_INPUT_CHOICE)
		return true;
	input->choices = um_place_get(at, "choices");
	while ((node = um_json_next(input->choices, node)) != NULL) {
		struct um_place here = um_place_element(at, "choices", len,
			node);

		if (++len > UM_FORM_CHOICES_MAX)
			break;
		if (!read_choice(input, &here))
			return false;
	}
	return (len != 0 && len <= UM_FORM_CHOICES_MAX)
		|| um_place_refuse(at, "choices",
			"is not a list of 1 to 20 choices");
}

static bool
read_default(struct um_input *input, const struct um_place *at)
{
	const struct um_json_node *node = um_place_get(at, "default");
	enum um_json_kind kind;

	if (!read_absent(at, "default", input->type != UM_INPUT_SECRET))
		return false;
	if (node == NULL)
		return true;
	kind = node->kind;
	input->initial = node;
	if (input->type == UM_INPUT_CHECKBOX)
		return kind == UM_JSON_TRUE || kind == UM_JSON_FALSE
			|| um_place_refuse(at, "default",
				"is neither true nor false");
	return ((input->type == UM_INPUT_NUMBER ? kind == UM_JSON_INTEGER
					|| kind == UM_JSON_REAL
						: kind == UM_JSON_STRING)
		       && node->len != 0
		       && um_value_check(input, um_json_str(node))
			       == UM_MISTAKE_NONE)
		|| um_place_refuse(at, "default",
			"is not what the field accepts");
}

bool
um_input_read(struct um_input *input, const struct um_place *at)
{
	static const char *const names[] = { "name", "type", "label", "help",
		"link", "required", "multiline", "min", "max", "format",
		"choices", "default", NULL };
	bool is_multiline;

	if (!um_place_has(at, names) || !read_name(input, at)
		|| !read_type(input, at)
		|| !read_absent(at, "multiline", input->type == UM_INPUT_SECRET)
		|| !um_place_bool(&is_multiline, at, "multiline"))
		return false;
	input->has_lines = is_multiline || input->type == UM_INPUT_MULTILINE;
	return um_place_words(&input->label, at, "label", UM_FORM_LABEL_MAX,
		       false, true)
		&& um_place_words(&input->help, at, "help", UM_FORM_HELP_MAX,
			true, false)
		&& read_link(input, at)
		&& um_place_bool(&input->required, at, "required")
		&& read_limits(input, at) && read_format(input, at)
		&& read_choices(input, at) && read_default(input, at);
}
