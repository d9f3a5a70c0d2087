/* SPDX-License-Identifier: MIT */
/* /connect: what is refused, and the confirm page. */
#include <string.h>

#include "connect.h"

#define SHOWN                                                                  \
	{                                                                      \
		.requester = requester, .subject = subject,                    \
		.expires = CASE_NOW + 200                                      \
	}

#define REFUSED(its_name, its_query, its_status, its_reason)                   \
	{                                                                      \
		.name = (its_name), .path = CONNECT, .query = (its_query),     \
		.status = (its_status), .reason = (its_reason)                 \
	}
#define POSTED(its_name, its_body, its_status, its_reason)                     \
	{                                                                      \
		.name = (its_name), .method = "POST", .path = CONNECT,         \
		.body = (its_body), .status = (its_status),                    \
		.reason = (its_reason)                                         \
	}
#define ASKED(its_name, its_method, its_outcome, its_status, its_reason)       \
	{                                                                      \
		.name = (its_name), .method = (its_method), .path = CONNECT,   \
		.query = "state={link}", .asks = UM_OP_LOOK_UP_LINK,           \
		.says = (its_outcome), .status = (its_status),                 \
		.reason = (its_reason)                                         \
	}

static char requester[] = "Notes <server>";
static char subject[] = "user-42";
static char currency[] = "EUR";

TEST(refused_without_the_database)
{
	static const struct program_case cases[] = {
		{ .name = "no provider",
			.path = "/connect/",
			.status = 404,
			.reason = "unknown_route" },
		{ .name = "another segment",
			.path = "/connect/demo/",
			.query = "state={bound}",
			.status = 404,
			.reason = "unknown_route" },
		{ .name = "unknown provider",
			.path = "/connect/nobody",
			.query = "state={bound}",
			.status = 404,
			.reason = "unknown_provider" },
		{ .name = "PUT",
			.method = "PUT",
			.path = CONNECT,
			.query = "state={bound}",
			.status = 405,
			.reason = "method_not_allowed" },
		{ .name = "prefetch",
			.path = CONNECT,
			.prefetch = true,
			.query = "state={bound}",
			.status = 503,
			.reason = "prefetch" },
		{ .name = "no form",
			.method = "POST",
			.path = CONNECT,
			.body = "state={bound}&answer=continue",
			.type = "text/plain",
			.status = 415,
			.reason = "unsupported_media_type" },
		{ .name = "too large",
			.method = "POST",
			.path = CONNECT,
			.body = "",
			.body_too_large = true,
			.status = 413,
			.reason = "body_too_large" },
		REFUSED("malformed", "state={bound}&a=%", 400,
			"malformed_parameters"),
		REFUSED("state twice", "state={bound}&state={bound}", 400,
			"duplicate_parameter"),
		REFUSED("no state", "", 400, "state_missing"),
		REFUSED("no token", "state=" SECRET, 400, "state_invalid"),
		REFUSED("another purpose", "state={purpose}", 400,
			"state_invalid"),
		REFUSED("another provider", "state={provider}", 400,
			"state_invalid"),
		REFUSED("another key", "state={key}", 400, "unknown_key"),
		REFUSED("a link of another provider", "state={link-provider}",
			400, "state_invalid"),
		REFUSED("a link of another purpose", "state={link-purpose}",
			400, "state_invalid"),
		REFUSED("a link of another key", "state={link-key}", 400,
			"unknown_key"),
		REFUSED("a link that is cut", "state={link-cut}", 400,
			"state_invalid"),
		REFUSED("expired", "state={expired}", 410, "state_expired"),
		REFUSED("another browser's", "state={elsewhere}", 403,
			"wrong_browser"),
		POSTED("the link alone", "state={link}&answer=continue", 403,
			"wrong_browser"),
		POSTED("the link alone, to refuse",
			"state={link}&answer=refuse", 403, "wrong_browser"),
		POSTED("a token of no browser",
			"state={unbound}&answer=continue", 403,
			"wrong_browser"),
		POSTED("another browser's page",
			"state={elsewhere}&answer=continue", 403,
			"wrong_browser"),
		POSTED("no answer", "state={bound}", 400, "answer_invalid"),
		POSTED("an empty answer", "state={bound}&answer=", 400,
			"answer_invalid"),
		POSTED("another answer", "state={bound}&answer=Continue", 400,
			"answer_invalid"),
		POSTED("both answers",
			"state={bound}&answer=refuse&answer=continue", 400,
			"duplicate_parameter"),
		POSTED("an expired page", "state={expired}&answer=continue",
			410, "state_expired"),
	};

	program_case_run_all(&connect_program, cases, LENGTH(cases));
}

