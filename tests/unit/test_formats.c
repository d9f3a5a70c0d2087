/* SPDX-License-Identifier: MIT */
/* The forms of texts that have a name: tests/vectors, which the packages read. */
#include "form/formats.h"

#include "support.h"

/* Each text of a section of a file is of the form, or none is. */
static void
check_all(const char *path, const char *section, bool (*is)(struct um_str),
	bool expected)
{
	json_t *file = json_load_file(path, JSON_ALLOW_NUL, NULL), *text;
	json_t *list = json_object_get(file, section);
	size_t i;

	assert_true(json_array_size(list) >= 40);
	json_array_foreach (list, i, text) {
		struct um_str given = { json_string_value(text),
			json_string_length(text) };

		row_begin("%s", given.ptr);
		assert_row(given.ptr, is(given) == expected);
	}
	json_decref(file);
}

TEST(links_are_what_the_protocol_says)
{
	check_all("tests/vectors/links.json", "allowed", um_is_link, true);
	check_all("tests/vectors/links.json", "refused", um_is_link, false);
}

TEST(a_link_has_at_most_2048_bytes)
{
	char text[UM_LINK_MAX + 2];

	memset(text, 'a', sizeof(text));
	/* NOLINTNEXTLINE(bugprone-not-null-terminated-result): it goes on */
	memcpy(text, "https://", 8);
	assert_true(um_is_link((struct um_str){ text, UM_LINK_MAX }));
	assert_false(um_is_link((struct um_str){ text, UM_LINK_MAX + 1 }));
}

TEST(formats_have_their_characters_and_no_others)
{
	json_t *list = form_vectors("formats"), *vector, *text;
	static const char *const sections[] = { "misses", "matches" };
	size_t i, j;

	assert_int_equal(json_array_size(list), UM_FORMAT_TOKEN);
	json_array_foreach (list, i, vector) {
		enum um_format format;

		assert_true(um_format_named(&format,
			um_str(vector_text(vector, "format"))));
		for (int fits = 0; fits < 2; fits++)
			json_array_foreach (json_object_get(vector,
						    sections[fits]),
				j, text) {
				struct um_str given = { json_string_value(text),
					json_string_length(text) };

				row_begin("%s: %s",
					vector_text(vector, "format"),
					given.ptr);
				assert_row(given.ptr,
					um_format_fits(format, given)
						== (fits == 1));
			}
	}
	json_decref(list);
	assert_true(um_format_fits(UM_FORMAT_ANY, STR("a b")));
	assert_false(um_format_named(&(enum um_format){ 0 }, STR("any")));
	assert_false(um_format_named(&(enum um_format){ 0 }, STR("")));
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(links_are_what_the_protocol_says),
		cmocka_unit_test(formats_have_their_characters_and_no_others),
		cmocka_unit_test(a_link_has_at_most_2048_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
