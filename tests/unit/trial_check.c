/* SPDX-License-Identifier: MIT */
/* What a trial holds against a program's answer. */
#include <stdio.h>
#include <string.h>

#include "crypto/seal.h"
#include "trial.h"

static void
check_text(const struct trial *trial, const char *what, struct um_str got,
	const char *expected)
{
	if (expected != NULL && !um_str_is(got, expected))
		fail_msg("%s: %s is \"%.*s\", not \"%s\"", trial->name, what,
			(int)got.len, got.ptr != NULL ? got.ptr : "", expected);
}

/* What was sealed, against the JSON text that is expected. */
static void
check_result(const struct trial *trial, const struct um_op *op)
{
	struct um_buf text = { 0 };

	if (trial->result == NULL)
		return;
	if (op->result.len != 0
		&& !um_seal_open(&text, um_buf_str(&op->result), op->id,
			op->binding, trial_context.keys))
		fail_msg("%s: the result does not open", trial->name);
	check_text(trial, "the result", um_buf_str(&text), trial->result);
	um_buf_free(&text);
}

/* What plan() wants done, and to which row. */
void
trial_check_op(const struct trial *trial, const struct um_exchange *ex)
{
	const struct um_op *op = &ex->op;

	if (ex->asked != 1 || op->kind != trial->asks)
		fail_msg("%s: asks for %d operations, of kind %d", trial->name,
			(int)ex->asked, (int)op->kind);
	if (ex->has_token) {
		char uuid[UM_UUID_TEXT_LEN + 1];
		uint8_t binding[UM_BINDING_LEN];

		um_uuid_format(uuid, op->id);
		um_binding_digest(binding, STR("user-42"), STR("sess-1"));
		assert_string_equal(uuid, TRIAL_ID);
		assert_memory_equal(op->binding, binding, sizeof(binding));
		assert_string_equal(op->provider, ex->provider->name);
	}
	if (op->kind != UM_OP_LOOK_UP)
		check_text(trial, "the subject", um_str(op->subject),
			trial->user != NULL ? trial->user : "");
	if (trial->asks_then == UM_OP_NONE)
		trial_check_deed(trial, op);
}

void
trial_check_deed(const struct trial *trial, const struct um_op *op)
{
	check_text(trial, "the action", um_str(op->action), trial->action);
	check_text(trial, "the operation's reason", um_str(op->reason),
		trial->op_reason);
	check_result(trial, op);
}

struct um_str
trial_header(const struct trial_end *end, const char *name)
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
check_location(const struct trial *trial, const struct trial_end *end)
{
	struct um_str got = trial_header(end, "Location");
	size_t len;

	if (trial->location == NULL)
		return;
	len = strlen(trial->location);
	if (len != 0 && trial->location[len - 1] == '*') {
		if (got.len != len - 1 + UM_TOKEN_LEN
			|| memcmp(got.ptr, trial->location, len - 1) != 0)
			fail_msg("%s: Location is %.*s", trial->name,
				(int)got.len, got.ptr);
		return;
	}
	check_text(trial, "Location", got, trial->location);
}

/* The page of a refusal has its reason code and the request's id. */
static void
check_refusal(const struct trial *trial, const struct trial_end *end)
{
	char expected[128];

	if (end->ex.response.status < 400 || trial->reason == NULL
		|| strcmp(trial->method != NULL ? trial->method : "", "HEAD")
			== 0)
		return;
	if (end->ex.plain)
		snprintf(expected, sizeof(expected),
			"\r\n\r\n%s: ", trial->reason);
	else
		snprintf(expected, sizeof(expected), "<code>%s</code>",
			trial->reason);
	assert_row(trial->name,
		str_has(um_buf_str(&end->out), um_str(expected)));
	assert_row(trial->name,
		end->ex.plain
			|| str_has(um_buf_str(&end->out),
				STR("<code>" TRIAL_REQUEST_ID "</code>")));
}

/* What holds for every answer, whatever it is. */
static void
check_always(const struct trial *trial, const struct trial_end *end)
{
	const struct um_exchange *ex = &end->ex;
	const struct um_str body = um_buf_str(&ex->response.body);
	const struct um_str log = um_buf_str(&end->log);
	const struct um_str secrets[] = { STR(SECRET), STR(TRIAL_COOKIE),
		um_form_get(&ex->form, "state") };
	static const char *const headers[][2] = {
		{ "X-Request-Id", TRIAL_REQUEST_ID },
		{ "Cache-Control", "no-store" },
		{ "Referrer-Policy", "no-referrer" },
		{ "X-Content-Type-Options", "nosniff" },
	};
	json_t *line = json_loadb(log.ptr, log.len, 0, NULL);

	assert_row(trial->name, line != NULL);
	check_text(trial, "the log's reason",
		um_str(json_string_value(json_object_get(line, "reason"))),
		trial->reason);
	check_text(trial, "the log's outcome",
		um_str(json_string_value(json_object_get(line, "outcome"))),
		trial->outcome);
	assert_row(trial->name,
		json_integer_value(json_object_get(line, "status"))
			== ex->response.status);
	json_decref(line);

	for (size_t i = 0; i < LENGTH(secrets); i++) {
		assert_row(trial->name,
			secrets[i].len == 0 || !str_has(body, secrets[i]));
		assert_row(trial->name,
			secrets[i].len == 0 || !str_has(log, secrets[i]));
	}
	for (size_t i = 0; i < LENGTH(headers); i++)
		check_text(trial, headers[i][0],
			trial_header(end, headers[i][0]), headers[i][1]);
	if (body.len != 0 && ex->response.content_type == NULL)
		assert_row(trial->name,
			trial_header(end, "Content-Security-Policy").len != 0);
}

void
trial_check(const struct trial *trial, const struct trial_end *end)
{
	if (trial->status != end->ex.response.status)
		fail_msg("%s: %d %s", trial->name, end->ex.response.status,
			end->ex.reason != NULL ? end->ex.reason : "");
	check_always(trial, end);
	check_refusal(trial, end);
	check_location(trial, end);
	check_text(trial, "Set-Cookie", trial_header(end, "Set-Cookie"),
		trial->sets_cookie);
	check_text(trial, "Refresh", trial_header(end, "Refresh"),
		trial->refresh);
	if (trial->on_page != NULL)
		assert_row(trial->name,
			str_has(um_buf_str(&end->ex.response.body),
				um_str(trial->on_page)));
}

void
trial_assert_token(struct um_str text, enum um_purpose purpose, int64_t expires,
	struct um_str cookie)
{
	struct um_token token;
	uint8_t browser[UM_BROWSER_LEN];
	char uuid[UM_UUID_TEXT_LEN + 1];

	assert_int_equal(um_token_open(&token, text, trial_context.keys,
				 purpose, "demo", TRIAL_NOW),
		UM_TOKEN_GOOD);
	um_uuid_format(uuid, token.id);
	um_browser_digest(browser, cookie);
	assert_string_equal(uuid, TRIAL_ID);
	assert_memory_equal(token.browser, browser, sizeof(browser));
	assert_int_equal(token.expires, expires);
}
