/* SPDX-License-Identifier: MIT */
#include "program_case.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "crypto/link.h"
#include "server/log.h"
#include "server/metrics.h"

#define KEY "1 ERERERERERERERERERERERERERERERERERERERERERE\n"
#define OTHER_KEY "2 IiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiI\n"
#define LINK_OF_RETURN "AQFvHJpSPw5NG5xXDy9vO4oR2U6ZqMeOcLISZAcX5Wg"
#define FORM_TYPE "application/x-www-form-urlencoded"

static char demo[] = "demo", lax[] = "lax", plain[] = "plain", shop[] = "shop";
static char intake[] = "intake", approvals[] = "approvals";
static char account[] = "Demo Account", issuer[] = CASE_ISSUER;

static struct um_provider providers[] = {
	{ .name = demo,
		.kind = UM_KIND_OAUTH,
		.display_name = account,
		.issuer = issuer,
		.sends_iss = true },
	{ .name = lax,
		.kind = UM_KIND_OAUTH,
		.display_name = account,
		.issuer = issuer },
	{ .name = plain, .kind = UM_KIND_OAUTH, .display_name = account },
	{ .name = shop, .kind = UM_KIND_PAYMENT, .display_name = account },
	{ .name = intake, .kind = UM_KIND_INPUT, .display_name = account },
	{ .name = approvals,
		.kind = UM_KIND_APPROVAL,
		.display_name = account,
		.four_eyes = true },
};

static struct um_config config = { .providers = providers,
	.providers_len = LENGTH(providers) };

struct um_context case_context = { .config = &config,
	.now_ms = CASE_NOW * 1000,
	.random = counting_random };

static struct um_keys *other_keys;

struct um_provider *
case_provider(const char *name)
{
	size_t i = 0;

	while (strcmp(providers[i].name, name) != 0)
		assert_true(++i < LENGTH(providers));
	return &providers[i];
}

int
program_case_set_up(void **state)
{
	struct um_error err;

	(void)state;
	case_context.keys = keys_of(KEY);
	other_keys = keys_of(OTHER_KEY);
	return um_metrics_open_own(&case_context.metrics, &config, "status",
		       &err)
		? 0
		: -1;
}

int
program_case_tear_down(void **state)
{
	(void)state;
	um_metrics_close(case_context.metrics);
	um_keys_free(case_context.keys);
	um_keys_free(other_keys);
	return 0;
}

/* The link that the name in braces stands for. */
static void
put_link(struct um_buf *out, struct um_str name,
	const struct tested_program *program)
{
	const char *provider = program->provider;
	const struct um_keys *keys = case_context.keys;
	char text[UM_LINK_LEN + 1];
	uint8_t id[UM_UUID_LEN];

	bytes_of_uuid(id, CASE_ID);
	if (um_str_is(name, "link-provider"))
		provider = "another";
	else if (um_str_is(name, "link-key"))
		keys = other_keys;
	assert_true(um_link_mint(text, id, keys, provider));
	/* The case's, but over the purpose "return". */
	if (um_str_is(name, "link-purpose"))
		memcpy(text, LINK_OF_RETURN, UM_LINK_LEN);
	if (um_str_is(name, "link-cut"))
		text[UM_LINK_LEN - 1] = '\0';
	um_buf_puts(out, text);
}

