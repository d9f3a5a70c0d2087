/* SPDX-License-Identifier: MIT */
/* /form, where a session has ended before the form was sent. */
#include <string.h>

#include "app/kept.h"
#include "crypto/seal.h"
#include "program_case.h"

#define main program_main
#include "../../cgi-bin/form.c" // NOLINT(bugprone-suspicious-include)
#undef main

#define INTAKE "/form/intake"
#define QUERY "state={bound}"
#define SUBMIT "state={bound}&answer=submit&field.key=" SECRET
#define READER "name=\"reader\" value=\""
#define FORM                                                                   \
	"{\"title\":\"Connect\",\"fields\":["                                  \
	"{\"name\":\"key\",\"type\":\"secret\",\"label\":\"Key\","             \
	"\"required\":true},"                                                  \
	"{\"name\":\"mail\",\"type\":\"email\",\"label\":\"Mail\"}]}"

static const struct tested_program input_program = {
	{ .name = "form", .routes = routes, .measures = UM_OP_NONE },
	UM_PURPOSE_FORM,
	"intake",
};

static char requester[] = "Notes", subject[] = "user-42";

/* A row whose form is open; its buffer lives until the end of the test. */
static struct um_row open_row;

static int
set_up(void **state)
{
	static const uint8_t nonce[UM_NONCE_LEN] = { 9 };
	uint8_t id[UM_UUID_LEN], owner[UM_BINDING_LEN];
	int result = program_case_set_up(state);

	bytes_of_uuid(id, CASE_ID);
	um_binding_digest(owner, case_context.keys, STR("user-42"),
		STR("sess-1"));
	open_row = (struct um_row){ .requester = requester,
		.subject = subject };
	assert_true(um_seal_put_for_page(&open_row.form, um_str(FORM),
		UM_USE_FORM, id, owner, case_context.keys, nonce));
	return result;
}

static int
tear_down(void **state)
{
	um_buf_free(&open_row.form);
	return program_case_tear_down(state);
}

/* What a browser sends after a response that has set this cookie. */
static void
copy_cookie(char *out, size_t size, const struct um_str response,
	const char *name)
{
	struct um_buf text = { 0 };
	const char *set;

	um_buf_put(&text, response.ptr, response.len);
	um_buf_put(&text, "", 1);
	set = strstr(text.ptr, name);
	assert_non_null(set);
	snprintf(out, size, COOKIE(CASE_COOKIE) "; %.*s",
		(int)strcspn(set, ";"), set);
	um_buf_free(&text);
}

static bool
has(const struct um_buf *text, const char *part)
{
	return str_has(um_buf_str(text), um_str(part));
}

/* Where the web server, a ticket or the OpenID provider says who the user is. */
TEST(a_session_that_has_ended_says_so_and_keeps_what_is_not_secret)
{
	struct program_case test = { .name = "the page",
		.path = INTAKE,
		.query = QUERY,
		.user = "user-42",
		.user_check = "remote-user",
		.asks = UM_OP_LOOK_UP_FORM,
		.says = "opened",
		.row = open_row,
		.status = 200 };
	static const struct {
		const char *user_check, *says;
		bool keeps;
	} ends[] = {
		{ "remote-user", "opened", true },
		{ "session-ticket", "opened", true },
		{ "session-ticket", "expired", false },
		{ "session-ticket", "completed", false },
		{ "session-ticket", "unavailable", false },
		{ "session-ticket", "failed", false },
	};
	struct um_buf body = { 0 };
	struct program_answer end;
	const char *reader;
	char cookies[4200];

	program_case_answer(&end, &input_program, &test);
	um_buf_put(&end.out, "", 1);
	reader = strstr(end.out.ptr, READER);
	assert_non_null(reader);
	reader += strlen(READER);
	um_buf_puts(&body, SUBMIT "&field.mail=%3Czoe&reader=");
	um_buf_put(&body, reader, strcspn(reader, "\""));
	um_buf_put(&body, "", 1);
	program_answer_free(&end);

	test.method = "POST";
	test.query = test.user = NULL;
	test.body = body.ptr;
	for (size_t i = 0; i < LENGTH(ends); i++) {
		row_begin("%s, %s", ends[i].user_check, ends[i].says);
		test.user_check = ends[i].user_check;
		test.says = ends[i].says;
		/* The database gives the form while it can be answered. */
		test.row = ends[i].keeps ? open_row : (struct um_row){ 0 };
		program_case_answer(&end, &input_program, &test);
		assert_int_equal(end.ex.refusal, UM_REFUSAL_SESSION_ENDED);
		assert_string_equal(end.ex.op.subject, "user-42");
		assert_true(has(&end.out, "Nothing was stored."));
		assert_int_equal(has(&end.out, "you typed will be there again"),
			ends[i].keeps);
		assert_true(has(&end.out, "Try again</a>"));
		assert_false(has(&end.out, SECRET));
		if (ends[i].keeps)
			copy_cookie(cookies, sizeof(cookies),
				um_buf_str(&end.out), UM_KEPT_COOKIE);
		else
			assert_false(has(&end.out, UM_KEPT_COOKIE));
		program_answer_free(&end);
	}
	um_buf_free(&body);

	test = (struct program_case){ .name = "the page of its user",
		.path = INTAKE,
		.query = QUERY,
		.user = "user-42",
		.user_check = "remote-user",
		.cookie = cookies,
		.asks = UM_OP_LOOK_UP_FORM,
		.says = "opened",
		.row = open_row,
		.status = 200,
		.on_page = "value=\"&lt;zoe\"" };
	program_case_run(&input_program, &test);
	test.name = "another user's";
	test.user = "user-43";
	test.on_page = "name=\"field.mail\" value=\"\"";
	program_case_run(&input_program, &test);
}

/* A web server that names nobody is not set up; a page for nobody has no reader. */
TEST(a_form_from_a_page_without_a_reader)
{
	struct program_case test = { .name = "remote-user",
		.method = "POST",
		.path = INTAKE,
		.body = SUBMIT "&reader=x",
		.user_check = "remote-user",
		.status = 500,
		.reason = "sign_in_not_set_up" };

	program_case_run(&input_program, &test);
	test.name = test.user_check = "session-ticket";
	test.status = 403;
	test.reason = "session_ended";
	program_case_run(&input_program, &test);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			a_session_that_has_ended_says_so_and_keeps_what_is_not_secret),
		cmocka_unit_test(a_form_from_a_page_without_a_reader),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
