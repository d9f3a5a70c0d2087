/* SPDX-License-Identifier: MIT */
/* Values are checked as in the packages: tests/vectors/schema-cases.json. */
#include "form/schema.h"

#include <stdlib.h>
#include <string.h>

#include "support.h"

static struct um_json_node *
parse(const json_t *value)
{
	char *text = json_dumps(value, JSON_REAL_PRECISION(17));
	struct um_json_node *node = um_json_parse(um_str(text), 4096, NULL);

	free(text);
	assert_non_null(node);
	return node;
}

static const char *
text_of(const json_t *row, const char *name)
{
	const char *text = json_string_value(json_object_get(row, name));

	return text != NULL ? text : "";
}

static void
check_row(const struct um_json_node *schema, const char *name,
	const json_t *row)
{
	json_t *list = json_pack("[O]", json_object_get(row, "value"));
	struct um_json_node *value = parse(list);
	struct um_schema_fault fault = { 0 };
	bool ok = um_schema_check(schema, "it", value + 1, &fault);

	row_begin("%s: %s %s", name, fault.pointer, fault.must);
	assert_row(name, ok == (json_object_get(row, "must") == NULL));
	assert_row(name, strcmp(fault.pointer, text_of(row, "pointer")) == 0);
	assert_row(name, strcmp(fault.must, text_of(row, "must")) == 0);
	free(value);
	json_decref(list);
}

TEST(the_first_mistake_has_a_place_and_a_sentence)
{
	json_t *all = json_load_file("tests/vectors/schema-cases.json", 0,
		NULL);
	json_t *group, *row;
	size_t i, j;

	assert_true(json_array_size(all) >= 20);
	json_array_foreach (all, i, group) {
		struct um_json_node *schema = parse(
			json_object_get(group, "schema"));

		json_array_foreach (json_object_get(group, "cases"), j, row) {
			check_row(schema, text_of(group, "name"), row);
		}
		free(schema);
	}
	json_decref(all);
}

/* A name from outside is cut, and its place has an end. */
TEST(a_long_name_is_cut)
{
	struct um_json_node *schema = um_schema_of_forms(), *value;
	struct um_schema_fault fault;
	char text[300];

	assert_non_null(schema);
	memset(text, '~', sizeof(text));
	/* NOLINTNEXTLINE(bugprone-not-null-terminated-result): it goes on */
	memcpy(text, "{\"title\":\"T\",\"", 14);
	memcpy(text + sizeof(text) - 5, "\":1}", 5);
	value = um_json_parse(um_str(text), 16, NULL);
	assert_non_null(value);
	assert_false(um_schema_check(schema, "approval", value, &fault));
	assert_int_equal(strlen(fault.pointer), 65);
	assert_int_equal(strncmp(fault.pointer, "/~0~0", 5), 0);
	free(value);
	free(schema);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_mistake_has_a_place_and_a_sentence),
		cmocka_unit_test(a_long_name_is_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
