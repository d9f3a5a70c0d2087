/* SPDX-License-Identifier: MIT */
/* /form: what each request and each word of the database come to. */
#include <string.h>

#include "crypto/seal.h"
#include "program_case.h"

#define main program_main
#include "../../cgi-bin/form.c" // NOLINT(bugprone-suspicious-include)
#undef main

#define INTAKE "/form/intake"
#define APPROVALS "/form/approvals"
#define QUERY "state={bound}"
#define SUBMIT "state={bound}&answer=submit&field.key=" SECRET
#define FORM                                                                   \
	"{\"title\":\"Connect\",\"fields\":["                                  \
	"{\"name\":\"key\",\"type\":\"secret\",\"label\":\"Key\","             \
	"\"required\":true},"                                                  \
	"{\"name\":\"mail\",\"type\":\"email\",\"label\":\"Mail\"}]}"
#define APPROVAL "{\"title\":\"Expense\",\"comment\":\"optional\"}"

static const struct tested_program input_program = {
	{ .name = "form", .routes = routes, .measures = UM_OP_NONE },
	UM_PURPOSE_FORM,
	"intake",
};
static const struct tested_program approval_program = {
	{ .name = "form", .routes = routes, .measures = UM_OP_NONE },
	UM_PURPOSE_FORM,
	"approvals",
};

static char requester[] = "Notes", subject[] = "user-42", none[] = "";
static char accept[] = "accept", decline[] = "decline", cancel[] = "cancel";
static char refused[] = "refused_input", anna[] = "anna";

/* A row whose form is open; its buffers live until the end of the test. */
static struct um_row open_row, open_approval;

/* JSON that is sealed for the page of the case's row. */
static struct um_buf
sealed(const char *json, enum um_key_use use, const char *cookie)
{
	static const uint8_t nonce[UM_NONCE_LEN] = { 9 };
	uint8_t id[UM_UUID_LEN], owner[UM_BINDING_LEN];
	struct um_buf out = { 0 };

	bytes_of_uuid(id, CASE_ID);
	if (cookie != NULL)
		um_browser_digest(owner, case_context.keys, um_str(cookie));
	else
		um_binding_digest(owner, case_context.keys, STR("user-42"),
			STR("sess-1"));
	assert_true(um_seal_put_for_page(&out, um_str(json), use, id, owner,
		case_context.keys, nonce));
	return out;
}

static int
set_up(void **state)
{
	int result = program_case_set_up(state);

	open_row = (struct um_row){ .requester = requester,
		.subject = subject,
		.form = sealed(FORM, UM_USE_FORM, NULL) };
	open_approval = open_row;
	open_approval.form = sealed(APPROVAL, UM_USE_FORM, NULL);
	return result;
}

static int
tear_down(void **state)
{
	um_buf_free(&open_row.form);
	um_buf_free(&open_approval.form);
	return program_case_tear_down(state);
}

