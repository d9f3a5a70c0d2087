/* SPDX-License-Identifier: MIT */
#include "http/final_page.h"
#include "support.h"

TEST(the_final_page_follows_from_action_and_reason)
{
	static const struct {
		const char *action;
		const char *reason;
		bool late;
		enum um_final_page final;
	} cases[] = {
		{ "accept", "", false, UM_FINAL_PAGE_DONE },
		{ "decline", "access_denied", false, UM_FINAL_PAGE_DECLINED },
		{ "cancel", "provider_error", false, UM_FINAL_PAGE_FAILED },
		{ "cancel", "payment_failed", false, UM_FINAL_PAGE_FAILED },
		{ "cancel", "cancelled", false, UM_FINAL_PAGE_ENDED },
		{ "cancel", "superseded", false, UM_FINAL_PAGE_ENDED },
		{ "cancel", "expired", false, UM_FINAL_PAGE_EXPIRED },
		{ "cancel", "amount_mismatch", false, UM_FINAL_PAGE_MISMATCH },
		{ "cancel", "", false, UM_FINAL_PAGE_FAILED },
		{ "cancel", NULL, false, UM_FINAL_PAGE_FAILED },
		{ NULL, NULL, false, UM_FINAL_PAGE_FAILED },
		{ "cancel", "expired", true, UM_FINAL_PAGE_LATE },
		{ "cancel", "amount_mismatch", true, UM_FINAL_PAGE_LATE },
		{ "decline", "cancelled", true, UM_FINAL_PAGE_LATE },
	};

	for (size_t i = 0; i < LENGTH(cases); i++) {
		row_begin("%zu, %s", i, um_final_page_code(cases[i].final));
		assert_int_equal(um_final_page_of(cases[i].action,
					 cases[i].reason, cases[i].late),
			cases[i].final);
	}
}

TEST(the_end_of_a_form_is_told_to_who_answers_it)
{
	static const struct {
		const char *action;
		const char *reason;
		enum um_final_page of_input, of_approval;
	} cases[] = {
		{ "accept", "", UM_FINAL_PAGE_DONE, UM_FINAL_PAGE_RECORDED },
		{ "decline", "declined", UM_FINAL_PAGE_FORM_DECLINED,
			UM_FINAL_PAGE_FORM_DECLINED },
		{ "cancel", "refused_input", UM_FINAL_PAGE_REFUSED,
			UM_FINAL_PAGE_REFUSED },
		{ "cancel", "not_checked", UM_FINAL_PAGE_FORM_ENDED,
			UM_FINAL_PAGE_FORM_ENDED },
		{ "cancel", "expired", UM_FINAL_PAGE_FORM_ENDED,
			UM_FINAL_PAGE_FORM_ENDED },
		{ "cancel", "cancelled", UM_FINAL_PAGE_FORM_ENDED,
			UM_FINAL_PAGE_FORM_ENDED },
		{ "cancel", "", UM_FINAL_PAGE_FORM_ENDED,
			UM_FINAL_PAGE_FORM_ENDED },
		{ NULL, NULL, UM_FINAL_PAGE_FORM_ENDED,
			UM_FINAL_PAGE_FORM_ENDED },
	};

	for (size_t i = 0; i < LENGTH(cases); i++) {
		row_begin("%zu", i);
		assert_int_equal(um_final_page_of_form(cases[i].action,
					 cases[i].reason, false),
			cases[i].of_input);
		assert_int_equal(um_final_page_of_form(cases[i].action,
					 cases[i].reason, true),
			cases[i].of_approval);
	}
}

TEST(what_was_completed_before_the_user_came)
{
	static const struct {
		const char *action;
		bool late;
		enum um_final_page final;
	} cases[] = {
		{ "accept", false, UM_FINAL_PAGE_ALREADY },
		{ "decline", false, UM_FINAL_PAGE_ALREADY },
		{ "cancel", false, UM_FINAL_PAGE_ENDED },
		{ "cancel", true, UM_FINAL_PAGE_LATE },
		{ NULL, false, UM_FINAL_PAGE_ALREADY },
	};

	for (size_t i = 0; i < LENGTH(cases); i++) {
		row_begin("%zu", i);
		assert_int_equal(um_final_page_of_earlier(cases[i].action,
					 cases[i].late),
			cases[i].final);
	}
}

TEST(an_account_is_connected_when_its_exchange_has_ended_so)
{
	assert_int_equal(um_final_page_of_account(""), UM_FINAL_PAGE_CONNECTED);
	assert_int_equal(um_final_page_of_account("exchanging"),
		UM_FINAL_PAGE_RETURNED);
	assert_int_equal(um_final_page_of_account(NULL),
		UM_FINAL_PAGE_RETURNED);
	assert_int_equal(um_final_page_of_account("exchange_refused"),
		UM_FINAL_PAGE_NOT_CONNECTED);
}

TEST(its_cookie_lives_for_a_minute)
{
	struct um_response response = { 0 };

	um_final_page_set_cookie(&response, UM_FINAL_PAGE_DECLINED);
	assert_str(um_buf_str(&response.headers),
		"Set-Cookie: __Host-urlmode-done=declined; Path=/; Max-Age=60; "
		"Secure; HttpOnly; SameSite=Lax\r\n");
	um_response_free(&response);
}

/* Each code comes back as its page; whatever else was sent is RETURNED. */
TEST(the_cookie_names_the_page)
{
	static const char *const others[] = { "", "other=declined",
		UM_FINAL_PAGE_COOKIE "=nothing",
		UM_FINAL_PAGE_COOKIE "=late; " UM_FINAL_PAGE_COOKIE "=late" };

	for (int i = 0; i < UM_FINAL_PAGE_COUNT; i++) {
		enum um_final_page final = (enum um_final_page)i;
		struct um_buf header = { 0 };

		row_begin("%s", um_final_page_code(final));
		um_buf_cat(&header, "a=b; ", UM_FINAL_PAGE_COOKIE, "=",
			um_final_page_code(final));
		assert_int_equal(um_final_page_of_cookie(um_buf_str(&header)),
			final);
		um_buf_free(&header);
	}
	for (size_t i = 0; i < LENGTH(others); i++)
		assert_row(others[i],
			um_final_page_of_cookie(um_str(others[i]))
				== UM_FINAL_PAGE_RETURNED);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_final_page_follows_from_action_and_reason),
		cmocka_unit_test(the_end_of_a_form_is_told_to_who_answers_it),
		cmocka_unit_test(what_was_completed_before_the_user_came),
		cmocka_unit_test(
			an_account_is_connected_when_its_exchange_has_ended_so),
		cmocka_unit_test(its_cookie_lives_for_a_minute),
		cmocka_unit_test(the_cookie_names_the_page),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