TEST(a_query_over_its_limit)
{
	static char query[UM_QUERY_MAX + 2];
	struct program_case test = REFUSED("long", query, 400,
		"parameters_too_large");

	memset(query, '&', sizeof(query) - 1);
	program_case_run(&connect_program, &test);
	query[UM_QUERY_MAX] = '\0';
	test.reason = "state_missing";
	program_case_run(&connect_program, &test);
}

/* GET and HEAD: looks, and changes nothing. */
TEST(what_the_database_says_to_a_get)
{
	static const struct program_case cases[] = {
		ASKED("unknown", "GET", "unknown", 404, "unknown_elicitation"),
		ASKED("another kind", "GET", "wrong_kind", 404, "wrong_kind"),
		ASKED("expired", "GET", "expired", 410, "expired"),
		ASKED("failed", "GET", "failed", 500, "internal_error"),
		ASKED("unavailable", "GET", "unavailable", 503, "unavailable"),
		ASKED("completed", "GET", "completed", 200, ""),
		ASKED("HEAD of none", "HEAD", "unknown", 404,
			"unknown_elicitation"),
	};

	program_case_run_all(&connect_program, cases, LENGTH(cases));
}

/* Somebody else decides about an account, and its link goes on all the same. */
TEST(what_is_processing)
{
	struct tested_program shop = connect_program;
	struct program_case test = { .name = "an account",
		.path = CONNECT,
		.query = "state={link}",
		.asks = UM_OP_LOOK_UP_LINK,
		.says = "processing",
		.row = { .expires = CASE_NOW + 1 },
		.status = 200,
		.on_page = "<h1>Do you want to continue?</h1>" };

	program_case_run(&connect_program, &test);
	shop.provider = "shop";
	test.name = "a payment";
	test.path = "/connect/shop";
	test.on_page = "<h1>Still processing</h1>";
	program_case_run(&shop, &test);
}

/* A payment that was opened may still be paid, but nobody can begin it. */
TEST(the_expiry_of_what_was_opened)
{
	static const struct program_case cases[] = {
		{ .name = "in its last second",
			.path = CONNECT,
			.query = "state={link}",
			.asks = UM_OP_LOOK_UP_LINK,
			.says = "opened",
			.row = { .expires = CASE_NOW + 1 },
			.status = 200 },
		{ .name = "in its grace",
			.path = CONNECT,
			.query = "state={link}",
			.asks = UM_OP_LOOK_UP_LINK,
			.says = "opened",
			.row = { .expires = CASE_NOW },
			.status = 410,
			.reason = "expired" },
	};

	program_case_run_all(&connect_program, cases, LENGTH(cases));
}

/* It says what has become of it, and that what nobody finished has ended. */
TEST(a_link_after_the_end)
{
	static char accept[] = "accept", decline[] = "decline",
		    cancel[] = "cancel";
	static const struct {
		char *action;
		bool late;
		const char *title;
	} cases[] = {
		{ accept, false, "<h1>Already done</h1>" },
		{ decline, false, "<h1>Already done</h1>" },
		{ cancel, false, "<h1>This request has ended</h1>" },
		{ cancel, true, "<h1>Your payment has arrived</h1>" },
	};

	for (size_t i = 0; i < LENGTH(cases); i++) {
		const struct program_case test = { .name = cases[i].title,
			.path = CONNECT,
			.query = "state={link}",
			.asks = UM_OP_LOOK_UP_LINK,
			.says = "completed",
			.row = { .action = cases[i].action,
				.late = cases[i].late },
			.status = 200,
			.sets_cookie = "",
			.on_page = cases[i].title };

		program_case_run(&connect_program, &test);
	}
}

/* In minor units in the row, as people write it on the page. */
TEST(what_is_to_be_paid)
{
	static const struct program_case test = { .name = "amount",
		.path = CONNECT,
		.query = "state={link}",
		.asks = UM_OP_LOOK_UP_LINK,
		.says = "pending",
		.row = { .requester = requester,
			.subject = subject,
			.expires = CASE_NOW + 200,
			.amount = 1050,
			.currency = currency },
		.status = 200,
		.on_page = "<dd class=\"total\"><bdi>EUR\xc2\xa0"
			   "10.50</bdi></dd>" };

	program_case_run(&connect_program, &test);
}