TEST(refused_without_the_database)
{
	static const struct program_case cases[] = {
		{ .name = "no provider",
			.path = "/form/nobody",
			.query = QUERY,
			.status = 404,
			.reason = "unknown_provider" },
		{ .name = "a provider without forms",
			.path = "/form/demo",
			.query = QUERY,
			.status = 404,
			.reason = "unknown_provider" },
		{ .name = "another method",
			.method = "PUT",
			.path = INTAKE,
			.query = QUERY,
			.status = 405,
			.reason = "method_not_allowed" },
		{ .name = "HEAD",
			.method = "HEAD",
			.path = INTAKE,
			.query = QUERY,
			.status = 405,
			.reason = "method_not_allowed" },
		{ .name = "no state",
			.path = INTAKE,
			.status = 400,
			.reason = "state_missing" },
		{ .name = "a link",
			.path = INTAKE,
			.query = "state={link}",
			.status = 400,
			.reason = "state_invalid" },
		{ .name = "another purpose",
			.path = INTAKE,
			.query = "state={purpose}",
			.status = 400,
			.reason = "state_invalid" },
		{ .name = "another provider",
			.path = INTAKE,
			.query = "state={provider}",
			.status = 400,
			.reason = "state_invalid" },
		{ .name = "expired",
			.path = INTAKE,
			.query = "state={expired}",
			.status = 410,
			.reason = "state_expired" },
		{ .name = "sent under a key that was dropped meanwhile",
			.method = "POST",
			.path = INTAKE,
			.body = "state={key}&answer=submit&field.key=" SECRET,
			.status = 400,
			.reason = "unknown_key" },
		{ .name = "sent after its end",
			.method = "POST",
			.path = INTAKE,
			.body = "state={expired}&answer=submit&field."
				"key=" SECRET,
			.status = 410,
			.reason = "state_expired" },
		{ .name = "another browser",
			.path = INTAKE,
			.query = "state={elsewhere}",
			.status = 403,
			.reason = "wrong_browser" },
		{ .name = "no cookie",
			.path = INTAKE,
			.query = QUERY,
			.cookie = "",
			.status = 403,
			.reason = "wrong_browser" },
		{ .name = "another site",
			.method = "POST",
			.path = INTAKE,
			.body = SUBMIT,
			.site = "cross-site",
			.status = 403,
			.reason = "cross_site" },
		{ .name = "a site beside",
			.method = "POST",
			.path = INTAKE,
			.body = SUBMIT,
			.site = "same-site",
			.status = 403,
			.reason = "cross_site" },
		{ .name = "a state in both",
			.method = "POST",
			.path = INTAKE,
			.query = QUERY,
			.body = SUBMIT,
			.status = 400,
			.reason = "query_and_form" },
		{ .name = "a field twice",
			.method = "POST",
			.path = INTAKE,
			.body = SUBMIT "&field.key=x",
			.status = 400,
			.reason = "duplicate_parameter" },
		{ .name = "a NUL",
			.method = "POST",
			.path = INTAKE,
			.body = SUBMIT "%00",
			.status = 400,
			.reason = "malformed_parameters" },
		{ .name = "an attachment",
			.method = "POST",
			.path = INTAKE,
			.body = SUBMIT,
			.type = "multipart/form-data; boundary=x",
			.status = 415,
			.reason = "unsupported_media_type" },
		{ .name = "a form over BODY_MAX",
			.method = "POST",
			.path = INTAKE,
			.body = SUBMIT,
			.body_too_large = true,
			.status = 413,
			.reason = "body_too_large" },
	};

	program_case_run_all(&input_program, cases, LENGTH(cases));
}

TEST(get_shows_how_far_it_is)
{
	struct program_case test = { .path = INTAKE,
		.query = QUERY,
		.asks = UM_OP_LOOK_UP_FORM,
		.status = 200 };
	const struct {
		const char *says;
		struct um_row row;
		int status;
		const char *reason;
		const char *on_page;
	} cases[] = {
		{ "pending", open_row, 200, "", "name=\"field.key\"" },
		{ "opened", open_row, 200, "", "name=\"field.mail\"" },
		{ "processing", { 0 }, 200, "", "http-equiv=\"refresh\"" },
		{ "completed", { .action = accept, .reason = none }, 200, "",
			"Already done" },
		{ "completed", { .action = decline, .reason = none }, 200, "",
			"Already done" },
		{ "completed", { .action = cancel, .reason = refused }, 200, "",
			"refused too many times" },
		{ "unknown", { 0 }, 404, "unknown_elicitation", NULL },
		{ "expired", { 0 }, 410, "expired", NULL },
		{ "unavailable", { 0 }, 503, "unavailable", NULL },
		{ "failed", { 0 }, 500, "internal_error", NULL },
	};

	for (size_t i = 0; i < LENGTH(cases); i++) {
		test.name = test.says = cases[i].says;
		test.row = cases[i].row;
		test.status = cases[i].status;
		test.reason = cases[i].reason;
		test.on_page = cases[i].on_page;
		program_case_run(&input_program, &test);
	}
}

