/* SPDX-License-Identifier: MIT */
/* The value of one field: whether it is what the field asks for. */
#ifndef UM_VALUE_H
#define UM_VALUE_H

#include <stdbool.h>

#include "core/str.h"
#include "form/field.h"

/* What is wrong with a value; a page has a text for each. */
enum um_mistake {
	UM_MISTAKE_NONE,
	UM_MISTAKE_MISSING,
	UM_MISTAKE_CHARACTERS, /* it has one that no value may have */
	UM_MISTAKE_TOO_SHORT,
	UM_MISTAKE_TOO_LONG,
	UM_MISTAKE_FORMAT,
	UM_MISTAKE_EMAIL,
	UM_MISTAKE_URL,
	UM_MISTAKE_NUMBER,
	UM_MISTAKE_TOO_SMALL,
	UM_MISTAKE_TOO_GREAT,
	UM_MISTAKE_CHOICE,
	UM_MISTAKE_TOGETHER, /* all values are too long: the longest of them */
};

/* The element of `choices` with this value, or NULL. */
const struct um_json_node *um_input_choice(const struct um_input *input,
	struct um_str value);

/* What is wrong with a value that is not empty, of any type but a checkbox. */
enum um_mistake um_value_check(const struct um_input *input,
	struct um_str value);

#endif