/* The value that Set-Cookie gives the browser's cookie. */
static struct um_str
given_cookie(const struct program_answer *end)
{
	struct um_str header = program_answer_header(end, "Set-Cookie");
	struct um_str value = { header.ptr + strlen(UM_COOKIE_NAME "="),
		UM_COOKIE_LEN };

	assert_true(header.len
		== strlen(UM_COOKIE_NAME "=" COOKIE_END) + UM_COOKIE_LEN);
	assert_memory_equal(header.ptr, UM_COOKIE_NAME "=",
		strlen(UM_COOKIE_NAME "="));
	assert_memory_equal(value.ptr + value.len, COOKIE_END,
		strlen(COOKIE_END));
	return value;
}

static struct um_str
state_on_page(const struct program_answer *end)
{
	static const char before[] = "name=\"state\" value=\"";
	const struct um_buf *body = &end->ex.response.body;
	const char *p = memmem(body->ptr, body->len, before, strlen(before));

	assert_non_null(p);
	return (struct um_str){ p + strlen(before), UM_TOKEN_LEN };
}

/* Shown for pending and opened alike; the page's token is this browser's. */
TEST(the_confirm_page)
{
	static const char *const queries[] = { "state={link}",
		"state={bound}" };
	static const char *const outcomes[] = { "pending", "opened" };

	for (int i = 0; i < 4; i++) {
		const struct program_case test = { .name = queries[i / 2],
			.path = CONNECT,
			.query = queries[i / 2],
			.asks = i < 2 ? UM_OP_LOOK_UP_LINK : UM_OP_LOOK_UP,
			.says = outcomes[i % 2],
			.row = SHOWN,
			.status = 200,
			.reason = "",
			.sets_cookie = COOKIE(CASE_COOKIE) COOKIE_END,
			.on_page = "<bdi>Notes &lt;server&gt;</bdi>" };
		struct program_answer end;

		program_case_run(&connect_program, &test);
		program_case_answer(&end, &connect_program, &test);
		assert_case_token(state_on_page(&end), UM_PURPOSE_CONNECT,
			CASE_NOW + 200, STR(CASE_COOKIE));
		assert_true(str_has(um_buf_str(&end.ex.response.body),
			STR("<bdi>user-42</bdi>")));
		assert_true(str_has(um_buf_str(&end.ex.response.body),
			STR("<bdi>Demo Account</bdi>")));
		program_answer_free(&end);
	}
}

/* Whatever could not be a cookie of ours is replaced by one. */
TEST(a_browser_without_a_cookie_is_given_one)
{
	static const char *const headers[] = { "", "other=x", UM_COOKIE_NAME,
		COOKIE(""), COOKIE("short"), COOKIE("a b"),
		COOKIE("\"AAECAwQFBgcICQoLDA0ODw\""),
		COOKIE("AAECAwQFBgcICQoLDA0ODw%"),
		COOKIE(CASE_COOKIE) "; " COOKIE(CASE_COOKIE) };
	struct program_case test = { .name = "no cookie",
		.path = CONNECT,
		.query = "state={link}",
		.asks = UM_OP_LOOK_UP_LINK,
		.says = "pending",
		.row = SHOWN };

	for (size_t i = 0; i < LENGTH(headers); i++) {
		struct program_answer end;
		struct um_str given;

		test.cookie = headers[i];
		program_case_answer(&end, &connect_program, &test);
		given = given_cookie(&end);
		assert_row(headers[i], !um_str_is(given, CASE_COOKIE));
		assert_case_token(state_on_page(&end), UM_PURPOSE_CONNECT,
			CASE_NOW + 200, given);
		program_answer_free(&end);
	}
}

TEST(a_cookie_as_long_as_the_limit_is_kept)
{
	char header[sizeof(UM_COOKIE_NAME "=") + UM_COOKIE_MAX + 1] =
		UM_COOKIE_NAME "=";
	struct program_case test = { .name = "long cookie",
		.path = CONNECT,
		.query = "state={link}",
		.cookie = header,
		.asks = UM_OP_LOOK_UP_LINK,
		.says = "pending",
		.row = SHOWN };
	char *value = header + strlen(header);

	memset(value, 'c', UM_COOKIE_MAX);
	for (int over = 0; over < 2; over++) {
		struct program_answer end;

		value[UM_COOKIE_MAX] = over ? 'c' : '\0';
		program_case_answer(&end, &connect_program, &test);
		assert_int_equal(str_has(program_answer_header(&end,
						 "Set-Cookie"),
					 um_str(value)),
			!over);
		program_answer_free(&end);
	}
}

