/* SPDX-License-Identifier: MIT */
/*
 * What a page of kind `input` or `approval` asks: the JSON that the MCP server
 * has sealed into the row. lib/PROTOCOL.md specifies it; in JavaScript it is
 * checked by lib/node/src/form.js.
 */
#ifndef UM_DEFINITION_H
#define UM_DEFINITION_H

#include <stdbool.h>
#include <stddef.h>

#include "core/json.h"
#include "core/str.h"
#include "form/pattern.h"
#include "form/words.h"

#define UM_DEFINITION_MAX 16384 /* bytes of the JSON */
#define UM_FORM_TITLE_MAX 120   /* characters */
#define UM_FORM_TEXT_MAX 2000
#define UM_FORM_LABEL_MAX 200
#define UM_FORM_HELP_MAX 500
#define UM_FORM_FACT_LABEL_MAX 120
#define UM_FORM_FACT_MAX 500
#define UM_FORM_LINK_LABEL_MAX 120
#define UM_FORM_LINK_MAX 2048 /* bytes of an address */
#define UM_FORM_NAMES_MAX 32  /* characters of the name of a field */
#define UM_FORM_INPUTS_MAX 16
#define UM_FORM_FACTS_MAX 20
#define UM_FORM_CHOICES_MAX 20
#define UM_FORM_CHOICE_MAX 200    /* bytes of the value of a choice */
#define UM_FORM_ONE_LINE_MAX 1000 /* characters, unless the field says */
#define UM_FORM_VALUES_MAX 8192   /* characters, the most that it may say */
#define UM_FORM_EMAIL_MAX 254
#define UM_FORM_DIGITS_MAX 15    /* of a number: a double holds them */
#define UM_FORM_COMMENT_MAX 2000 /* characters */

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
	bool has_lines;  /* of several lines: UM_INPUT_MULTILINE, or a secret */
	size_t min, max; /* characters of a text */
	double least, greatest; /* of a number */
	struct um_pattern *pattern;
	const struct um_json_node *choices; /* an array of objects */
	const struct um_json_node *initial; /* the default */
};

enum um_comment { UM_COMMENT_NONE, UM_COMMENT_OPTIONAL, UM_COMMENT_REQUIRED };

struct um_definition {
	struct um_json_node *json;
	enum um_language language;               /* of a text in one language */
	const struct um_json_node *title, *text; /* words */
	size_t inputs_len;
	struct um_input input[UM_FORM_INPUTS_MAX];
	size_t facts_len;
	struct um_fact {
		const struct um_json_node *label, *value; /* words */
	} fact[UM_FORM_FACTS_MAX];
	enum um_comment comment;
};

/* The place of a mistake, as a JSON pointer (RFC 6901), and what it is. */
struct um_definition_fault {
	char pointer[80];
	const char *reason;
};

/*
 * Reads the definition of an approval, or of an input. False, and *fault: it is
 * not one. The caller frees it with um_definition_free() in every case.
 */
bool um_definition_read(struct um_definition *definition, struct um_str json,
	bool is_approval, struct um_definition_fault *fault);

void um_definition_free(struct um_definition *definition);

/* The input with this name, or NULL. */
const struct um_input *
um_definition_input(const struct um_definition *definition, struct um_str name);

/* The element of `choices` with this value, or NULL. */
const struct um_json_node *um_input_choice(const struct um_input *input,
	struct um_str value);

#endif
