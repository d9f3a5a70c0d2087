/* SPDX-License-Identifier: MIT */
/* The strict reader of requests: what it takes, and the member that a fault names. */
#include "api/reader.h"

#include <stdlib.h>
#include <string.h>

#include "support.h"

/* What a request has here: each type of member once. */
struct all {
	struct um_str text, word;
	int64_t number;
	bool flag;
	size_t choice;
	uint8_t id[UM_UUID_LEN];
	struct um_str inner;
	int64_t last;
};

static void
read_all(struct all *all, const char *json, struct um_reader_fault *fault,
	struct um_json_node **root)
{
	static const char *const words[] = { "red", "green", NULL };
	const struct um_json_node *array, *element = NULL;
	struct um_reader reader, inner;

	*all = (struct all){ .number = -1 };
	*fault = (struct um_reader_fault){ "", "" };
	*root = um_json_parse_with_nul(um_str(json), 100, NULL);
	reader = um_reader_root(*root, fault);
	um_reader_text(&reader, "text", UM_REQUIRED, 1, 4, &all->text);
	um_reader_word(&reader, "word", UM_OPTIONAL, 3, "abc", &all->word);
	um_reader_int(&reader, "number", UM_OPTIONAL, 0, 10, &all->number);
	um_reader_bool(&reader, "flag", &all->flag);
	um_reader_choice(&reader, "choice", UM_OPTIONAL, words, &all->choice);
	um_reader_uuid(&reader, "id", UM_OPTIONAL, all->id);
	if (um_reader_object(&reader, "object", UM_OPTIONAL, &inner)) {
		um_reader_text(&inner, "inner", UM_REQUIRED, 0, 4, &all->inner);
		um_reader_end(&inner);
	}
	if (um_reader_array(&reader, "list", UM_OPTIONAL, 1, 2, &array)) {
		size_t i = 0;

		while ((element = um_json_next(array, element)) != NULL) {
			inner = um_reader_element(&reader, "list", element,
				i++);
			um_reader_int(&inner, "n", UM_REQUIRED, 0, 9,
				&all->last);
			um_reader_end(&inner);
		}
	}
	um_reader_end(&reader);
}

TEST(everything_that_is_there_is_read)
{
	struct um_reader_fault fault;
	struct um_json_node *root;
	struct all all;

	read_all(&all,
		"{\"list\":[{\"n\":1},{\"n\":2}],\"object\":{\"inner\":\"\"},"
		"\"id\":\"6F1C9A52-3f0e-4d1b-9c57-0f2f6f3b8a11\",\"flag\":true,"
		"\"choice\":\"green\",\"number\":10,\"word\":\"cab\","
		"\"text\":\"\\u00e9a\"}",
		&fault, &root);
	assert_string_equal(fault.message, "");
	assert_str(all.text,
		"\xc3\xa9"
		"a");
	assert_str(all.word, "cab");
	assert_int_equal(all.number, 10);
	assert_true(all.flag);
	assert_int_equal(all.choice, 1);
	assert_int_equal(all.id[0], 0x6f);
	assert_int_equal(all.last, 2);
	free(root);
}

TEST(each_fault_names_its_member)
{
	static const struct {
		const char *json, *member;
	} cases[] = {
		{ "[]", "" },
		{ "{}", "text" },
		{ "{\"text\":1}", "text" },
		{ "{\"text\":null}", "text" },
		{ "{\"text\":\"\"}", "text" },
		{ "{\"text\":\"abcde\"}", "text" },
		{ "{\"text\":\"a\\u0000\"}", "text" },
		{ "{\"text\":\"a\",\"word\":\"x\"}", "word" },
		{ "{\"text\":\"a\",\"word\":\"aaaa\"}", "word" },
		{ "{\"text\":\"a\",\"number\":11}", "number" },
		{ "{\"text\":\"a\",\"number\":-1}", "number" },
		{ "{\"text\":\"a\",\"number\":1.0}", "number" },
		{ "{\"text\":\"a\",\"number\":\"1\"}", "number" },
		{ "{\"text\":\"a\",\"flag\":1}", "flag" },
		{ "{\"text\":\"a\",\"choice\":\"blue\"}", "choice" },
		{ "{\"text\":\"a\",\"choice\":1}", "choice" },
		{ "{\"text\":\"a\",\"id\":\"6f1c\"}", "id" },
		{ "{\"text\":\"a\",\"object\":[]}", "object" },
		{ "{\"text\":\"a\",\"object\":{}}", "object.inner" },
		{ "{\"text\":\"a\",\"object\":{\"inner\":\"\",\"x\":1}}",
			"object.x" },
		{ "{\"text\":\"a\",\"list\":{}}", "list" },
		{ "{\"text\":\"a\",\"list\":[]}", "list" },
		{ "{\"text\":\"a\",\"list\":[{\"n\":1},{\"n\":1},{\"n\":1}]}",
			"list" },
		{ "{\"text\":\"a\",\"list\":[{\"n\":1},3]}", "list[1]." },
		{ "{\"text\":\"a\",\"list\":[{\"n\":1},{}]}", "list[1].n" },
		{ "{\"text\":\"a\",\"Text\":\"a\"}", "Text" },
		{ "{\"text\":\"a\",\"\":1}", "" },
		{ "{\"text\":\"a\",\"number\":11,\"more\":1}", "number" },
	};

	for (size_t i = 0; i < LENGTH(cases); i++) {
		struct um_reader_fault fault;
		struct um_json_node *root;
		struct all all;

		row_begin("%s", cases[i].json);
		read_all(&all, cases[i].json, &fault, &root);
		assert_true(fault.message[0] != '\0');
		assert_string_equal(fault.member, cases[i].member);
		free(root);
	}
}

/* More than UM_READER_MEMBERS_MAX names, and a name that is long or cut in UTF-8. */
TEST(names_that_are_not_known)
{
	struct um_buf json = { 0 };
	struct um_reader_fault fault;
	struct um_json_node *root;
	struct all all;

	um_buf_puts(&json, "{\"text\":\"a\"");
	for (int i = 0; i < 70; i++)
		um_buf_printf(&json, ",\"m%d\":1", i);
	um_buf_puts(&json, "}");
	um_buf_put(&json, "", 1);
	read_all(&all, json.ptr, &fault, &root);
	assert_null(root); /* over the values of this test */
	assert_string_equal(fault.member, "");
	free(root);
	um_buf_free(&json);
	um_buf_puts(&json, "{\"text\":\"a\",\"");
	for (int i = 0; i < 40; i++)
		um_buf_puts(&json, "\xc3\xa9");
	um_buf_puts(&json, "x\":1}");
	um_buf_put(&json, "", 1);
	read_all(&all, json.ptr, &fault, &root);
	assert_true(um_str_is_text(um_str(fault.member)));
	assert_int_equal(strlen(fault.member), 64);
	free(root);
	um_buf_free(&json);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(everything_that_is_there_is_read),
		cmocka_unit_test(each_fault_names_its_member),
		cmocka_unit_test(names_that_are_not_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