/* The value may be checked before the browser comes back to its form. */
TEST(the_browser_that_has_answered_is_told_the_end)
{
	static const struct {
		char *action, *reason;
		const char *on_page;
	} ends[] = { { accept, none, "All done" },
		{ decline, none, "Declined" },
		{ cancel, refused, "refused too many times" } };
	struct program_case test = { .name = "own",
		.path = INTAKE,
		.query = QUERY,
		.asks = UM_OP_LOOK_UP_FORM,
		.says = "completed",
		.status = 200 };

	for (size_t i = 0; i < LENGTH(ends); i++) {
		test.row = (struct um_row){ .action = ends[i].action,
			.reason = ends[i].reason,
			.has_browser = true };
		um_browser_digest(test.row.browser, case_context.keys,
			STR(CASE_COOKIE));
		test.on_page = ends[i].on_page;
		program_case_run(&input_program, &test);
	}
	test.row.action = accept;
	test.row.browser[0] ^= 1;
	test.on_page = "Already done";
	program_case_run(&input_program, &test);
}

TEST(a_decision_says_whose_it_was)
{
	const struct program_case test = { .name = "decided",
		.path = APPROVALS,
		.query = QUERY,
		.asks = UM_OP_LOOK_UP_FORM,
		.says = "completed",
		.row = { .action = decline,
			.reason = none,
			.decided_by = anna },
		.status = 200,
		.on_page = "<bdi>anna</bdi></strong> has declined" };

	program_case_run(&approval_program, &test);
}

TEST(an_answer_is_sealed_and_stored)
{
	struct program_case test = { .name = "submit",
		.method = "POST",
		.path = INTAKE,
		.body = SUBMIT "&field.mail=a%40b.example",
		.site = "same-origin",
		.asks = UM_OP_LOOK_UP_FORM,
		.says = "opened",
		.row = open_row,
		.asks_then = UM_OP_ANSWER_FORM,
		.says_then = "completed",
		.status = 303,
		.location = "/done",
		.sets_cookie = DONE_COOKIE("done"),
		.action = "accept",
		.op_reason = "",
		.result = "{\"values\":{\"key\":\"" SECRET
			  "\",\"mail\":\"a@b.example\"}}" };

	program_case_run(&input_program, &test);

	test.name = "being checked";
	test.says_then = "processing";
	test.location = NULL;
	test.sets_cookie = "";
	program_case_run(&input_program, &test);

	test.name = "the second of two";
	test.says_then = "already";
	program_case_run(&input_program, &test);

	test.name = "declined";
	test.body = "state={bound}&answer=decline&field.mail=half";
	test.says_then = "completed";
	test.location = "/done";
	test.sets_cookie = DONE_COOKIE("form_declined");
	test.action = "decline";
	test.op_reason = "access_denied";
	test.result = "";
	program_case_run(&input_program, &test);
}

