/* SPDX-License-Identifier: MIT */
#include "form/value.h"

#include "form/characters.h"
#include "form/formats.h"

static enum um_mistake
check_number(const struct um_input *input, struct um_str value)
{
	double number;

	if (!um_format_number(&number, value))
		return UM_MISTAKE_NUMBER;
	if (number < input->least)
		return UM_MISTAKE_TOO_SMALL;
	return number > input->greatest ? UM_MISTAKE_TOO_GREAT
					: UM_MISTAKE_NONE;
}

static enum um_mistake
check_text(const struct um_input *input, struct um_str value)
{
	size_t count;

	if (!um_characters_count(&count, value, input->has_lines))
		return UM_MISTAKE_CHARACTERS;
	if (count > input->max)
		return UM_MISTAKE_TOO_LONG;
	if (count < input->min)
		return UM_MISTAKE_TOO_SHORT;
	if (input->type == UM_INPUT_EMAIL && !um_is_email(value))
		return UM_MISTAKE_EMAIL;
	if (input->type == UM_INPUT_URL && !um_is_url(value))
		return UM_MISTAKE_URL;
	return um_format_fits(input->format, value) ? UM_MISTAKE_NONE
						    : UM_MISTAKE_FORMAT;
}

const struct um_json_node *
um_input_choice(const struct um_input *input, struct um_str value)
{
	const struct um_json_node *node = NULL;

	while ((node = um_json_next(input->choices, node)) != NULL)
		if (um_json_string_eq(um_json_member(node, um_str("value")),
			    value))
			return node;
	return NULL;
}

enum um_mistake
um_value_check(const struct um_input *input, struct um_str value)
{
	if (input->type == UM_INPUT_NUMBER)
		return check_number(input, value);
	if (input->type == UM_INPUT_CHOICE)
		return um_input_choice(input, value) != NULL
			? UM_MISTAKE_NONE
			: UM_MISTAKE_CHOICE;
	return check_text(input, value);
}
