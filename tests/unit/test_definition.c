/* SPDX-License-Identifier: MIT */
/* What a form may ask: tests/vectors/form.json. */
#include <stdlib.h>
#include <string.h>

#include "form/definition.h"
#include "support.h"

/* Reads the definition of a vector. */
static bool
read_vector(struct um_definition *definition, const json_t *vector,
	struct um_schema_fault *fault)
{
	char *text = json_dumps(json_object_get(vector, "form"), 0);
	const char *kind = vector_text(vector, "kind");
	bool ok = um_definition_read(definition, um_str(text),
		strcmp(kind, "approval") == 0, fault);

	free(text);
	return ok;
}

TEST(good_forms_are_read)
{
	json_t *list = form_vectors("forms"), *vector;
	struct um_schema_fault fault;
	size_t i;

	assert_true(json_array_size(list) >= 5);
	json_array_foreach (list, i, vector) {
		struct um_definition definition;

		row_begin("%s", vector_text(vector, "name"));
		assert_row(vector_text(vector, "name"),
			read_vector(&definition, vector, &fault));
		assert_int_equal(definition.inputs_len,
			json_array_size(
				json_object_get(json_object_get(vector, "form"),
					"fields")));
		um_definition_free(&definition);
	}
	json_decref(list);
}

TEST(broken_forms_are_refused_at_their_place)
{
	json_t *list = form_vectors("broken"), *vector;
	size_t i;

	assert_true(json_array_size(list) >= 60);
	json_array_foreach (list, i, vector) {
		struct um_schema_fault fault = { .pointer = "none" };
		struct um_definition definition;

		row_begin("%s", vector_text(vector, "name"));
		assert_row(vector_text(vector, "name"),
			!read_vector(&definition, vector, &fault));
		assert_string_equal(fault.pointer,
			vector_text(vector, "pointer"));
		assert_string_equal(fault.must, vector_text(vector, "must"));
		um_definition_free(&definition);
	}
	json_decref(list);
}

TEST(what_is_no_json_or_too_long)
{
	static char text[UM_DEFINITION_MAX + 2];
	struct um_definition definition;
	struct um_schema_fault fault;

	memset(text, ' ', sizeof(text) - 1);
	memcpy(text, "{\"title\":\"T\"}", 13);
	assert_false(
		um_definition_read(&definition, um_str(text), true, &fault));
	um_definition_free(&definition);
	text[UM_DEFINITION_MAX] = '\0';
	assert_true(
		um_definition_read(&definition, um_str(text), true, &fault));
	um_definition_free(&definition);
	assert_false(um_definition_read(&definition, STR("{\"title\":"), true,
		&fault));
	um_definition_free(&definition);
	assert_false(um_definition_read(&definition,
		STR("{\"title\":\"T\",\"title\":\"T\"}"), true, &fault));
	um_definition_free(&definition);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(good_forms_are_read),
		cmocka_unit_test(broken_forms_are_refused_at_their_place),
		cmocka_unit_test(what_is_no_json_or_too_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
