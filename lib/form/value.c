/* SPDX-License-Identifier: MIT */
#include "form/value.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "form/characters.h"
#include "form/formats.h"

static size_t
digits_at(struct um_str text, size_t at)
{
	size_t len = 0;

	while (at + len < text.len
		&& isdigit((unsigned char)text.ptr[at + len]))
		len++;
	return len;
}

bool
um_value_number(double *number, struct um_str text)
{
	size_t at = text.len != 0 && text.ptr[0] == '-';
	size_t whole = digits_at(text, at), fraction = 0;
	char copy[UM_FORM_DIGITS_MAX + 3];

	if (whole == 0 || (whole > 1 && text.ptr[at] == '0'))
		return false;
	at += whole;
	if (at < text.len && text.ptr[at] == '.') {
		fraction = digits_at(text, at + 1);
		if (fraction == 0)
			return false;
		at += 1 + fraction;
	}
	if (at != text.len || whole + fraction > UM_FORM_DIGITS_MAX)
		return false;
	memcpy(copy, text.ptr, text.len);
	copy[text.len] = '\0';
	*number = strtod(copy, NULL);
	explicit_bzero(copy, sizeof(copy));
	return true;
}

static enum um_mistake
check_number(const struct um_input *input, struct um_str value)
{
	double number;

	if (!um_value_number(&number, value))
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
