/* SPDX-License-Identifier: MIT */
#include "form/input.h"

#include <math.h>
#include <stdio.h>

#include "contract/texts.h"
#include "form/value.h"

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

static const char *const types[] = { "text", "secret", "multiline", "email",
	"url", "number", "choice", "checkbox" };

static const struct um_json_node *
member(const struct um_json_node *object, const char *name)
{
	return um_json_member(object, um_str(name));
}

static double
number_of(const struct um_json_node *node, const char *name, double otherwise)
{
	double number = otherwise;

	um_format_number(&number, um_json_str(member(node, name)));
	return number;
}

static void
read_type(struct um_input *input, const struct um_json_node *node)
{
	for (size_t i = 0; i < LENGTH(types); i++)
		if (um_json_string_eq(member(node, "type"), um_str(types[i])))
			input->type = (enum um_input_type)i;
}

/* The bounds of a number, or the lengths of a text. */
static void
read_bounds(struct um_input *input, const struct um_json_node *node,
	const struct um_json_node *schema)
{
	const struct um_json_node *rules = um_schema_get(schema,
		um_str(types[input->type]));
	const struct um_json_node *most = member(member(rules, "properties"),
		"max");
	double usual = number_of(most, input->has_lines ? "maximum" : "default",
		0);

	input->least = number_of(node, "min", -INFINITY);
	input->greatest = number_of(node, "max", INFINITY);
	if (input->type == UM_INPUT_NUMBER)
		return;
	input->min = (size_t)number_of(node, "min", 0);
	input->max = (size_t)number_of(node, "max", usual);
}

/* Whether the default, which is as the schema says, is one of the choices. */
static bool
check_choice(const struct um_input *input, const char *pointer,
	struct um_schema_fault *fault)
{
	return input->initial == NULL
		|| um_input_choice(input, um_json_str(input->initial)) != NULL
		|| um_schema_refuse(fault, pointer, UM_TEXT_MUST_BE_CHOICE);
}

static bool
check_number(const struct um_input *input, const char *pointer,
	struct um_schema_fault *fault)
{
	return input->initial == NULL
		|| um_value_check(input, um_json_str(input->initial))
		== UM_MISTAKE_NONE
		|| um_schema_refuse(fault, pointer, UM_TEXT_MUST_BE_IN_RANGE);
}

static bool
check_text(const struct um_input *input, const struct um_json_node *node,
	const char *pointer, struct um_schema_fault *fault)
{
	switch (input->initial == NULL
			? UM_MISTAKE_NONE
			: um_value_check(input, um_json_str(input->initial))) {
	case UM_MISTAKE_TOO_SHORT:
	case UM_MISTAKE_TOO_LONG:
		return um_schema_refuse(fault, pointer,
			UM_TEXT_MUST_HAVE_LENGTH, input->min, input->max);
	case UM_MISTAKE_FORMAT: {
		struct um_str format = um_json_str(member(node, "format"));

		return um_schema_refuse(fault, pointer,
			UM_TEXT_MUST_HAVE_FORMAT, (int)format.len, format.ptr);
	}
	default:
		return true;
	}
}

static bool
check_input(const struct um_input *input, const struct um_json_node *node,
	const char *pointer, struct um_schema_fault *fault)
{
	char at[sizeof(fault->pointer)];

	snprintf(at, sizeof(at), "%s/default", pointer);
	if (input->type == UM_INPUT_CHECKBOX)
		return true;
	if (input->type == UM_INPUT_CHOICE)
		return check_choice(input, at, fault);
	if (input->type == UM_INPUT_NUMBER && input->least <= input->greatest)
		return check_number(input, at, fault);
	if (input->type != UM_INPUT_NUMBER && input->min <= input->max
		&& (!input->has_lines || input->format == UM_FORMAT_ANY))
		return check_text(input, node, at, fault);
	if (input->type != UM_INPUT_NUMBER && input->min <= input->max) {
		snprintf(at, sizeof(at), "%s/format", pointer);
		return um_schema_refuse(fault, at, UM_TEXT_NOT_FOR_LINES);
	}
	snprintf(at, sizeof(at), "%s/max", pointer);
	return input->type == UM_INPUT_NUMBER
		? um_schema_refuse(fault, at, UM_TEXT_MAX_BELOW_MIN)
		: um_schema_refuse(fault, at, UM_TEXT_USUAL_MAX_BELOW_MIN,
			input->max);
}

bool
um_input_read(struct um_input *input, const struct um_json_node *node,
	const struct um_json_node *schema, const char *pointer,
	struct um_schema_fault *fault)
{
	const struct um_json_node *link = member(node, "link");

	read_type(input, node);
	input->name = um_json_str(member(node, "name"));
	input->label = member(node, "label");
	input->help = member(node, "help");
	input->link = um_json_str(member(link, "url"));
	input->link_label = member(link, "label");
	input->required = um_json_is(member(node, "required"), UM_JSON_TRUE);
	input->saves = member(node, "save") != NULL;
	input->has_lines = input->type == UM_INPUT_MULTILINE
		|| member(node, "multiline") != NULL;
	read_bounds(input, node, schema);
	um_format_named(&input->format, um_json_str(member(node, "format")));
	input->choices = member(node, "choices");
	input->initial = member(node, "default");
	return check_input(input, node, pointer, fault);
}
