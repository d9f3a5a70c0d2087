/* SPDX-License-Identifier: MIT */
/*
 * One field on the page of a form: its label, the element that takes the value,
 * and under it its help, its link and what is wrong with it. All texts are
 * escaped.
 */
#ifndef UM_CONTROL_H
#define UM_CONTROL_H

#include <stdbool.h>

#include "core/json.h"
#include "form/answers.h"
#include "form/definition.h"
#include "http/document.h"

/* What the fields of a page have in common. */
struct um_controls {
	struct um_document page;
	const struct um_definition *definition;
	/* What they show; NULL: their defaults. A secret is never shown. */
	const struct um_answers *answers;
	/* What the MCP server says of a value: {"field", "problem"}, or NULL. */
	const struct um_json_node *problem;
	bool has_focus; /* a field with a mistake has autofocus already */
};

/* The name of the field that has the problem; empty for none. */
struct um_str um_control_problem_field(const struct um_json_node *problem);

/*
 * Writes words (form/words.h) as an element of the page. `attributes` is HTML
 * that begins with a space, or "". Nothing for NULL.
 */
void um_control_words(const struct um_controls *controls, const char *element,
	const char *attributes, const struct um_json_node *words);

/* Writes the field. NULL: the comment of an approval. */
void um_control_put(struct um_controls *controls, const struct um_input *input);

#endif
