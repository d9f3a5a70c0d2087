/* SPDX-License-Identifier: MIT */
/* Compares the answer of a program with what a case expects. */
#include <stdio.h>
#include <string.h>

#include "crypto/seal.h"
#include "program_case.h"

static void
check_text(const struct program_case *test, const char *what, struct um_str got,
	const char *expected)
{
	if (expected != NULL && !um_str_is(got, expected))
		fail_msg("%s: %s is \"%.*s\", not \"%s\"", test->name, what,
			(int)got.len, got.ptr != NULL ? got.ptr : "", expected);
}

/* What was sealed, against the JSON text that is expected. */
static void
check_result(const struct program_case *test, const struct um_op *op)
{
	struct um_buf text = { 0 };

	if (test->result == NULL)
		return;
	if (op->result.len != 0
		&& !um_seal_open(&text, um_buf_str(&op->result), op->id,
			op->binding, case_context.keys))
		fail_msg("%s: the result does not open", test->name);
	check_text(test, "the result", um_buf_str(&text), test->result);
	um_buf_free(&text);
}

/* What plan() wants done, and to which row. */
void
program_case_check_op(const struct program_case *test,
	const struct um_exchange *ex)
{
	const struct um_op *op = &ex->op;

	if (ex->then == NULL || ex->ops != op || op->kind != test->asks)
		fail_msg("%s: requests no operation, or one of kind %d",
			test->name, (int)op->kind);
	if (ex->has_token) {
		char uuid[UM_UUID_TEXT_LEN + 1];
		uint8_t binding[UM_BINDING_LEN] = { 0 };

		um_uuid_format(uuid, op->id);
		if (!ex->is_link)
			um_binding_digest(binding, case_context.keys,
				STR("user-42"), STR("sess-1"));
		assert_string_equal(uuid, CASE_ID);
		assert_memory_equal(op->binding, binding, sizeof(binding));
		assert_string_equal(op->provider, ex->provider->name);
	}
	if (op->kind != UM_OP_LOOK_UP && op->kind != UM_OP_LOOK_UP_LINK
		&& op->kind != UM_OP_LINK_TENANT)
		check_text(test, "the subject", um_str(op->subject),
			test->user != NULL ? test->user : ex->reader);
	if (test->asks_then == UM_OP_NONE)
		program_case_check_written(test, op);
}

void
program_case_check_written(const struct program_case *test,
	const struct um_op *op)
{
	check_text(test, "the action", um_str(op->action), test->action);
	check_text(test, "the operation's reason", um_str(op->reason),
		test->op_reason);
	check_result(test, op);
}

struct um_str
program_answer_header(const struct program_answer *end, const char *name)
{
	size_t len = strlen(name);
	const char *p = end->out.ptr;
	const char *last = p + end->out.len;

	while (p < last && *p != '\r') {
		const char *eol = memchr(p, '\r', (size_t)(last - p));

		assert_non_null(eol);
		if ((size_t)(eol - p) > len + 1 && memcmp(p, name, len) == 0
			&& p[len] == ':')
			return (struct um_str){ p + len + 2,
				(size_t)(eol - p) - len - 2 };
		p = eol + 2;
	}
	return um_str(NULL);
}

/* An expected `*` at the end stands for one token. */
static void
check_location(const struct program_case *test,
	const struct program_answer *end)
{
	struct um_str got = program_answer_header(end, "Location");
	size_t len;

	if (test->location == NULL)
		return;
	len = strlen(test->location);
	if (len != 0 && test->location[len - 1] == '*') {
		if (got.len != len - 1 + UM_TOKEN_LEN
			|| memcmp(got.ptr, test->location, len - 1) != 0)
			fail_msg("%s: Location is %.*s", test->name,
				(int)got.len, got.ptr);
		return;
	}
	check_text(test, "Location", got, test->location);
}

/* The page of a refusal has its reason code and the request's id. */
static void
check_refusal(const struct program_case *test, const struct program_answer *end)
{
	const char *shown = test->reason;
	char expected[128];

	if (end->ex.response.status < 400 || test->reason == NULL
		|| strcmp(test->method != NULL ? test->method : "", "HEAD")
			== 0)
		return;
	if (strcmp(shown, "unknown_key") == 0)
		shown = "state_invalid"; /* Nobody outside learns of the keys. */
	if (end->ex.plain)
		snprintf(expected, sizeof(expected), "\r\n\r\n%s: ", shown);
	else
		snprintf(expected, sizeof(expected), "<code>%s</code>", shown);
	assert_row(test->name,
		str_has(um_buf_str(&end->out), um_str(expected)));
	assert_row(test->name,
		end->ex.plain
			|| str_has(um_buf_str(&end->out),
				STR("<code>" CASE_REQUEST_ID "</code>")));
}

