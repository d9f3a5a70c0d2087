/* SPDX-License-Identifier: MIT */
#include "app/cookies.h"

#include <stdlib.h>
#include <string.h>

#include "program_case.h"

TEST(its_value_is_read_unless_it_could_not_be_ours)
{
	static const struct {
		const char *header, *value;
	} cases[] = {
		{ "", "" },
		{ "other=x", "" },
		{ UM_COOKIE_NAME, "" },
		{ COOKIE(""), "" },
		{ COOKIE(CASE_COOKIE), CASE_COOKIE },
		{ "a=b; " COOKIE(CASE_COOKIE) "; c=d", CASE_COOKIE },
		{ COOKIE(CASE_COOKIE) "; " COOKIE(CASE_COOKIE), "" },
		{ COOKIE("has space"), "" },
		{ COOKIE("\"quoted\""), "" },
		{ COOKIE("short"), "short" },
	};

	for (size_t i = 0; i < LENGTH(cases); i++) {
		char cookie[UM_COOKIE_MAX + 1] = "before";

		row_begin("%s", cases[i].header);
		um_browser_read_cookie(cookie, um_str(cases[i].header));
		assert_string_equal(cookie, cases[i].value);
	}
}

TEST(a_value_that_is_long_enough_is_kept)
{
	char kept[UM_COOKIE_MAX + 1] = CASE_COOKIE;
	char replaced[UM_COOKIE_MAX + 1] = "AAECAwQFBgcICQoLDA0OD";
	char another[UM_COOKIE_MAX + 1] = "";

	assert_int_equal(strlen(kept), UM_COOKIE_LEN);
	um_browser_ensure_cookie(kept, &case_context);
	assert_string_equal(kept, CASE_COOKIE);
	um_browser_ensure_cookie(replaced, &case_context);
	um_browser_ensure_cookie(another, &case_context);
	assert_int_equal(strlen(replaced), UM_COOKIE_LEN);
	assert_int_equal(strlen(another), UM_COOKIE_LEN);
	assert_string_not_equal(replaced, another);
}

static const uint8_t id[UM_UUID_LEN] = { 1, 2, 3 };
static const uint8_t binding[UM_BINDING_LEN] = { 4, 5, 6 };

/* What a browser sends after um_follow_set(). The caller frees it. */
static char *
follow_cookie(void)
{
	struct um_exchange ex = { .provider = case_provider("demo") };
	const char *from;
	char *cookie;

	memcpy(ex.token.id, id, sizeof(id));
	memcpy(ex.token.binding, binding, sizeof(binding));
	um_follow_set(&ex.response, &case_context, &ex.token, ex.provider);
	assert_false(ex.response.headers.failed);
	um_buf_put(&ex.response.headers, "", 1);
	from = strstr(ex.response.headers.ptr, UM_FOLLOW_COOKIE "=");
	assert_non_null(from);
	assert_non_null(strstr(from, "; Max-Age=60; Secure; HttpOnly"));
	cookie = strndup(from, strcspn(from, ";"));
	um_response_free(&ex.response);
	return cookie;
}

static bool
follows(const char *cookie)
{
	struct um_exchange ex = { .request.cookie = um_str(cookie) };
	bool found;

	ex.provider = um_follow_read(&ex.token, &case_context,
		ex.request.cookie);
	found = ex.provider != NULL;
	if (found) {
		assert_string_equal(ex.provider->name, "demo");
		assert_memory_equal(ex.token.id, id, sizeof(id));
		assert_memory_equal(ex.token.binding, binding, sizeof(binding));
	}
	return found;
}

TEST(the_row_that_was_set_is_followed_for_a_minute)
{
	char *cookie = follow_cookie();

	assert_true(follows(cookie));
	case_context.now_ms += 59 * INT64_C(1000);
	assert_true(follows(cookie));
	case_context.now_ms += 1000;
	assert_false(follows(cookie));
	case_context.now_ms -= 60 * INT64_C(1000);
	free(cookie);
}

