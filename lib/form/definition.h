/* SPDX-License-Identifier: MIT */
/*
 * What a page of kind `input` or `approval` asks: the JSON that the MCP server
 * has sealed into the row. lib/contract/form.schema.json says what it may have,
 * for all languages.
 */
#ifndef UM_DEFINITION_H
#define UM_DEFINITION_H

#include <stdbool.h>
#include <stddef.h>

#include "core/json.h"
#include "core/str.h"
#include "form/field.h"
#include "form/schema.h"
#include "form/words.h"

#define UM_DEFINITION_MAX 16384 /* bytes of the JSON */
#define UM_FORM_INPUTS_MAX 16
#define UM_FORM_FACTS_MAX 20
#define UM_FORM_COMMENT_MAX 2000 /* characters */

enum um_comment { UM_COMMENT_NONE, UM_COMMENT_OPTIONAL, UM_COMMENT_REQUIRED };

struct um_definition {
	struct um_json_node *json;
	enum um_language language;               /* of a text in one language */
	const struct um_json_node *title, *text; /* words */
	const struct um_json_node *submit_label; /* words, or NULL: ours */
	size_t inputs_len;
	struct um_input input[UM_FORM_INPUTS_MAX];
	size_t facts_len;
	struct um_fact {
		const struct um_json_node *label, *value; /* words */
	} fact[UM_FORM_FACTS_MAX];
	enum um_comment comment;
	bool step_up; /* of an approval: it demands a fresh sign-in */
};

/*
 * Reads the definition of an approval, or of an input. False, and *fault: it is
 * not one. The caller frees it with um_definition_free() in every case.
 */
bool um_definition_read(struct um_definition *definition, struct um_str json,
	bool is_approval, struct um_schema_fault *fault);

void um_definition_free(struct um_definition *definition);

/* The input with this name, or NULL. */
const struct um_input *
um_definition_input(const struct um_definition *definition, struct um_str name);

#endif