/* Without secrets, and for the browser that has sent it. */
TEST(what_was_typed_is_shown_again_to_its_browser)
{
	struct program_case test = { .name = "store",
		.method = "POST",
		.path = INTAKE,
		.body = SUBMIT "&field.mail=a%40b.example",
		.asks = UM_OP_LOOK_UP_FORM,
		.says = "opened",
		.row = open_row,
		.asks_then = UM_OP_ANSWER_FORM,
		.says_then = "processing",
		.status = 303 };
	struct um_buf problem = sealed("{\"field\":\"key\",\"problem\":"
				       "\"Unknown\"}",
		UM_USE_PROBLEM, NULL);
	struct program_answer end;
	struct um_buf text = { 0 };

	program_case_answer(&end, &input_program, &test);
	assert_true(um_seal_open_for_page(&text, um_buf_str(&end.ex.op.typed),
		UM_USE_TYPED, end.ex.token.id, end.ex.token.browser,
		case_context.keys));
	assert_str(um_buf_str(&text), "{\"mail\":\"a@b.example\"}");
	um_buf_free(&text);
	program_answer_free(&end);

	test = (struct program_case){ .name = "show",
		.path = INTAKE,
		.query = QUERY,
		.asks = UM_OP_LOOK_UP_FORM,
		.says = "opened",
		.row = open_row,
		.status = 200,
		.on_page = "value=\"a&#64;b.example\"" };
	test.row.problem = problem;
	test.row.typed = sealed("{\"mail\":\"a@b.example\",\"key\":\"" SECRET
				"\"}",
		UM_USE_TYPED, CASE_COOKIE);
	program_case_run(&input_program, &test);
	test.on_page = "id=\"e-key\"><span lang=\"en\" dir=\"ltr\">Unknown";
	program_case_run(&input_program, &test);
	um_buf_free(&test.row.typed);

	test.name = "another browser's";
	test.row.typed = sealed("{\"mail\":\"a@b.example\"}", UM_USE_TYPED,
		"another");
	test.on_page = "name=\"field.mail\" value=\"\"";
	program_case_run(&input_program, &test);
	um_buf_free(&test.row.typed);
	um_buf_free(&problem);
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

/* The tab is known by its state: a page that is loaded again is no second tab. */
TEST(a_second_tab_is_told_of_the_first)
{
	static const char notice[] = "opened this in this browser before";
	struct program_case test = { .name = "first",
		.path = INTAKE,
		.query = QUERY,
		.asks = UM_OP_LOOK_UP_FORM,
		.says = "opened",
		.row = open_row,
		.status = 200 };
	struct um_response other = { 0 };
	struct program_answer end;
	char cookies[512];

	program_case_answer(&end, &input_program, &test);
	assert_false(str_has(um_buf_str(&end.out), um_str(notice)));
	copy_cookie(cookies, sizeof(cookies), um_buf_str(&end.out),
		UM_OPEN_COOKIE);
	um_open_note(&other, um_str(""), CASE_COOKIE, &end.ex.token,
		um_str("another"));
	program_answer_free(&end);

	test.name = "the same tab again";
	test.cookie = cookies;
	program_case_answer(&end, &input_program, &test);
	assert_false(str_has(um_buf_str(&end.out), um_str(notice)));
	program_answer_free(&end);

	copy_cookie(cookies, sizeof(cookies), um_buf_str(&other.headers),
		UM_OPEN_COOKIE);
	um_response_free(&other);
	test.name = "another tab";
	test.on_page = notice;
	program_case_run(&input_program, &test);
	test.name = "another tab with a mistake";
	test.method = "POST";
	test.query = NULL;
	test.body = "state={bound}&answer=submit&field.key=";
	test.status = 422;
	program_case_run(&input_program, &test);
}

TEST(mistakes_are_not_stored)
{
	const struct {
		const char *body;
		int status;
		const char *reason;
		const char *on_page;
	} cases[] = {
		{ "state={bound}&answer=submit&field.key=", 422,
			"values_invalid", "id=\"e-key\"" },
		{ SUBMIT "&field.mail=x", 422, "values_invalid",
			"id=\"e-mail\"" },
		{ SUBMIT "&field.other=x", 400, "field_unknown", NULL },
		{ SUBMIT "&comment=x", 400, "field_unknown", NULL },
		{ "state={bound}&field.key=" SECRET, 400, "answer_invalid",
			NULL },
		{ "state={bound}&answer=approve&field.key=" SECRET, 400,
			"answer_invalid", NULL },
	};

	for (size_t i = 0; i < LENGTH(cases); i++) {
		const struct program_case test = { .name = cases[i].body,
			.method = "POST",
			.path = INTAKE,
			.body = cases[i].body,
			.asks = UM_OP_LOOK_UP_FORM,
			.says = "opened",
			.row = open_row,
			.status = cases[i].status,
			.outcome = "refused",
			.reason = cases[i].status == 422 ? NULL
							 : cases[i].reason,
			.on_page = cases[i].on_page };

		program_case_run(&input_program, &test);
	}
}

/* Only what was never sent to the database was certainly not stored. */
TEST(a_database_that_is_away)
{
	struct program_case test = { .name = "at the first question",
		.method = "POST",
		.path = INTAKE,
		.body = SUBMIT,
		.asks = UM_OP_LOOK_UP_FORM,
		.says = "unavailable",
		.status = 503,
		.reason = "not_stored",
		.refresh = "" };

	program_case_run(&input_program, &test);
	test.name = "at the second question";
	test.says = "opened";
	test.row = open_row;
	test.asks_then = UM_OP_ANSWER_FORM;
	test.says_then = "unavailable";
	program_case_run(&input_program, &test);
	test.name = "without an answer to the second question";
	test.says_then = "unanswered";
	test.reason = "unavailable";
	test.refresh = NULL;
	program_case_run(&input_program, &test);
}

TEST(a_definition_that_is_broken_or_foreign)
{
	const struct {
		const char *json;
		enum um_key_use use;
		const char *path;
	} cases[] = {
		{ "{\"title\":\"T\"}", UM_USE_FORM, INTAKE },
		{ FORM, UM_USE_PROBLEM, INTAKE },
		{ APPROVAL, UM_USE_FORM, INTAKE },
	};

	for (size_t i = 0; i < LENGTH(cases); i++) {
		struct program_case test = { .name = cases[i].json,
			.path = cases[i].path,
			.query = QUERY,
			.asks = UM_OP_LOOK_UP_FORM,
			.says = "opened",
			.row = open_row,
			.status = 500,
			.reason = "internal_error" };

		test.row.form = sealed(cases[i].json, cases[i].use, NULL);
		program_case_run(&input_program, &test);
		um_buf_free(&test.row.form);
	}
}

TEST(a_decision_has_its_approver_and_its_time)
{
	struct program_case test = { .name = "approve",
		.method = "POST",
		.path = APPROVALS,
		.body = "state={bound}&answer=approve&comment=Fine",
		.user = "anna",
		.user_check = "remote-user",
		.asks = UM_OP_LOOK_UP_FORM,
		.says = "opened",
		.row = open_approval,
		.asks_then = UM_OP_ANSWER_FORM,
		.says_then = "completed",
		.status = 303,
		.location = "/done",
		.sets_cookie = DONE_COOKIE("recorded"),
		.action = "accept",
		.op_reason = "",
		.result = "{\"approver\":\"anna\",\"comment\":\"Fine\","
			  "\"decided_at\":\"2027-01-15T08:00:00.000Z\"}" };

	program_case_run(&approval_program, &test);
	test.name = "decline";
	test.body = "state={bound}&answer=decline&comment=";
	test.sets_cookie = DONE_COOKIE("form_declined");
	test.action = "decline";
	test.op_reason = "declined";
	test.result = "{\"approver\":\"anna\","
		      "\"decided_at\":\"2027-01-15T08:00:00.000Z\"}";
	program_case_run(&approval_program, &test);
	test.name = "the starter, whom nobody knows";
	test.user = NULL;
	test.user_check = NULL;
	test.result = "{\"approver\":\"user-42\","
		      "\"decided_at\":\"2027-01-15T08:00:00.000Z\"}";
	program_case_run(&approval_program, &test);
}

/* The database compares: the user, four eyes as configured, and the kind. */
TEST(the_database_is_told_who_asks_and_of_what)
{
	static const struct program_case test = { .name = "told",
		.path = APPROVALS,
		.query = QUERY,
		.user = "anna",
		.user_check = "remote-user",
		.asks = UM_OP_LOOK_UP_FORM,
		.says = "unknown",
		.status = 404 };
	struct program_answer end;

	program_case_answer(&end, &approval_program, &test);
	assert_string_equal(end.ex.op.subject, "anna");
	assert_string_equal(end.ex.op.row_kind, "approval");
	assert_true(end.ex.op.four_eyes);
	program_answer_free(&end);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(refused_without_the_database),
		cmocka_unit_test(get_shows_how_far_it_is),
		cmocka_unit_test(the_browser_that_has_answered_is_told_the_end),
		cmocka_unit_test(a_decision_says_whose_it_was),
		cmocka_unit_test(an_answer_is_sealed_and_stored),
		cmocka_unit_test(what_was_typed_is_shown_again_to_its_browser),
		cmocka_unit_test(a_second_tab_is_told_of_the_first),
		cmocka_unit_test(mistakes_are_not_stored),
		cmocka_unit_test(a_database_that_is_away),
		cmocka_unit_test(a_definition_that_is_broken_or_foreign),
		cmocka_unit_test(a_decision_has_its_approver_and_its_time),
		cmocka_unit_test(the_database_is_told_who_asks_and_of_what),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
