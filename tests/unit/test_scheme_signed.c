/* SPDX-License-Identifier: MIT */
/*
 * What is signed, put together from every short value that could be mistaken
 * for its neighbours: two deliveries give the same text only when they are
 * the same, or when it is noted that they need not be.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "description/scheme_load.h"
#include "support.h"

#define PARTS 4
#define WORDS_MAX 24

/* The values of one delivery: headers a to c, and the body, which d repeats. */
struct parts {
	const char *word[PARTS];
};

/* A text that was put together, and from what. */
struct text {
	char *bytes;
	struct parts parts;
};

static const char *
header(const char *name, void *arg)
{
	const struct parts *parts = arg;

	return name[0] >= 'a' && name[0] <= 'd' && name[1] == '\0'
		? parts->word[name[0] - 'a']
		: NULL;
}

static void
load_template(struct um_scheme *scheme, const char *parts)
{
	const struct um_expr_scope scope = { 0 };
	struct um_buf text = { 0 };
	struct um_error err;
	struct um_conf_loc at = um_conf_root("template", &err);
	json_t *node;

	um_buf_printf(&text,
		"{\"algorithm\": \"hmac-sha256\", \"key\": {\"as\": \"utf8\"},"
		" \"signature\": {\"from\": {\"header\": \"x\"}, "
		"\"field\": \"v1\", \"between\": \",\", \"equals\": \"=\", "
		"\"as\": \"hex\"}, \"signed\": %s}",
		parts);
	node = json_loadb(text.ptr, text.len, 0, NULL);
	assert_non_null(node);
	if (!um_scheme_load(scheme, &at, node, &scope))
		fail_msg("%s", err.text);
	json_decref(node);
	um_buf_free(&text);
}

/* The text, or NULL where it has not one parsed. */
static char *
put_together(const struct um_scheme *scheme, const struct parts *parts)
{
	const struct um_delivery delivery = { .body = um_str(parts->word[3]),
		.header = header,
		.arg = (void *)parts };
	const struct um_parsed parsed = { .delivery = &delivery };
	const struct um_params params = { 1,
		{ { STR("h"), um_str(parts->word[0]), false } } };
	const struct um_source source = { .parsed = &parsed,
		.params = &params };
	struct um_buf out = { 0 };
	enum um_found found;
	char *copy = NULL;
	bool is_ambiguous;

	found = um_scheme_put_signed(scheme, &source, &out, &is_ambiguous);
	assert_int_not_equal(found, UM_BAD);
	if (found == UM_FOUND && !is_ambiguous)
		copy = strndup(out.ptr, out.len);
	um_buf_free(&out);
	return copy;
}

static int
compare(const void *a, const void *b)
{
	const struct text *left = a, *right = b;

	return strcmp(left->bytes, right->bytes);
}

/* Every word of one or two of these characters. */
static size_t
make_words(char words[WORDS_MAX][4], const char *alphabet)
{
	size_t len = 0;

	words[len++][0] = '\0'; /* absent */
	for (const char *a = alphabet; *a != '\0'; a++) {
		snprintf(words[len++], sizeof(words[0]), "%c", *a);
		for (const char *b = alphabet; *b != '\0'; b++)
			snprintf(words[len++], sizeof(words[0]), "%c%c", *a,
				*b);
	}
	assert_true(len <= WORDS_MAX);
	return len;
}

/* Most deliveries have no text, so that a long step would find too few that have. */
static size_t
step_of_words(void)
{
	return 1 + mutation_step() / 16;
}

static void
assert_one_reading(const char *template, const char *alphabet)
{
	char words[WORDS_MAX][4];
	size_t count = make_words(words, alphabet), all = 1, kept = 0;
	size_t step = step_of_words();
	struct um_scheme scheme;
	struct text *texts;

	for (size_t i = 0; i < PARTS; i++)
		all *= count;
	texts = calloc(all, sizeof(texts[0]));
	assert_non_null(texts);
	load_template(&scheme, template);
	for (size_t i = 0; i < all; i += step) {
		struct text *text = &texts[kept];
		size_t rest = i;

		for (size_t part = 0; part < PARTS; part++) {
			text->parts.word[part] = words[rest % count];
			rest /= count;
		}
		text->bytes = put_together(&scheme, &text->parts);
		kept += text->bytes != NULL;
	}
	/* It would prove nothing if all of them were noted. */
	assert_true(kept > 1);
	qsort(texts, kept, sizeof(texts[0]), compare);
	for (size_t i = 1; i < kept; i++)
		if (strcmp(texts[i - 1].bytes, texts[i].bytes) == 0)
			fail_msg("%s: \"%s\" has two readings", template,
				texts[i].bytes);
	for (size_t i = 0; i < kept; i++)
		free(texts[i].bytes);
	free(texts);
	um_scheme_free(&scheme);
}

#define H(name) "{\"header\": \"" name "\"}"
#define BODY "{\"body\": \"raw\"}"

TEST(marks_of_one_character)
{
	assert_one_reading("[" H("a") ", \".\", " H("b") ", \".\", " H(
				   "c") ","
					" \".\", " BODY "]",
		".x");
	assert_one_reading("[" BODY ", \".\", " H("a") ", \".\", " H(
				   "b") ","
					" \".\", " H("c") "]",
		".x");
	assert_one_reading("[" H("a") ", \".\", " BODY
				      ", \".\", " H("b") ","
							 " \".\", " H("c") "]",
		".x");
	assert_one_reading("[\"v0:\", " H("a") ", \":\", " H(
				   "b") ","
					" \"|\", " H("c") ", \":\", " BODY "]",
		":|x");
}