/* The token that the name in braces stands for. */
static void
put_token(struct um_buf *out, struct um_str name,
	const struct tested_program *program)
{
	static const uint8_t nonce[UM_NONCE_LEN] = { 1, 2, 3 };
	const struct um_keys *keys = case_context.keys;
	enum um_purpose purpose = program->purpose;
	const char *provider = program->provider;
	struct um_token token = { .expires = CASE_NOW + 300 };
	char text[UM_TOKEN_LEN + 1];

	bytes_of_uuid(token.id, CASE_ID);
	um_binding_digest(token.binding, case_context.keys, STR("user-42"),
		STR("sess-1"));
	um_browser_digest(token.browser, case_context.keys, STR(CASE_COOKIE));
	if (um_str_is(name, "unbound"))
		memset(token.browser, 0, sizeof(token.browser));
	else if (um_str_is(name, "elsewhere"))
		um_browser_digest(token.browser, case_context.keys,
			STR("another"));
	else if (um_str_is(name, "expired"))
		token.expires = CASE_NOW;
	else if (um_str_is(name, "purpose"))
		purpose = purpose == UM_PURPOSE_RETURN ? UM_PURPOSE_CONNECT
						       : UM_PURPOSE_RETURN;
	else if (um_str_is(name, "provider"))
		provider = "another";
	else if (um_str_is(name, "key"))
		keys = other_keys;
	else
		assert_true(um_str_is(name, "bound"));
	assert_true(
		um_token_mint(text, &token, keys, purpose, provider, nonce));
	um_buf_puts(out, text);
}

/* The text with its tokens, and a NUL that does not count. */
static void
expand(struct um_buf *out, const char *text,
	const struct tested_program *program)
{
	const char *open;

	while (text != NULL && (open = strchr(text, '{')) != NULL) {
		size_t len = strcspn(++open, "}");

		um_buf_put(out, text, (size_t)(open - 1 - text));
		if (strncmp(open, "link", 4) == 0)
			put_link(out, (struct um_str){ open, len }, program);
		else
			put_token(out, (struct um_str){ open, len }, program);
		text = open + len + 1;
	}
	um_buf_puts(out, text != NULL ? text : "");
	um_buf_put(out, "", 1);
	assert_false(out->failed);
	out->len--;
}

struct environment {
	const struct program_case *test;
	const char *query;
};

static const char *
get_variable(const char *name, void *arg)
{
	const struct environment *env = arg;
	const struct program_case *test = env->test;
	const struct {
		const char *name;
		const char *value;
	} variables[] = {
		{ "REQUEST_METHOD",
			test->method != NULL ? test->method : "GET" },
		{ "SCRIPT_NAME", test->path },
		{ "QUERY_STRING", env->query },
		{ "CONTENT_TYPE",
			test->type != NULL           ? test->type
				: test->body != NULL ? FORM_TYPE
						     : NULL },
		{ "HTTP_COOKIE",
			test->cookie != NULL ? test->cookie
					     : COOKIE(CASE_COOKIE) },
		{ "HTTP_SEC_PURPOSE", test->prefetch ? "prefetch" : NULL },
		{ "HTTP_SEC_FETCH_SITE", test->site },
		{ "REMOTE_USER", test->user },
		{ "URLMODE_REQUEST_ID", CASE_REQUEST_ID },
	};

	for (size_t i = 0; i < LENGTH(variables); i++)
		if (strcmp(variables[i].name, name) == 0)
			return variables[i].value;
	return NULL;
}

static char *
copy(const char *text)
{
	return text != NULL ? strdup(text) : NULL;
}

void
database_says(struct um_op *op, const char *word)
{
	op->was_sent = strcmp(word, "unavailable") != 0;
	op->status = !op->was_sent || strcmp(word, "unanswered") == 0
		? UM_STORE_UNAVAILABLE
		: strcmp(word, "failed") == 0 ? UM_STORE_FAILED
					      : UM_STORE_DONE;
	if (op->status == UM_STORE_DONE && strcmp(word, "ok") != 0
		&& !um_op_parse_outcome(op, word))
		fail_msg("the database never says \"%s\" to this", word);
}

static struct um_buf
copy_buf(const struct um_buf *buf)
{
	struct um_buf copied = { 0 };

	um_buf_put(&copied, buf->ptr, buf->len);
	return copied;
}

static void
set_row(struct um_op *op, const struct um_row *row)
{
	op->row = *row;
	op->row.requester = copy(row->requester);
	op->row.subject = copy(row->subject);
	op->row.action = copy(row->action);
	op->row.reason = copy(row->reason);
	op->row.kind = copy(row->kind);
	op->row.target_url = copy(row->target_url);
	op->row.currency = copy(row->currency);
	op->row.decided_by = copy(row->decided_by);
	op->row.form = copy_buf(&row->form);
	op->row.problem = copy_buf(&row->problem);
	op->row.typed = copy_buf(&row->typed);
}

