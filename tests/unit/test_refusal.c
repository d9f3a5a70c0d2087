/* SPDX-License-Identifier: MIT */
/* Beside the table itself: that each refusal is named in some test. */
#include <fts.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "http/refusal.h"
#include "support.h"

#define CODE_CHARACTERS "abcdefghijklmnopqrstuvwxyz_"

static const struct {
	enum um_refusal refusal;
	int status;
	const char *code;
	const char *advice;
} table[] = {
#define X(name, status, code, advice)                                          \
	{ UM_REFUSAL_##name, status, code, advice },
	UM_REFUSALS(X)
#undef X
};

TEST(each_answers_what_the_table_says)
{
	for (size_t i = 0; i < LENGTH(table); i++) {
		enum um_refusal refusal = table[i].refusal;

		assert_int_equal(um_refusal_status(refusal), table[i].status);
		assert_string_equal(um_refusal_code(refusal), table[i].code);
		assert_string_equal(um_refusal_advice(refusal),
			table[i].advice);
	}
}

/* A code goes into the log and the page as it is, and into `reason`. */
TEST(codes_are_short_and_differ)
{
	for (size_t i = 0; i < LENGTH(table); i++) {
		const char *code = table[i].code;

		assert_row(code, strspn(code, CODE_CHARACTERS) == strlen(code));
		assert_row(code, strlen(code) > 0 && strlen(code) <= 64);
		for (size_t j = 0; j < i; j++)
			assert_row(code, strcmp(code, table[j].code) != 0);
	}
}

TEST(statuses_are_errors)
{
	for (size_t i = 0; i < LENGTH(table); i++) {
		int status = table[i].status;

		assert_row(table[i].code,
			(status >= 400 && status < 418) || status == 500
				|| status == 503);
		assert_row(table[i].code, strlen(table[i].advice) > 10);
	}
}

static bool
is_quote(char c)
{
	return c == '"' || c == '\'';
}

/* Notes each code that stands in the file between quotes. */
static void
note_codes(const char *path, bool named[LENGTH(table)])
{
	struct um_buf text = { 0 };
	FILE *f = fopen(path, "re");
	char chunk[BUFSIZ];
	size_t n;

	assert_non_null(f);
	while ((n = fread(chunk, 1, sizeof(chunk), f)) > 0)
		um_buf_put(&text, chunk, n);
	fclose(f);
	um_buf_put(&text, "", 1);
	assert_false(text.failed);
	for (size_t i = 0; i < LENGTH(table); i++) {
		const char *code = table[i].code;

		for (const char *p = text.ptr; (p = strstr(p, code)) != NULL;
			p++)
			if (p != text.ptr && is_quote(p[-1])
				&& is_quote(p[strlen(code)]))
				named[i] = true;
	}
	um_buf_free(&text);
}

static bool
is_a_test(const FTSENT *entry)
{
	const char *dot = strrchr(entry->fts_name, '.');

	if (entry->fts_info != FTS_F || dot == NULL
		|| strcmp(entry->fts_name, "test_refusal.c") == 0)
		return false;
	return (strcmp(dot, ".c") == 0
		       && strncmp(entry->fts_name, "test_", 5) == 0)
		|| strstr(entry->fts_name, ".test.mjs") != NULL;
}

TEST(each_is_named_in_some_test)
{
	char tests[] = "tests";
	char *const roots[] = { tests, NULL };
	bool named[LENGTH(table)] = { false };
	FTS *tree = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	FTSENT *entry;
	size_t files = 0;

	assert_non_null(tree);
	while ((entry = fts_read(tree)) != NULL) {
		if (entry->fts_info == FTS_D
			&& strcmp(entry->fts_name, "node_modules") == 0) {
			fts_set(tree, entry, FTS_SKIP);
		} else if (is_a_test(entry)) {
			note_codes(entry->fts_path, named);
			files++;
		}
	}
	fts_close(tree);
	assert_true(files > 1);
	for (size_t i = 0; i < LENGTH(table); i++)
		if (!named[i])
			fail_msg("no test under tests/ names %s",
				table[i].code);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_answers_what_the_table_says),
		cmocka_unit_test(codes_are_short_and_differ),
		cmocka_unit_test(statuses_are_errors),
		cmocka_unit_test(each_is_named_in_some_test),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
