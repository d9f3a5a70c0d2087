/* SPDX-License-Identifier: MIT */
#include "form/definition.h"

#include <stdlib.h>

#include "form/input.h"
#include "form/place.h"
#include "form/words.h"

#define VALUES_MAX 4096 /* values and names of the JSON */

static bool
read_input(struct um_definition *definition, const struct um_place *at)
{
	struct um_input *input = &definition->input[definition->inputs_len];
	bool ok = um_input_read(input, at);

	/* Before it is counted, no field is compared with itself. */
	if (ok && um_definition_input(definition, input->name) != NULL)
		ok = um_place_refuse(at, "name", "is used twice");
	definition->inputs_len++;
	return ok;
}

static bool
read_inputs(struct um_definition *definition, const struct um_place *at)
{
	const struct um_json_node *list = um_place_get(at, "fields"),
				  *node = NULL;
	size_t len = 0;

	while ((node = um_json_next(list, node)) != NULL) {
		struct um_place here = um_place_element(at, "fields", len,
			node);

		if (++len > UM_FORM_INPUTS_MAX)
			break;
		if (!read_input(definition, &here))
			return false;
	}
	return (len != 0 && len <= UM_FORM_INPUTS_MAX)
		|| um_place_refuse(at, "fields",
			"is not a list of 1 to 16 fields");
}

static bool
read_facts(struct um_definition *definition, const struct um_place *at)
{
	static const char *const names[] = { "label", "value", NULL };
	const struct um_json_node *list = um_place_get(at, "facts"),
				  *node = NULL;

	if (list != NULL && !um_json_is(list, UM_JSON_ARRAY))
		return um_place_refuse(at, "facts", "is not a list");
	while ((node = um_json_next(list, node)) != NULL) {
		struct um_fact *fact = &definition->fact[definition->facts_len];
		struct um_place here = um_place_element(at, "facts",
			definition->facts_len, node);

		if (definition->facts_len++ == UM_FORM_FACTS_MAX)
			return um_place_refuse(at, "facts",
				"has more than 20 facts");
		if (!um_place_has(&here, names)
			|| !um_place_words(&fact->label, &here, "label",
				UM_FORM_FACT_LABEL_MAX, false, true)
			|| !um_place_words(&fact->value, &here, "value",
				UM_FORM_FACT_MAX, true, true))
			return false;
	}
	return true;
}

static bool
read_comment(struct um_definition *definition, const struct um_place *at)
{
	const struct um_json_node *node = um_place_get(at, "comment");

	if (um_json_string_eq(node, um_str("optional")))
		definition->comment = UM_COMMENT_OPTIONAL;
	else if (um_json_string_eq(node, um_str("required")))
		definition->comment = UM_COMMENT_REQUIRED;
	else if (node != NULL)
		return um_place_refuse(at, "comment",
			"is not optional or required");
	return true;
}

static bool
read_language(struct um_definition *definition, const struct um_place *at)
{
	const struct um_json_node *node = um_place_get(at, "language");

	definition->language = UM_LANGUAGE_EN;
	return node == NULL
		|| (um_json_is(node, UM_JSON_STRING)
			&& um_words_language(&definition->language,
				um_json_str(node)))
		|| um_place_refuse(at, "language",
			"is not a language of the pages");
}

bool
um_definition_read(struct um_definition *definition, struct um_str json,
	bool is_approval, struct um_definition_fault *fault)
{
	static const char *const of_input[] = { "language", "title", "text",
		"facts", "fields", NULL };
	static const char *const of_approval[] = { "language", "title", "text",
		"facts", "comment", NULL };
	struct um_place root = { .fault = fault };

	*definition = (struct um_definition){ 0 };
	if (json.len > UM_DEFINITION_MAX)
		return um_place_refuse(&root, NULL, "is too long");
	root.node = definition->json = um_json_parse(json, VALUES_MAX, NULL);
	if (root.node == NULL)
		return um_place_refuse(&root, NULL, "is not JSON");
	return um_place_has(&root, is_approval ? of_approval : of_input)
		&& read_language(definition, &root)
		&& um_place_words(&definition->title, &root, "title",
			UM_FORM_TITLE_MAX, false, true)
		&& um_place_words(&definition->text, &root, "text",
			UM_FORM_TEXT_MAX, true, false)
		&& read_facts(definition, &root)
		&& (is_approval ? read_comment(definition, &root)
				: read_inputs(definition, &root));
}

void
um_definition_free(struct um_definition *definition)
{
	free(definition->json);
	*definition = (struct um_definition){ 0 };
}

const struct um_input *
um_definition_input(const struct um_definition *definition, struct um_str name)
{
	for (size_t i = 0; i < definition->inputs_len; i++)
		if (um_str_eq(definition->input[i].name, name))
			return &definition->input[i];
	return NULL;
}