TEST(marks_that_overlap)
{
	assert_one_reading("[" H("a") ", \"::\", " H("b") ", \"::\", " H(
				   "c") ","
					" \"::\", " BODY "]",
		":x");
	assert_one_reading("[" BODY ", \"::\", " H("a") ", \"::\", " H(
				   "b") ","
					" \"::\", " H("c") "]",
		":x");
	assert_one_reading("[" H("a") ", \"..\", " BODY ", \".:\", " H(
				   "b") ","
					" \":.\", " H("c") "]",
		".:");
}

TEST(joins)
{
	assert_one_reading("[{\"join\": [" H("a") ", " H("b") ", " H(
				   "c") "], \"with\": \":\"}, \".\", " BODY "]",
		":.x");
	assert_one_reading("[" BODY ", \"|\", {\"join\": [" H("a") ", " H(
				   "b") ", " H("c") "], \"with\": \":\"}]",
		":|x");
	assert_one_reading(
		"[{\"join\": [{\"join\": [" H("a") ", " H(
			"b") "], \"with\": \".\"}, " H("c") "],"
							    " \"with\": "
							    "\":\"}, "
							    "\"|\", " BODY "]",
		":.|x");
}

/* Two that have the same text have the same list of headers, and body. */
TEST(headers_that_are_listed)
{
	static const char *const lists[] = { "b", "c", "b c", "c b", "b b" };
	char words[WORDS_MAX][4];
	size_t count = make_words(words, ".{x"), kept = 0, all;
	size_t step = step_of_words();
	struct um_scheme scheme;
	struct text *texts;

	all = sizeof(lists) / sizeof(lists[0]) * count * count * count;
	texts = calloc(all, sizeof(texts[0]));
	assert_non_null(texts);
	load_template(&scheme,
		"[{\"signature\": \"h\"}, \".\", {\"listed_headers\": "
		"{\"signature\": \"h\"}, \"with\": \".\"}, \".\", " BODY "]");
	for (size_t i = 0; i < all; i += step) {
		struct text *text = &texts[kept];
		size_t rest = i;

		for (size_t part = 1; part < PARTS; part++) {
			text->parts.word[part] = words[rest % count];
			rest /= count;
		}
		text->parts.word[0] = lists[rest];
		text->bytes = put_together(&scheme, &text->parts);
		kept += text->bytes != NULL;
	}
	assert_true(kept > 1);
	qsort(texts, kept, sizeof(texts[0]), compare);
	for (size_t i = 1; i < kept; i++)
		if (strcmp(texts[i - 1].bytes, texts[i].bytes) == 0
			&& (strcmp(texts[i - 1].parts.word[0],
				    texts[i].parts.word[0])
					!= 0
				|| strcmp(texts[i - 1].parts.word[3],
					   texts[i].parts.word[3])
					!= 0))
			fail_msg("\"%s\" has two readings", texts[i].bytes);
	for (size_t i = 0; i < kept; i++)
		free(texts[i].bytes);
	free(texts);
	um_scheme_free(&scheme);
}

static const char *
any_header(const char *name, void *arg)
{
	(void)arg;
	return name[0] == 'n' ? "x" : "h";
}

/* A list with a name that is too long is refused, also for one byte. */
TEST(the_length_of_a_listed_name)
{
	char name[UM_EXPR_HEADER_MAX + 2];
	struct um_delivery delivery = { .body = STR("x"),
		.header = any_header };
	const struct um_parsed parsed = { .delivery = &delivery };
	struct um_scheme scheme;

	load_template(&scheme,
		"[{\"listed_headers\": {\"signature\": \"h\"}, \"with\": "
		"\".\"},"
		" \".\", " BODY "]");
	memset(name, 'n', sizeof(name));
	for (size_t len = UM_EXPR_HEADER_MAX; len <= sizeof(name); len++) {
		const struct um_params params = { 1,
			{ { STR("h"), { name, len }, false } } };
		const struct um_source source = { .parsed = &parsed,
			.params = &params };
		struct um_buf out = { 0 };
		bool is_ambiguous;

		assert_int_equal(um_scheme_put_signed(&scheme, &source, &out,
					 &is_ambiguous),
			len <= UM_EXPR_HEADER_MAX ? UM_FOUND : UM_BAD);
		um_buf_free(&out);
	}
	um_scheme_free(&scheme);
}

TEST(nothing_of_the_body_is_signed)
{
	struct um_scheme scheme;
	struct parts parts = { { "1", "2", "3", "x" } };
	char *text;

	load_template(&scheme, "[\"<\", " H("a") ", \".\", " H("b") ", \">\"]");
	text = put_together(&scheme, &parts);
	assert_non_null(text);
	assert_string_equal(text, "<1.2>");
	free(text);
	parts.word[1] = "2>";
	text = put_together(&scheme, &parts);
	assert_null(text);
	free(text);
	um_scheme_free(&scheme);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(marks_of_one_character),
		cmocka_unit_test(marks_that_overlap),
		cmocka_unit_test(joins),
		cmocka_unit_test(headers_that_are_listed),
		cmocka_unit_test(the_length_of_a_listed_name),
		cmocka_unit_test(nothing_of_the_body_is_signed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
