/* SPDX-License-Identifier: MIT */
/* The patterns of fields: tests/vectors/form.json, which Node compares, too. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "form/pattern.h"
#include "support.h"

static json_t *file;

static void
check_texts(const struct um_pattern *pattern, const json_t *texts, bool match)
{
	const json_t *text;
	size_t i;

	json_array_foreach (texts, i, text) {
		assert_row(json_string_value(text),
			um_pattern_matches(pattern,
				um_str(json_string_value(text)))
				== match);
	}
}

TEST(patterns_match_as_in_javascript)
{
	json_t *list = json_object_get(file, "patterns"), *vector;
	size_t i;

	assert_true(json_array_size(list) >= 15);
	json_array_foreach (list, i, vector) {
		struct um_pattern *pattern = um_pattern_compile(
			um_str(vector_text(vector, "pattern")));

		row_begin("%s", vector_text(vector, "pattern"));
		assert_non_null(pattern);
		check_texts(pattern, json_object_get(vector, "matches"), true);
		check_texts(pattern, json_object_get(vector, "misses"), false);
		um_pattern_free(pattern);
	}
}

TEST(what_is_no_pattern_is_refused)
{
	json_t *list = json_object_get(file, "bad_patterns"), *text;
	size_t i;

	assert_true(json_array_size(list) >= 40);
	json_array_foreach (list, i, text) {
		struct um_pattern *pattern = um_pattern_compile(
			um_str(json_string_value(text)));

		assert_row(json_string_value(text), pattern == NULL);
		um_pattern_free(pattern);
	}
}

/*
 * One for which backtracking takes 2^n steps: here, the longest value is one
 * of so many steps that the test ends at all.
 */
TEST(no_text_takes_long)
{
	struct um_pattern *pattern = um_pattern_compile(
		STR("a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*b"));
	struct um_str text = { malloc(8192), 8192 };

	assert_non_null(pattern);
	memset((char *)text.ptr, 'a', text.len);
	assert_false(um_pattern_matches(pattern, text));
	um_pattern_free(pattern);
	free((char *)text.ptr);
}

/* The text says to be longer than what can be read of it. */
TEST(nothing_is_read_after_the_last_way_has_ended)
{
	struct um_pattern *pattern = um_pattern_compile(STR("a|[b]c|a{2}"));
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct um_str text = { pages + page - 1, 8192 };

	assert_true(pages != MAP_FAILED);
	pages[page - 1] = 'x';
	assert_int_equal(mprotect(pages + page, page, PROT_NONE), 0);
	assert_false(um_pattern_matches(pattern, text));
	munmap(pages, 2 * page);
	um_pattern_free(pattern);
}

TEST(bytes_that_are_no_text)
{
	struct um_pattern *pattern = um_pattern_compile(STR("[ -~]*"));

	assert_true(um_pattern_matches(pattern, STR("")));
	assert_false(um_pattern_matches(pattern, STR("a\0b")));
	assert_false(um_pattern_matches(pattern, STR("\xff")));
	um_pattern_free(pattern);
	assert_null(um_pattern_compile(STR("a\0b")));
}

static int
set_up(void **state)
{
	(void)state;
	file = json_load_file("tests/vectors/form.json", 0, NULL);
	return file != NULL ? 0 : -1;
}

static int
tear_down(void **state)
{
	(void)state;
	json_decref(file);
	return 0;
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(patterns_match_as_in_javascript),
		cmocka_unit_test(what_is_no_pattern_is_refused),
		cmocka_unit_test(no_text_takes_long),
		cmocka_unit_test(nothing_is_read_after_the_last_way_has_ended),
		cmocka_unit_test(bytes_that_are_no_text),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
