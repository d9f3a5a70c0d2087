/* SPDX-License-Identifier: MIT */
/* A field of a form, as its definition describes it. */
#ifndef UM_FORM_FIELD_H
#define UM_FORM_FIELD_H

#include <stdbool.h>
#include <stddef.h>

#include "core/json.h"
#include "core/str.h"
#include "form/formats.h"

#define UM_FORM_VALUES_MAX 8192 /* characters, the most that a field may say */

enum um_input_type {
	UM_INPUT_TEXT,
	UM_INPUT_SECRET,
	UM_INPUT_MULTILINE,
	UM_INPUT_EMAIL,
	UM_INPUT_URL,
	UM_INPUT_NUMBER,
	UM_INPUT_CHOICE,
	UM_INPUT_CHECKBOX,
};

/* Nodes and texts belong to the definition; NULL for what it does not have. */
struct um_input {
	enum um_input_type type;
	struct um_str name;
	const struct um_json_node *label, *help; /* words */
	struct um_str link;
	const struct um_json_node *link_label; /* words */
	bool required;
	bool saves;      /* a secret that a password manager may keep */
	bool has_lines;  /* of several lines: UM_INPUT_MULTILINE, or a secret */
	size_t min, max; /* characters of a text */
	double least, greatest; /* of a number */
	enum um_format format;
	const struct um_json_node *choices; /* an array of objects */
	const struct um_json_node *initial; /* the default */
};

#endif