/* A link that is opened again, while another tab may be at the provider. */
TEST(a_second_tab_is_told_that_the_link_was_opened_before)
{
	static const char notice[] = "opened this in this browser before";
	static const struct {
		const char *name, *query, *says;
		enum um_op_kind asks;
		bool elsewhere, told;
	} cases[] = {
		{ "opened here", "state={link}", "opened", UM_OP_LOOK_UP_LINK,
			false, true },
		{ "opened in another browser", "state={link}", "opened",
			UM_OP_LOOK_UP_LINK, true, false },
		{ "not opened yet", "state={link}", "pending",
			UM_OP_LOOK_UP_LINK, false, false },
		{ "by an address of ours", "state={bound}", "opened",
			UM_OP_LOOK_UP, false, false },
	};
	struct program_case test = { .path = CONNECT, .row = SHOWN };

	test.row.has_browser = true;
	for (size_t i = 0; i < LENGTH(cases); i++) {
		struct program_answer end;

		um_browser_digest(test.row.browser, case_context.keys,
			STR(CASE_COOKIE));
		test.row.browser[0] ^= cases[i].elsewhere ? 1 : 0;
		test.name = cases[i].name;
		test.query = cases[i].query;
		test.asks = cases[i].asks;
		test.says = cases[i].says;
		program_case_answer(&end, &connect_program, &test);
		assert_int_equal(end.ex.response.status, 200);
		assert_row(test.name,
			str_has(um_buf_str(&end.out), um_str(notice))
				== cases[i].told);
		program_answer_free(&end);
	}
}

/* A provider that names its tenants is asked whose the row is, before anything else. */
TEST(the_tenants_of_a_provider)
{
	static char tenants[] = "acme,";
	static const struct program_case cases[] = {
		{ .name = "another",
			.path = CONNECT,
			.query = "state={link}",
			.asks = UM_OP_LINK_TENANT,
			.says = "wrong_tenant",
			.status = 404,
			.reason = "wrong_tenant" },
		{ .name = "a user who is known",
			.path = CONNECT,
			.query = "state={link}",
			.user_check = "remote-user",
			.user = "user-42",
			.asks = UM_OP_LINK_TENANT,
			.says = "wrong_tenant",
			.status = 404,
			.reason = "wrong_tenant" },
		{ .name = "no row",
			.path = CONNECT,
			.query = "state={link}",
			.asks = UM_OP_LINK_TENANT,
			.says = "unknown",
			.status = 404,
			.reason = "unknown_elicitation" },
		{ .name = "no answer",
			.path = CONNECT,
			.query = "state={link}",
			.asks = UM_OP_LINK_TENANT,
			.says = "unavailable",
			.status = 503,
			.reason = "unavailable" },
		{ .name = "one of them",
			.path = CONNECT,
			.query = "state={link}",
			.asks = UM_OP_LINK_TENANT,
			.says = "pending",
			.asks_last = UM_OP_LOOK_UP_LINK,
			.says_last = "pending",
			.row_last = SHOWN,
			.status = 200 },
	};

	case_provider("demo")->tenants = tenants;
	program_case_run_all(&connect_program, cases, LENGTH(cases));
	case_provider("demo")->tenants = NULL;
}

TEST(head_gives_no_cookie)
{
	static const struct program_case test = { .name = "HEAD",
		.method = "HEAD",
		.path = CONNECT,
		.query = "state={link}",
		.cookie = "",
		.asks = UM_OP_LOOK_UP_LINK,
		.says = "pending",
		.row = SHOWN,
		.status = 200,
		.sets_cookie = "" };

	program_case_run(&connect_program, &test);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(refused_without_the_database),
		cmocka_unit_test(a_query_over_its_limit),
		cmocka_unit_test(what_the_database_says_to_a_get),
		cmocka_unit_test(what_is_processing),
		cmocka_unit_test(the_expiry_of_what_was_opened),
		cmocka_unit_test(a_link_after_the_end),
		cmocka_unit_test(what_is_to_be_paid),
		cmocka_unit_test(the_confirm_page),
		cmocka_unit_test(a_browser_without_a_cookie_is_given_one),
		cmocka_unit_test(a_cookie_as_long_as_the_limit_is_kept),
		cmocka_unit_test(
			a_second_tab_is_told_that_the_link_was_opened_before),
		cmocka_unit_test(the_tenants_of_a_provider),
		cmocka_unit_test(head_gives_no_cookie),
	};

	return cmocka_run_group_tests(tests, program_case_set_up,
		program_case_tear_down);
}