/* What holds for every answer, whatever it is. */
static void
check_always(const struct program_case *test, const struct program_answer *end)
{
	const struct um_exchange *ex = &end->ex;
	const struct um_str body = um_buf_str(&ex->response.body);
	const struct um_str log = um_buf_str(&end->log);
	const struct um_str secrets[] = { STR(SECRET), STR(CASE_COOKIE),
		um_form_get(&ex->form, "state") };
	/* A form sends its own state back. */
	bool is_form = ex->provider != NULL
		&& um_provider_has_form(ex->provider)
		&& ex->refusal == UM_REFUSAL_NONE
		&& ex->answer == UM_ANSWER_WRITTEN;
	static const char *const headers[][2] = {
		{ "X-Request-Id", CASE_REQUEST_ID },
		{ "Cache-Control", "no-store" },
		{ "Referrer-Policy", "no-referrer" },
		{ "X-Content-Type-Options", "nosniff" },
	};
	json_t *line = json_loadb(log.ptr, log.len, 0, NULL);

	assert_row(test->name, line != NULL);
	check_text(test, "the log's reason",
		um_str(json_string_value(json_object_get(line, "reason"))),
		test->reason);
	check_text(test, "the log's outcome",
		um_str(json_string_value(json_object_get(line, "outcome"))),
		test->outcome);
	assert_row(test->name,
		json_integer_value(json_object_get(line, "status"))
			== ex->response.status);
	json_decref(line);

	for (size_t i = 0; i < LENGTH(secrets); i++) {
		assert_row(test->name,
			secrets[i].len == 0 || (is_form && i == 2)
				|| !str_has(body, secrets[i]));
		assert_row(test->name,
			secrets[i].len == 0 || !str_has(log, secrets[i]));
	}
	for (size_t i = 0; i < LENGTH(headers); i++)
		check_text(test, headers[i][0],
			program_answer_header(end, headers[i][0]),
			headers[i][1]);
	if (body.len != 0 && ex->response.content_type == NULL)
		assert_row(test->name,
			program_answer_header(end, "Content-Security-Policy")
					.len
				!= 0);
}

/* A return may set a second one. */
static void
check_cookie(const struct program_case *test, const struct program_answer *end)
{
	struct um_buf line = { 0 };

	if (test->sets_cookie == NULL || test->sets_cookie[0] == '\0') {
		check_text(test, "Set-Cookie",
			program_answer_header(end, "Set-Cookie"),
			test->sets_cookie);
		return;
	}
	um_buf_cat(&line, "Set-Cookie: ", test->sets_cookie, "\r\n");
	assert_row(test->name,
		str_has(um_buf_str(&end->ex.response.headers),
			um_buf_str(&line)));
	um_buf_free(&line);
}

void
program_case_check(const struct program_case *test,
	const struct program_answer *end)
{
	if (test->status != end->ex.response.status)
		fail_msg("%s: %d %s", test->name, end->ex.response.status,
			end->ex.reason != NULL ? end->ex.reason : "");
	check_always(test, end);
	check_refusal(test, end);
	check_location(test, end);
	check_cookie(test, end);
	check_text(test, "Refresh", program_answer_header(end, "Refresh"),
		test->refresh);
	if (test->on_page != NULL)
		assert_row(test->name,
			str_has(um_buf_str(&end->ex.response.body),
				um_str(test->on_page)));
}

void
assert_case_token(struct um_str text, enum um_purpose purpose, int64_t expires,
	struct um_str cookie)
{
	struct um_token token;
	uint8_t browser[UM_BROWSER_LEN], binding[UM_BINDING_LEN];
	char uuid[UM_UUID_TEXT_LEN + 1];

	assert_int_equal(um_token_open(&token, text, case_context.keys, purpose,
				 "demo", CASE_NOW),
		UM_TOKEN_GOOD);
	um_uuid_format(uuid, token.id);
	um_browser_digest(browser, case_context.keys, cookie);
	assert_string_equal(uuid, CASE_ID);
	assert_memory_equal(token.browser, browser, sizeof(browser));
	um_binding_digest(binding, case_context.keys, STR("user-42"),
		STR("sess-1"));
	assert_memory_equal(token.binding, binding, sizeof(binding));
	assert_int_equal(token.expires, expires);
}
