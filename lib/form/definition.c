/* SPDX-License-Identifier: MIT */
#include "form/definition.h"

#include <stdio.h>
#include <stdlib.h>

#include "form/input.h"
#include "form/schema.h"
#include "form/words.h"

#define VALUES_MAX 4096 /* values and names of the JSON */

static const struct um_json_node *
member(const struct um_json_node *object, const char *name)
{
	return um_json_member(object, um_str(name));
}

static bool
read_inputs(struct um_definition *definition, const struct um_json_node *schema,
	struct um_schema_fault *fault)
{
	const struct um_json_node *list = member(definition->json, "fields"),
				  *node = NULL;
	char pointer[32];

	/* The schema allows no more than there is room for. */
	while ((node = um_json_next(list, node)) != NULL
		&& definition->inputs_len < UM_FORM_INPUTS_MAX) {
		size_t index = definition->inputs_len++;

		snprintf(pointer, sizeof(pointer), "/fields/%zu", index);
		if (!um_input_read(&definition->input[index], node, schema,
			    pointer, fault))
			return false;
	}
	return true;
}

static void
read_facts(struct um_definition *definition)
{
	const struct um_json_node *list = member(definition->json, "facts"),
				  *node = NULL;

	while ((node = um_json_next(list, node)) != NULL
		&& definition->facts_len < UM_FORM_FACTS_MAX) {
		struct um_fact *fact =
			&definition->fact[definition->facts_len++];

		fact->label = member(node, "label");
		fact->value = member(node, "value");
	}
}

/* Reads what is as the schema says. */
static bool
read_all(struct um_definition *definition, const struct um_json_node *schema,
	struct um_schema_fault *fault)
{
	const struct um_json_node *comment = member(definition->json,
		"comment");

	definition->language = UM_LANGUAGE_EN;
	um_words_language(&definition->language,
		um_json_str(member(definition->json, "language")));
	definition->title = member(definition->json, "title");
	definition->text = member(definition->json, "text");
	definition->submit_label = member(definition->json, "submit_label");
	if (comment != NULL)
		definition->comment = um_json_string_eq(comment,
					      um_str("required"))
			? UM_COMMENT_REQUIRED
			: UM_COMMENT_OPTIONAL;
	definition->step_up = member(definition->json, "step_up") != NULL;
	read_facts(definition);
	return read_inputs(definition, schema, fault);
}

bool
um_definition_read(struct um_definition *definition, struct um_str json,
	bool is_approval, struct um_schema_fault *fault)
{
	struct um_json_node *schema;
	bool ok;

	*definition = (struct um_definition){ 0 };
	if (json.len > UM_DEFINITION_MAX)
		return um_schema_refuse(fault, "",
			"must have at most %d bytes as JSON, and has %zu",
			UM_DEFINITION_MAX, json.len);
	definition->json = um_json_parse(json, VALUES_MAX, NULL);
	schema = um_schema_of_forms();
	if (definition->json == NULL || schema == NULL)
		ok = um_schema_refuse(fault, "", "must be JSON");
	else
		ok = um_schema_check(schema, is_approval ? "approval" : "input",
			     definition->json, fault)
			&& read_all(definition, schema, fault);
	free(schema);
	return ok;
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
