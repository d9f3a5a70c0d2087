/* SPDX-License-Identifier: MIT */
#include "trial.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/log.h"
#include "server/loop.h"

#define KEY "1 ERERERERERERERERERERERERERERERERERERERERERE\n"
#define OTHER_KEY "2 IiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiI\n"
#define FORM_TYPE "application/x-www-form-urlencoded"

static char demo[] = "demo", lax[] = "lax", plain[] = "plain", shop[] = "shop";
static char account[] = "Demo Account", issuer[] = TRIAL_ISSUER;

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
};

static struct um_config config = { .providers = providers,
	.providers_len = LENGTH(providers) };

struct um_context trial_context = { .config = &config,
	.now_ms = TRIAL_NOW * 1000,
	.random = counting_random };

static struct um_keys *other_keys;

struct um_provider *
trial_provider(const char *name)
{
	size_t i = 0;

	while (strcmp(providers[i].name, name) != 0)
		assert_true(++i < LENGTH(providers));
	return &providers[i];
}

int
trial_set_up(void **state)
{
	struct um_error err;

	(void)state;
	trial_context.keys = keys_of(KEY);
	other_keys = keys_of(OTHER_KEY);
	return um_metrics_open(&trial_context.metrics, NULL, "status", &err)
		? 0
		: -1;
}

int
trial_tear_down(void **state)
{
	(void)state;
	um_metrics_close(trial_context.metrics);
	um_keys_free(trial_context.keys);
	um_keys_free(other_keys);
	return 0;
}

/* The token that the name in braces stands for. */
static void
put_token(struct um_buf *out, struct um_str name,
	const struct trial_program *program)
{
	static const uint8_t nonce[UM_NONCE_LEN] = { 1, 2, 3 };
	const struct um_keys *keys = trial_context.keys;
	enum um_purpose purpose = program->purpose;
	const char *provider = program->provider;
	struct um_token token = { .expires = TRIAL_NOW + 300 };
	char text[UM_TOKEN_LEN + 1];

	bytes_of_uuid(token.id, TRIAL_ID);
	um_binding_digest(token.binding, STR("user-42"), STR("sess-1"));
	um_browser_digest(token.browser, STR(TRIAL_COOKIE));
	if (um_str_is(name, "unbound"))
		memset(token.browser, 0, sizeof(token.browser));
	else if (um_str_is(name, "elsewhere"))
		um_browser_digest(token.browser, STR("another"));
	else if (um_str_is(name, "expired"))
		token.expires = TRIAL_NOW;
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
	const struct trial_program *program)
{
	const char *open;

	while (text != NULL && (open = strchr(text, '{')) != NULL) {
		size_t len = strcspn(++open, "}");

		um_buf_put(out, text, (size_t)(open - 1 - text));
		put_token(out, (struct um_str){ open, len }, program);
		text = open + len + 1;
	}
	um_buf_puts(out, text != NULL ? text : "");
	um_buf_put(out, "", 1);
	assert_false(out->failed);
	out->len--;
}

struct environment {
	const struct trial *trial;
	const char *query;
};

static const char *
get_variable(const char *name, void *arg)
{
	const struct environment *env = arg;
	const struct trial *trial = env->trial;
	const struct {
		const char *name;
		const char *value;
	} variables[] = {
		{ "REQUEST_METHOD",
			trial->method != NULL ? trial->method : "GET" },
		{ "SCRIPT_NAME", trial->path },
		{ "QUERY_STRING", env->query },
		{ "CONTENT_TYPE",
			trial->type != NULL           ? trial->type
				: trial->body != NULL ? FORM_TYPE
						      : NULL },
		{ "HTTP_COOKIE",
			trial->cookie != NULL ? trial->cookie
					      : COOKIE(TRIAL_COOKIE) },
		{ "HTTP_SEC_PURPOSE", trial->prefetch ? "prefetch" : NULL },
		{ "REMOTE_USER", trial->user },
		{ "URLMODE_REQUEST_ID", TRIAL_REQUEST_ID },
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

static void
database_says(struct um_op *op, const struct trial *trial)
{
	op->outcome = trial->says;
	op->row = trial->row;
	op->row.requester = copy(trial->row.requester);
	op->row.subject = copy(trial->row.subject);
	op->row.action = copy(trial->row.action);
	op->row.reason = copy(trial->row.reason);
	op->row.kind = copy(trial->row.kind);
	op->row.target_url = copy(trial->row.target_url);
}

void
trial_go(struct trial_end *end, const struct trial_program *program,
	const struct trial *trial)
{
	const struct um_program *p = &program->program;
	struct um_exchange *ex = &end->ex;
	struct environment env = { .trial = trial };
	struct um_log log = { .fd = -1, .program = p->name };

	*end = (struct trial_end){ 0 };
	config.user_check = trial->checks_user ? trial->user_check
					       : UM_USER_CONFIRM;
	expand(&end->query, trial->query, program);
	expand(&end->body, trial->body, program);
	env.query = end->query.ptr;
	um_exchange_begin(ex, &end->path, get_variable, &env, &trial_context);
	ex->request.body = um_buf_str(&end->body);
	ex->request.body_too_large = trial->body_too_large;

	p->plan(&trial_context, ex);
	if (trial->asks != UM_OP_NONE) {
		trial_check_op(trial, ex);
		ex->asked = 0;
		database_says(&ex->op, trial);
		p->answer(&trial_context, ex);
	}
	if (trial->asks_then != UM_OP_NONE) {
		assert_row(trial->name,
			ex->asked == 1 && ex->op.kind == trial->asks_then);
		trial_check_deed(trial, &ex->op);
		ex->asked = 0;
		ex->op.outcome = trial->says_then;
		p->answer(&trial_context, ex);
	}
	if (ex->asked != 0)
		fail_msg("%s: asks the database", trial->name);
	um_exchange_write(ex, &end->out);
	um_log_request(&log, ex, TRIAL_NOW * 1000, 1);
	end->log = log.lines;
}

void
trial_free(struct trial_end *end)
{
	um_exchange_free(&end->ex);
	um_buf_free(&end->out);
	um_buf_free(&end->log);
	um_buf_free(&end->path);
	um_buf_free(&end->query);
	um_buf_free(&end->body);
}

void
trial_run(const struct trial_program *program, const struct trial *trial)
{
	struct trial_end end;

	trial_go(&end, program, trial);
	trial_check(trial, &end);
	trial_free(&end);
}

void
trial_run_all(const struct trial_program *program, const struct trial *trials,
	size_t len)
{
	for (size_t i = 0; i < len; i++)
		trial_run(program, &trials[i]);
}