TEST(whatever_is_not_ours_is_not_followed)
{
	char *cookie = follow_cookie();
	char *value = strchr(cookie, '=') + 1;

	assert_false(follows(""));
	assert_false(follows(UM_FOLLOW_COOKIE "="));
	assert_false(follows(UM_FOLLOW_COOKIE "=x"));
	for (size_t i = 0; i < strlen(value); i++) {
		value[i] = (char)(value[i] ^ 1);
		assert_row("one bit", !follows(cookie));
		value[i] = (char)(value[i] ^ 1);
	}
	assert_true(follows(cookie));
	free(cookie);
}

/* What a browser sends after it was shown a page, and what it was told there. */
struct tab {
	char cookies[512];
	bool told;
	bool set;
};

static void
show(struct tab *tab, const char *browser, uint8_t first, const char *state)
{
	struct um_exchange ex = { .token.id = { first } };
	const char *from;

	tab->told = um_open_note(&ex.response, um_str(tab->cookies), browser,
		&ex.token, um_str(state));
	um_buf_put(&ex.response.headers, "", 1);
	assert_false(ex.response.headers.failed);
	from = strstr(ex.response.headers.ptr, UM_OPEN_COOKIE "=");
	tab->set = from != NULL;
	if (from != NULL) {
		assert_non_null(
			strstr(from, "; Path=/; Max-Age=86400; Secure"));
		snprintf(tab->cookies, sizeof(tab->cookies), "a=b; %.*s",
			(int)strcspn(from, ";"), from);
	}
	um_response_free(&ex.response);
}

TEST(a_second_tab_is_told_of_the_first)
{
	struct tab tab = { .cookies = "" };

	show(&tab, CASE_COOKIE, 1, "first");
	assert_true(tab.set && !tab.told);
	show(&tab, CASE_COOKIE, 1, "first");
	assert_row("the same tab", !tab.set && !tab.told);
	show(&tab, CASE_COOKIE, 1, "second");
	assert_row("another tab", !tab.set && tab.told);
	show(&tab, CASE_COOKIE, 1, "second");
	assert_row("that one, again", !tab.set && tab.told);
	show(&tab, CASE_COOKIE, 2, "second");
	assert_row("another elicitation", tab.set && !tab.told);
	show(&tab, "AAECAwQFBgcICQoLDA0ODx", 1, "second");
	assert_row("another browser with its cookies", !tab.told);
}

TEST(a_browser_remembers_the_last_ones)
{
	struct tab tab = { .cookies = "" };

	for (uint8_t i = 0; i <= UM_OPEN_MAX; i++)
		show(&tab, CASE_COOKIE, i, "a");
	assert_int_equal(strlen(tab.cookies),
		strlen("a=b; " UM_OPEN_COOKIE "=") + (size_t)22 * UM_OPEN_MAX);
	for (uint8_t i = UM_OPEN_MAX; i > 0; i--) {
		show(&tab, CASE_COOKIE, i, "b");
		assert_row("known", tab.told && !tab.set);
	}
	show(&tab, CASE_COOKIE, 0, "b");
	assert_row("the oldest one is forgotten", !tab.told && tab.set);
}

TEST(what_is_no_list_of_ours_is_empty)
{
	static const char *const values[] = { "", "x", "AAECAwQFBgcICQoLDA0ODw",
		"AAECAwQFBgcICQoLDA0OD_", "AAECAwQFBgcICQoLDA0OD ",
		("; " UM_OPEN_COOKIE "=AAECAwQFBgcICQoLDA0ODw") };

	for (size_t i = 0; i < LENGTH(values); i++) {
		struct tab tab;

		snprintf(tab.cookies, sizeof(tab.cookies), UM_OPEN_COOKIE "=%s",
			values[i]);
		show(&tab, CASE_COOKIE, 1, "a");
		assert_row(values[i], !tab.told && tab.set);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(its_value_is_read_unless_it_could_not_be_ours),
		cmocka_unit_test(a_value_that_is_long_enough_is_kept),
		cmocka_unit_test(the_row_that_was_set_is_followed_for_a_minute),
		cmocka_unit_test(whatever_is_not_ours_is_not_followed),
		cmocka_unit_test(a_second_tab_is_told_of_the_first),
		cmocka_unit_test(a_browser_remembers_the_last_ones),
		cmocka_unit_test(what_is_no_list_of_ours_is_empty),
	};

	return cmocka_run_group_tests(tests, program_case_set_up,
		program_case_tear_down);
}
