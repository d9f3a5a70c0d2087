/* SPDX-License-Identifier: MIT */
/* The definition of a form in the first line, and what was posted after it. */
#include "form/answers.h"
#include "form/characters.h"
#include "fuzz.h"

static void
check_values(const struct um_definition *definition,
	const struct um_answers *answers)
{
	struct um_buf json = { 0 };
	struct um_json_node *values;

	if (answers->mistakes != 0)
		return;
	um_answers_put(&json, answers, definition, true);
	values = um_json_parse(um_buf_str(&json), 4096, NULL);
	HOLDS(values != NULL);
	for (size_t i = 0; i < definition->inputs_len; i++) {
		const struct um_input *input = &definition->input[i];
		const struct um_json_node *value = um_json_member(values,
			input->name);
		size_t count;

		HOLDS(value != NULL || !input->required);
		if (um_json_is(value, UM_JSON_STRING))
			HOLDS(um_characters_count(&count,
				(struct um_str){ value->text, value->len },
				input->has_lines));
	}
	free(values);
	um_buf_free(&json);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct um_str rest = { (const char *)data, size };
	struct um_str json = fuzz_line(&rest);
	struct um_str body = fuzz_rest(&rest);
	struct um_schema_fault fault = { .must = "" };
	struct um_definition definition;
	struct um_answers answers = { 0 };
	struct um_form form;

	for (int approval = 0; approval < 2; approval++) {
		bool ok = um_definition_read(&definition, json, approval != 0,
			&fault);

		HOLDS(ok || fault.must[0] != '\0');
		if (ok && um_form_parse(&form, body) == UM_REFUSAL_NONE) {
			if (um_answers_read(&answers, &definition, &form, true)
				== UM_ANSWERS_READ)
				check_values(&definition, &answers);
			um_answers_free(&answers);
		}
		if (ok)
			um_form_free(&form);
		um_definition_free(&definition);
	}
	fuzz_free(json);
	fuzz_free(body);
	return 0;
}