/* The row of a link says whose it is, unless nothing may go on. */
static void
set_binding(struct um_op *op)
{
	if ((op->kind == UM_OP_LOOK_UP_LINK || op->kind == UM_OP_OPEN_LINK)
		&& op->outcome != UM_ROW_UNKNOWN
		&& op->outcome != UM_ROW_WRONG_USER)
		um_binding_digest(op->binding, case_context.keys,
			STR("user-42"), STR("sess-1"));
}

static enum um_user_check
user_check(const char *text)
{
	if (text == NULL)
		return UM_USER_CONFIRM;
	if (strcmp(text, "remote-user") == 0)
		return UM_USER_REMOTE;
	assert_string_equal(text, "session-ticket");
	return UM_USER_TICKET;
}

static void
assert_requests(const struct program_case *test, const struct um_exchange *ex,
	enum um_op_kind kind)
{
	uint8_t binding[UM_BINDING_LEN];

	assert_row(test->name,
		ex->then != NULL && ex->ops == &ex->op && ex->op.kind == kind);
	if (kind != UM_OP_LOOK_UP && kind != UM_OP_COMPLETE)
		return;
	um_binding_digest(binding, case_context.keys, STR("user-42"),
		STR("sess-1"));
	assert_memory_equal(ex->op.binding, binding, sizeof(binding));
}

void
program_case_answer(struct program_answer *end,
	const struct tested_program *program, const struct program_case *test)
{
	const struct um_program *p = &program->program;
	struct um_exchange *ex = &end->ex;
	struct environment env = { .test = test };
	struct um_log log = { .fd = -1, .program = p->name };

	row_begin("%s", test->name);
	*end = (struct program_answer){ 0 };
	config.user_check = user_check(test->user_check);
	expand(&end->query, test->query, program);
	expand(&end->body, test->body, program);
	env.query = end->query.ptr;
	um_exchange_begin(ex, &end->path, get_variable, &env, &case_context);
	ex->request.body = um_buf_str(&end->body);
	ex->request.body_too_large = test->body_too_large;

	um_route_request(&case_context, ex, p);
	if (test->asks != UM_OP_NONE) {
		program_case_check_op(test, ex);
		database_says(&ex->op, test->says);
		set_row(&ex->op, &test->row);
		set_binding(&ex->op);
		um_exchange_step(&case_context, ex, ex->then);
	}
	if (test->asks_then != UM_OP_NONE) {
		assert_requests(test, ex, test->asks_then);
		program_case_check_written(test, &ex->op);
		database_says(&ex->op, test->says_then);
		um_exchange_step(&case_context, ex, ex->then);
	}
	if (test->asks_last != UM_OP_NONE) {
		assert_requests(test, ex, test->asks_last);
		database_says(&ex->op, test->says_last);
		set_row(&ex->op, &test->row_last);
		um_exchange_step(&case_context, ex, ex->then);
	}
	if (ex->then != NULL)
		fail_msg("%s: another operation is requested", test->name);
	um_respond(&case_context, ex, &end->out);
	um_log_request(&log, ex, CASE_NOW * 1000, 1);
	end->log = log.lines;
}

void
program_answer_free(struct program_answer *end)
{
	um_exchange_free(&end->ex);
	um_buf_free(&end->out);
	um_buf_free(&end->log);
	um_buf_free(&end->path);
	um_buf_free(&end->query);
	um_buf_free(&end->body);
}

void
program_case_run(const struct tested_program *program,
	const struct program_case *test)
{
	struct program_answer end;

	program_case_answer(&end, program, test);
	program_case_check(test, &end);
	program_answer_free(&end);
}

void
program_case_run_all(const struct tested_program *program,
	const struct program_case *cases, size_t len)
{
	for (size_t i = 0; i < len; i++)
		program_case_run(program, &cases[i]);
}
