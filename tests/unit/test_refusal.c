/* SPDX-License-Identifier: MIT */
/*
 * Rules for the table of refusals as a whole; what each of them does is tested
 * where it arises.
 */
#include <fts.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "http/refusal.h"
#include "server/metrics.h"
#include "support.h"

#define CODE_CHARACTERS "abcdefghijklmnopqrstuvwxyz_"

static const struct {
	int status;
	const char *code;
	const char *advice;
} table[] = {
#define X(name, status, code, page, advice) { status, code, advice },
	UM_REFUSALS(X)
#undef X
};

/* A code stands unescaped in the log and on the page. */
TEST(codes_are_lower_case_words_and_differ)
{
	for (size_t i = 0; i < LENGTH(table); i++) {
		const char *code = table[i].code;

		assert_row(code, strspn(code, CODE_CHARACTERS) == strlen(code));
		assert_row(code, strlen(code) > 0 && strlen(code) <= 64);
		for (size_t j = 0; j < i; j++)
			assert_row(code, strcmp(code, table[j].code) != 0);
	}
}

/*
 * RFC 9110 section 15 gives each of these a meaning, and some a condition: 405
 * names the methods in Allow, 503 says when to try again in Retry-After. 401 is
 * for webhooks alone: a browser that gets it would ask for a password.
 */
TEST(statuses_have_their_meaning_in_http)
{
	static const struct {
		int status;
		const char *only; /* the codes that may have it, or NULL */
	} meanings[] = {
		{ 400, NULL },
		{ 401,
			"signature_missing signature_invalid "
			"certificate_expired "
			"timestamp_out_of_tolerance" },
		{ 403,
			"wrong_browser sign_in_required session_ended "
			"wrong_user "
			"sign_in_refused id_token_invalid "
			"unknown_signing_key session_missing "
			"cross_site own_request four_eyes_not_set_up "
			"step_up_not_set_up "
			"approval_needs_sign_in not_operator token_invalid" },
		{ 404,
			"unknown_route unknown_provider wrong_tenant "
			"wrong_kind "
			"unknown_elicitation unknown_here" },
		{ 405, "method_not_allowed" },
		{ 409,
			"not_held payment_changed payment_claimed "
			"elicitation_deleted already_refunded" },
		{ 410, "state_expired expired" },
		{ 413, "body_too_large" },
		{ 415, "unsupported_media_type" },
		{ 500, "sign_in_not_set_up internal_error" },
		{ 503,
			"prefetch too_many_bodies signing_key_missing "
			"unavailable not_stored" },
	};

	for (size_t i = 0; i < LENGTH(table); i++) {
		size_t m = 0;

		while (m < LENGTH(meanings)
			&& meanings[m].status != table[i].status)
			m++;
		assert_row(table[i].code, m < LENGTH(meanings));
		if (m < LENGTH(meanings) && meanings[m].only != NULL)
			assert_row(table[i].code,
				strstr(meanings[m].only, table[i].code)
					!= NULL);
	}
}

/* Each status of a refusal has a counter of its own in /metrics. */
TEST(statuses_are_counted)
{
	static const int counted[] = {
#define X(status) status,
		UM_METRICS_STATUSES(X)
#undef X
	};

	for (size_t i = 0; i < LENGTH(table); i++) {
		bool found = false;

		for (size_t j = 0; j < LENGTH(counted); j++)
			found |= counted[j] == table[i].status;
		assert_row(table[i].code, found);
	}
}

/* Advice is made of sentences, and says nothing of the request. */
TEST(advice_is_made_of_sentences)
{
	for (size_t i = 0; i < LENGTH(table); i++) {
		const char *advice = table[i].advice;
		size_t len = strlen(advice);

		assert_row(table[i].code, len > 10 && len < 200);
		assert_row(table[i].code, len > 0 && advice[len - 1] == '.');
		assert_row(table[i].code, advice[0] >= 'A' && advice[0] <= 'Z');
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

TEST(each_code_is_named_in_a_test)
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
		cmocka_unit_test(codes_are_lower_case_words_and_differ),
		cmocka_unit_test(statuses_have_their_meaning_in_http),
		cmocka_unit_test(statuses_are_counted),
		cmocka_unit_test(advice_is_made_of_sentences),
		cmocka_unit_test(each_code_is_named_in_a_test),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
