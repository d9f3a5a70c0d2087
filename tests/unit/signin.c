/* SPDX-License-Identifier: MIT */
#include "signin.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "jose.h"

#define main signin_return_main
#include "../../cgi-bin/signin-return.c" // NOLINT(bugprone-suspicious-include)
#undef main

const struct tested_program signin_return = {
	{ .name = "signin-return", .routes = routes, .measures = UM_OP_NONE },
	UM_PURPOSE_CONNECT,
	"demo",
};

struct um_config signin_config;

static const struct um_config *case_config;
static const struct tested_program *tested;

void
signin_ask(struct signin_answer *answer, const char *method, const char *path,
	const char *text, const char *cookie)
{
	bool post = strcmp(method, "POST") == 0;
	const struct program_case test = { .name = path,
		.method = method,
		.path = path,
		.query = post ? NULL : text,
		.body = post ? text : NULL,
		.cookie = cookie };
	struct um_str query;

	*answer = (struct signin_answer){ 0 };
	program_case_answer(&answer->end,
		strcmp(path, UM_SIGNIN_ROUTE) == 0 ? &signin_return : tested,
		&test);
	answer->location = program_answer_header(&answer->end, "Location");
	query = answer->location;
	if (query.ptr == NULL)
		return;
	um_str_cut(&query, "?");
	assert_int_equal(um_form_parse(&answer->sent, query), UM_REFUSAL_NONE);
}

void
signin_answer_free(struct signin_answer *answer)
{
	um_form_free(&answer->sent);
	program_answer_free(&answer->end);
}

bool
signin_answer_has(const struct signin_answer *answer, const char *text)
{
	return str_has(um_buf_str(&answer->end.out), um_str(text));
}

char *
signin_cookie(const struct signin_answer *answer, const char *name)
{
	const struct um_buf *out = &answer->end.out;
	char start[64], *found, *cookie;

	snprintf(start, sizeof(start), "Set-Cookie: %s=", name);
	found = memmem(out->ptr, out->len, start, strlen(start));
	assert_non_null(found);
	found += strlen("Set-Cookie: ");
	cookie = strndup(found, strcspn(found, ";"));
	assert_non_null(cookie);
	return cookie;
}

static void
copy_field(char *out, size_t size, const struct um_form *form, const char *name)
{
	struct um_str value = um_form_get(form, name);

	assert_true(value.len > 0 && value.len < size);
	memcpy(out, value.ptr, value.len);
	out[value.len] = '\0';
}

void
signin_begin_with(struct signin *signin, const char *query, const char *cookie)
{
	struct signin_answer answer;

	signin_ask(&answer, "GET", "/connect/demo", query, cookie);
	assert_int_equal(answer.end.ex.response.status, 303);
	copy_field(signin->state, sizeof(signin->state), &answer.sent, "state");
	copy_field(signin->nonce, sizeof(signin->nonce), &answer.sent, "nonce");
	signin->cookie = signin_cookie(&answer, UM_SIGNIN_COOKIE);
	signin_answer_free(&answer);
}

struct signin
signin_begin(void)
{
	struct signin signin;

	signin_begin_with(&signin, START, "");
	return signin;
}

char *
signin_token(const char *nonce, const char *subject, const char *more)
{
	struct um_buf claims = { 0 };
	char *token;

	um_buf_printf(&claims,
		"{\"iss\":\"" CASE_ISSUER "\",\"aud\":\"client\","
		"\"exp\":%lld,\"iat\":%lld,\"nonce\":\"%s\","
		"\"sub\":\"%s\"%s}",
		(long long)CASE_NOW + 60, (long long)CASE_NOW, nonce, subject,
		more);
	um_buf_put(&claims, "", 1);
	token = jose_token(jose_key(UM_JWS_ES256, false), UM_JWS_ES256, HEADER,
		claims.ptr);
	um_buf_free(&claims);
	return token;
}

char *
signin_as(const char *subject, const char *more)
{
	struct signin signin = signin_begin();
	char *token = signin_token(signin.nonce, subject, more), *session;
	struct um_buf body = { 0 };
	struct signin_answer answer;

	um_buf_cat(&body, "state=", signin.state, "&id_token=", token);
	um_buf_put(&body, "", 1);
	signin_ask(&answer, "POST", UM_SIGNIN_ROUTE, body.ptr, signin.cookie);
	assert_int_equal(answer.end.ex.response.status, 303);
	session = signin_cookie(&answer, UM_SESSION_COOKIE);
	signin_answer_free(&answer);
	um_buf_free(&body);
	free(token);
	free(signin.cookie);
	return session;
}

void
signin_use_vector(const json_t *vector)
{
	const char *hex = vector_text(vector, "secret_hex");
	uint8_t secret[UM_SECRET_MAX];
	char *line;

	row_begin("%s", vector_text(vector, "name"));
	bytes_of_hex(secret, strlen(hex) / 2, hex);
	line = keys_line((int)json_integer_value(
				 json_object_get(vector, "kid")),
		secret, strlen(hex) / 2);
	um_keys_free(case_context.keys);
	case_context.keys = keys_of(line);
	free(line);
	signin_config.base_url = (char *)vector_text(vector, "base_url");
	signin_config.openid.issuer = (char *)vector_text(vector, "issuer");
	signin_config.openid.client_id = (char *)vector_text(vector,
		"client_id");
	strcpy(signin_config.openid.claim, vector_text(vector, "claim"));
	case_context.now_ms = json_integer_value(
				      json_object_get(vector, "expires"))
			* 1000
		- 1;
}

int
signin_set_up(void **state, const struct tested_program *program)
{
	int status = program_case_set_up(state);

	tested = program;
	if (case_config == NULL)
		case_config = case_context.config;
	signin_config = *case_config;
	signin_config.user_check = UM_USER_OPENID;
	signin_config.base_url = (char *)"https://mcp.example";
	signin_config.openid = (struct um_openid){
		.issuer = (char *)CASE_ISSUER,
		.client_id = (char *)"client",
		.authorization_endpoint =
			(char *)"https://id.example/authorize?tenant=1",
		.end_session_endpoint = (char *)"https://id.example/bye",
		.scope = (char *)"openid email",
		.claim = "sub",
		.session = 1800,
	};
	case_context.config = &signin_config;
	case_context.now_ms = CASE_NOW * 1000;
	case_context.jwks = jose_parse(
		jose_set(jose_jwk(jose_key(UM_JWS_ES256, false),
				 "\"kid\":\"1\""),
			(char *)NULL));
	return status;
}

int
signin_tear_down(void **state)
{
	um_jwks_free(case_context.jwks);
	case_context.jwks = NULL;
	jose_tear_down(state);
	return program_case_tear_down(state);
}
