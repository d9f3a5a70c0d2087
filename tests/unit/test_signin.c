/* SPDX-License-Identifier: MIT */
/* user_check "openid": to the provider and back, and every way to cheat. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/session.h"
#include "connect.h"
#include "crypto/link.h"
#include "jose.h"

#define START "state={link}"
#define HEADER "{\"alg\":\"ES256\",\"kid\":\"1\"}"
#define COOKIE_TEXT "ISIjJCUmJygpKissLS4vMA"
#define WAY "/connect/demo?state="

static const struct um_config *case_config;
static struct um_config config;

/* What a request of this browser came to. */
struct answer {
	struct program_answer end;
	struct um_str location;
	struct um_form sent; /* the parameters of the location */
};

static void
ask(struct answer *answer, const char *method, const char *path,
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

	*answer = (struct answer){ 0 };
	program_case_answer(&answer->end, &connect_program, &test);
	answer->location = program_answer_header(&answer->end, "Location");
	query = answer->location;
	if (query.ptr == NULL)
		return;
	um_str_cut(&query, "?");
	assert_int_equal(um_form_parse(&answer->sent, query), UM_FORM_GOOD);
}

static void
free_answer(struct answer *answer)
{
	um_form_free(&answer->sent);
	program_answer_free(&answer->end);
}

static bool
has(const struct answer *answer, const char *text)
{
	return str_has(um_buf_str(&answer->end.out), um_str(text));
}

/* The value of a cookie that the answer sets, as a Cookie header has it. */
static char *
cookie_of(const struct answer *answer, const char *name)
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

/* What the browser has been sent to the provider with. */
struct sign_in {
	char state[1024], nonce[64];
	char *cookie;
};

static void
copy_field(char *out, size_t size, const struct um_form *form, const char *name)
{
	struct um_str value = um_form_get(form, name);

	assert_true(value.len > 0 && value.len < size);
	memcpy(out, value.ptr, value.len);
	out[value.len] = '\0';
}

static void
begin_with(struct sign_in *sign_in, const char *query, const char *cookie)
{
	struct answer answer;

	ask(&answer, "GET", CONNECT, query, cookie);
	assert_int_equal(answer.end.ex.response.status, 303);
	copy_field(sign_in->state, sizeof(sign_in->state), &answer.sent,
		"state");
	copy_field(sign_in->nonce, sizeof(sign_in->nonce), &answer.sent,
		"nonce");
	sign_in->cookie = cookie_of(&answer, UM_SIGNIN_COOKIE);
	free_answer(&answer);
}

static struct sign_in
begin_sign_in(void)
{
	struct sign_in sign_in;

	begin_with(&sign_in, START, "");
	return sign_in;
}

static char *
token_for(const char *nonce, const char *subject, const char *more)
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

/* Posts a good return, and gives back the cookie of the session. */
static char *
sign_in_as(const char *subject, const char *more)
{
	struct sign_in sign_in = begin_sign_in();
	char *token = token_for(sign_in.nonce, subject, more), *session;
	struct um_buf body = { 0 };
	struct answer answer;

	um_buf_cat(&body, "state=", sign_in.state, "&id_token=", token);
	um_buf_put(&body, "", 1);
	ask(&answer, "POST", UM_SIGNIN_ROUTE, body.ptr, sign_in.cookie);
	assert_int_equal(answer.end.ex.response.status, 303);
	session = cookie_of(&answer, UM_SESSION_COOKIE);
	free_answer(&answer);
	um_buf_free(&body);
	free(token);
	free(sign_in.cookie);
	return session;
}

static void
assert_field(const struct um_form *form, const char *name, const char *expected)
{
	row_begin("%s", name);
	if (expected == NULL)
		assert_null(um_form_get(form, name).ptr);
	else
		assert_str(um_form_get(form, name), expected);
}

TEST(what_the_provider_is_asked)
{
	struct answer answer;
	struct um_str url;

	config.openid.prompt = (char *)"login";
	config.openid.login_hint = (char *)"@example.com";
	config.openid.max_age = 900;
	ask(&answer, "GET", CONNECT, START, "");
	url = answer.location;
	assert_str(um_str_cut(&url, "?"), "https://id.example/authorize");
	assert_field(&answer.sent, "tenant", "1");
	assert_field(&answer.sent, "response_type", "id_token");
	assert_field(&answer.sent, "response_mode", "form_post");
	assert_field(&answer.sent, "client_id", "client");
	assert_field(&answer.sent, "redirect_uri",
		"https://mcp.example/signin/return");
	assert_field(&answer.sent, "scope", "openid email");
	assert_field(&answer.sent, "prompt", "login");
	assert_field(&answer.sent, "login_hint", "@example.com");
	assert_field(&answer.sent, "max_age", "900");
	assert_true(um_form_get(&answer.sent, "state").len > 100);
	assert_int_equal(um_form_get(&answer.sent, "nonce").len, 43);
	assert_true(has(&answer,
		"; Path=/; Max-Age=600; Secure; HttpOnly; "
		"SameSite=None\r\n"));
	assert_false(has(&answer, UM_SESSION_COOKIE));
	assert_string_equal(answer.end.ex.reason, "sign_in");
	free_answer(&answer);
	config.openid.prompt = config.openid.login_hint = NULL;
	config.openid.max_age = 0;
	ask(&answer, "GET", CONNECT, START, "");
	assert_field(&answer.sent, "prompt", NULL);
	assert_field(&answer.sent, "login_hint", NULL);
	assert_field(&answer.sent, "max_age", NULL);
	free_answer(&answer);
}

/* Whether the session in a Cookie header is that of a user. */
static bool
is_session(const char *cookie)
{
	struct um_exchange ex = { .request.cookie = um_str(cookie) };

	um_session_read(&case_context, &ex);
	assert_true(ex.user[0] == '\0' || strcmp(ex.user, "user-42") == 0);
	return ex.user[0] != '\0';
}

/* /connect opens the row for the user of the session. */
static void
assert_opens(const char *query, const char *session)
{
	static char target[] = "https://a.example/", kind[] = "payment";
	const struct program_case test = { .name = query,
		.path = CONNECT,
		.query = query,
		.cookie = session,
		.user = "user-42",
		.asks = UM_OP_OPEN_LINK,
		.says = "opened",
		.row = { .kind = kind, .target_url = target },
		.status = 303,
		.location = target };
	struct program_answer end;

	program_case_run(&connect_program, &test);
	program_case_answer(&end, &connect_program, &test);
	assert_string_equal(end.ex.op.subject, "user-42");
	program_answer_free(&end);
}

TEST(there_and_back)
{
	struct sign_in sign_in = begin_sign_in();
	char *token = token_for(sign_in.nonce, "user-42", "");
	struct um_buf body = { 0 };
	struct um_str way;
	struct answer answer;
	char *session, query[128];

	um_buf_cat(&body, "state=", sign_in.state, "&id_token=", token,
		"&iss=https%3A%2F%2Fissuer.example&session_state=x");
	um_buf_put(&body, "", 1);
	ask(&answer, "POST", UM_SIGNIN_ROUTE, body.ptr, sign_in.cookie);
	assert_int_equal(answer.end.ex.response.status, 303);
	assert_string_equal(answer.end.ex.outcome, "signed_in");
	way = answer.location;
	assert_str(um_str_cut(&way, "?"), CONNECT);
	assert_field(&answer.sent, "signin", "done");
	snprintf(query, sizeof(query), "%.*s", (int)way.len, way.ptr);
	assert_int_equal(strlen(query),
		strlen("state=&signin=done") + UM_LINK_LEN);
	assert_true(has(&answer,
		UM_SIGNIN_COOKIE "=; Path=/; Max-Age=0; Secure; HttpOnly; "
				 "SameSite=None\r\n"));
	assert_true(has(&answer,
		"; Path=/; Max-Age=1800; Secure; HttpOnly; "
		"SameSite=Lax\r\n"));
	assert_false(str_has(um_buf_str(&answer.end.log), um_str(token)));
	assert_false(has(&answer, token));
	session = cookie_of(&answer, UM_SESSION_COOKIE);
	free_answer(&answer);
	assert_opens(query, session);
	um_buf_free(&body);
	free(session);
	free(token);
	free(sign_in.cookie);
}

/*
 * In `body`, %s is the state and then a token with the claims `more` after a
 * good nonce; in `cookie`, it is the sign-in's own.
 */
TEST(returns_that_are_refused)
{
	static const struct {
		const char *name, *body, *subject, *more, *cookie;
		int64_t later; /* seconds */
		int status;
		const char *reason, *detail;
	} rows[] = {
		{ "no state", "id_token=x", NULL, NULL, "%s", 0, 400,
			"state_missing", NULL },
		{ "another state", "state=AAAA&id_token=x", NULL, NULL, "%s", 0,
			400, "state_invalid", NULL },
		{ "a state that is cut", "state=%.90s&id_token=%s", "user-42",
			"", "%s", 0, 400, "state_invalid", NULL },
		{ "ten minutes later", "state=%s&id_token=%s", "user-42", "",
			"%s", 600, 410, "state_expired", NULL },
		{ "no cookie: another browser, or a replay",
			"state=%s&id_token=%s", "user-42", "", "", 0, 403,
			"wrong_browser", NULL },
		{ "another browser's cookie", "state=%s&id_token=%s", "user-42",
			"", UM_SIGNIN_COOKIE "=AAAAAAAAAAAAAAAAAAAAAA", 0, 403,
			"wrong_browser", NULL },
		{ "the cookie twice", "state=%s&id_token=%s", "user-42", "",
			"%s; " UM_SIGNIN_COOKIE "=AAAAAAAAAAAAAAAAAAAAAA", 0,
			403, "wrong_browser", NULL },
		{ "mix-up: another issuer answers",
			"state=%s&id_token=%s&iss=https%%3A%%2F%%2Fevil."
			"example",
			"user-42", "", "%s", 0, 400, "issuer_mismatch", NULL },
		{ "the provider refuses", "state=%s&error=access_denied", NULL,
			NULL, "%s", 0, 403, "sign_in_refused", NULL },
		{ "an error and a token", "state=%s&id_token=%s&error=x",
			"user-42", "", "%s", 0, 400, "response_ambiguous",
			NULL },
		{ "neither", "state=%s", NULL, NULL, "%s", 0, 400,
			"response_incomplete", NULL },
		{ "two tokens", "state=%s&id_token=%s&id_token=x", "user-42",
			"", "%s", 0, 400, "duplicate_parameter", NULL },
		{ "not a token", "state=%s&id_token=x", NULL, NULL, "%s", 0,
			403, "id_token_invalid", "that can be read" },
		{ "alg none", "state=%s&id_token=eyJhbGciOiJub25lIn0.e30.",
			NULL, NULL, "%s", 0, 403, "id_token_invalid",
			"not accepted" },
		{ "HMAC with a public key",
			"state=%s&id_token=eyJhbGciOiJIUzI1NiIsImtpZCI6IjEifQ."
			"e30.AA",
			NULL, NULL, "%s", 0, 403, "id_token_invalid",
			"not accepted" },
		{ "a key that is not there",
			"state=%s&id_token=eyJhbGciOiJFUzI1NiIsImtpZCI6IjIifQ."
			"e30.AA",
			NULL, NULL, "%s", 0, 403, "unknown_signing_key",
			"not in the file" },
		{ "a token of an hour ago", "state=%s&id_token=%s", "user-42",
			",\"iat\":1", "%s", 0, 403, "id_token_invalid",
			"not a JSON object" },
		{ "no subject", "state=%s&id_token=%s", "", "", "%s", 0, 403,
			"id_token_invalid", "no subject" },
		{ "another browser's token", "state=%s&id_token=%s", "user-42",
			NULL, "%s", 0, 403, "id_token_invalid",
			"/nonce is not this browser's" },
	};

	for (size_t i = 0; i < LENGTH(rows); i++) {
		struct sign_in sign_in = begin_sign_in();
		const char *nonce = rows[i].more != NULL ? sign_in.nonce
							 : "another";
		char *token = rows[i].subject == NULL
			? strdup("")
			: token_for(nonce, rows[i].subject,
				rows[i].more != NULL ? rows[i].more : "");
		char *body = NULL, *cookie = NULL;
		struct answer answer;

		row_begin("%s", rows[i].name);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
#pragma GCC diagnostic ignored "-Wformat-extra-args"
		assert_true(asprintf(&body, rows[i].body, sign_in.state, token)
			> 0);
		assert_true(
			asprintf(&cookie, rows[i].cookie, sign_in.cookie) >= 0);
#pragma GCC diagnostic pop
		case_context.now_ms += (int64_t)rows[i].later * 1000;
		ask(&answer, "POST", UM_SIGNIN_ROUTE, body, cookie);
		case_context.now_ms -= (int64_t)rows[i].later * 1000;
		assert_int_equal(answer.end.ex.response.status, rows[i].status);
		assert_string_equal(answer.end.ex.reason, rows[i].reason);
		assert_false(has(&answer, UM_SESSION_COOKIE));
		assert_null(answer.location.ptr);
		assert_true(rows[i].detail == NULL
			|| str_has(um_buf_str(&answer.end.log),
				um_str(rows[i].detail)));
		/* Where the state is known, so is the way on. */
		assert_int_equal(has(&answer, "Try again"),
			strncmp(rows[i].reason, "state_m", 7) != 0
				&& strncmp(rows[i].reason, "state_i", 7) != 0
				&& strcmp(rows[i].reason, "duplicate_parameter")
					!= 0);
		free_answer(&answer);
		free(body);
		free(cookie);
		free(token);
		free(sign_in.cookie);
	}
}

TEST(other_requests_to_the_return)
{
	static const struct program_case cases[] = {
		{ .name = "HEAD",
			.method = "HEAD",
			.path = UM_SIGNIN_ROUTE,
			.query = "state=x",
			.status = 405,
			.reason = "method_not_allowed" },
		{ .name = "GET with a state of somebody's own",
			.path = UM_SIGNIN_ROUTE,
			.query = "state=https://evil.example/",
			.status = 400,
			.reason = "state_invalid",
			.location = "" },
		{ .name = "GET with a state of /connect",
			.path = UM_SIGNIN_ROUTE,
			.query = "state={unbound}",
			.status = 400,
			.reason = "state_invalid",
			.location = "" },
		{ .name = "parameters in the address",
			.method = "POST",
			.path = UM_SIGNIN_ROUTE,
			.query = "state=x",
			.body = "id_token=y",
			.status = 400,
			.reason = "query_and_form" },
		{ .name = "a megabyte",
			.method = "POST",
			.path = UM_SIGNIN_ROUTE,
			.body = "",
			.body_too_large = true,
			.status = 413,
			.reason = "body_too_large" },
		{ .name = "a path below",
			.method = "POST",
			.path = UM_SIGNIN_ROUTE "/x",
			.body = "state=x",
			.status = 404,
			.reason = "unknown_route" },
		{ .name = "a prefetch signs nobody in",
			.path = CONNECT,
			.query = "state={unbound}",
			.prefetch = true,
			.status = 503,
			.reason = "prefetch" },
		{ .name = "a link that is not good is not taken along",
			.path = CONNECT,
			.query = "state={expired}",
			.status = 410,
			.reason = "state_expired",
			.location = "" },
	};

	static const struct program_case other = {
		.name = "another way of knowing the user",
		.method = "POST",
		.path = UM_SIGNIN_ROUTE,
		.body = "state=x",
		.status = 404,
		.reason = "unknown_route",
	};

	program_case_run_all(&connect_program, cases, LENGTH(cases));
	config.user_check = UM_USER_CONFIRM;
	program_case_run(&connect_program, &other);
}

/* Two tabs share the cookie; neither's token counts in the other. */
TEST(two_tabs)
{
	struct sign_in first = begin_sign_in(), second;
	struct um_buf body = { 0 };
	struct answer answer;
	char *token;

	begin_with(&second, START, first.cookie);
	assert_string_equal(second.cookie, first.cookie);
	assert_string_not_equal(second.nonce, first.nonce);
	token = token_for(first.nonce, "user-42", "");
	um_buf_cat(&body, "state=", second.state, "&id_token=", token);
	um_buf_put(&body, "", 1);
	ask(&answer, "POST", UM_SIGNIN_ROUTE, body.ptr, second.cookie);
	assert_string_equal(answer.end.ex.reason, "id_token_invalid");
	free_answer(&answer);
	um_buf_clear(&body);
	um_buf_cat(&body, "state=", first.state, "&id_token=", token);
	um_buf_put(&body, "", 1);
	ask(&answer, "POST", UM_SIGNIN_ROUTE, body.ptr, first.cookie);
	assert_int_equal(answer.end.ex.response.status, 303);
	free_answer(&answer);
	um_buf_free(&body);
	free(token);
	free(first.cookie);
	free(second.cookie);
}

/* Only a value that this program has made is taken over (fixation). */
TEST(cookies_that_are_not_shared)
{
	static const char *const rows[] = {
		UM_SIGNIN_COOKIE "=",
		UM_SIGNIN_COOKIE "=short",
		UM_SIGNIN_COOKIE "=AAAAAAAAAAAAAAAAAAAAAAA",
		UM_SIGNIN_COOKIE "=AAAAAAAAAAAAAAAAAAAAA.",
		"urlmode-signin=AAAAAAAAAAAAAAAAAAAAAA",
	};

	for (size_t i = 0; i < LENGTH(rows); i++) {
		struct sign_in sign_in;

		begin_with(&sign_in, START, rows[i]);
		assert_row(rows[i],
			strstr(sign_in.cookie, strchr(rows[i], '=')) == NULL
				|| rows[i][strlen(rows[i]) - 1] == '=');
		free(sign_in.cookie);
	}
}

TEST(sessions_that_do_not_count)
{
	char *session = sign_in_as("user-42", "");
	char *value = strchr(session, '=') + 1, *text = NULL;
	size_t len = strlen(value);

	assert_true(is_session(session));
	case_context.now_ms += 1799 * INT64_C(1000);
	assert_true(is_session(session));
	case_context.now_ms += 1000;
	assert_row("expired", !is_session(session));
	case_context.now_ms -= 1800 * INT64_C(1000);
	config.base_url = (char *)"https://other.example";
	assert_row("another host", !is_session(session));
	config.base_url = (char *)"https://mcp.example";
	config.openid.issuer = (char *)"https://other.example";
	assert_row("another issuer", !is_session(session));
	config.openid.issuer = (char *)CASE_ISSUER;
	config.openid.client_id = (char *)"client2";
	assert_row("another client", !is_session(session));
	config.openid.client_id = (char *)"client";
	strcpy(config.openid.claim, "oid");
	assert_row("another claim", !is_session(session));
	strcpy(config.openid.claim, "sub");
	for (size_t i = 0; i < len; i++) {
		value[i] = (char)(value[i] ^ 1);
		assert_row("one bit", !is_session(session));
		value[i] = (char)(value[i] ^ 1);
	}
	assert_true(asprintf(&text, "%s; %s", session, session) > 0);
	assert_row("twice", !is_session(text));
	free(text);
	free(session);
}

/* A state is no session, and a ticket is none: purposes of their own. */
TEST(what_is_sealed_for_something_else)
{
	struct sign_in sign_in = begin_sign_in();
	char *session = sign_in_as("user-42", ""), *text = NULL;
	struct um_buf body = { 0 };
	struct answer answer;

	assert_true(
		asprintf(&text, UM_SESSION_COOKIE "=%s", sign_in.state) > 0);
	assert_false(is_session(text));
	um_buf_cat(&body, "id_token=x&state=", strchr(session, '=') + 1);
	um_buf_put(&body, "", 1);
	ask(&answer, "POST", UM_SIGNIN_ROUTE, body.ptr, sign_in.cookie);
	assert_string_equal(answer.end.ex.reason, "state_invalid");
	free_answer(&answer);
	um_buf_free(&body);
	free(text);
	free(session);
	free(sign_in.cookie);
}

/*
 * Follows the first link of a page, which is the way on, to an address of ours.
 * Without the provider's answer it signs nobody in.
 */
static void
follow_link(const struct answer *page, const char *way)
{
	static const char start[] = "<a href=\"&#47;signin&#47;return&#63;";
	const struct um_buf *out = &page->end.out;
	const char *found = memmem(out->ptr, out->len, start, strlen(start));
	struct answer answer;
	char *query;

	assert_non_null(found);
	found += strlen(start) + strlen("state&#61;");
	assert_true(
		asprintf(&query, "state=%.*s", (int)strcspn(found, "\""), found)
		> 0);
	ask(&answer, "GET", UM_SIGNIN_ROUTE, query, "");
	assert_int_equal(answer.end.ex.response.status, 303);
	assert_true(answer.location.len > strlen(way)
		&& memcmp(answer.location.ptr, way, strlen(way)) == 0);
	assert_false(has(&answer, "Set-Cookie"));
	free_answer(&answer);
	case_context.now_ms += 600 * INT64_C(1000);
	ask(&answer, "GET", UM_SIGNIN_ROUTE, query, "");
	assert_string_equal(answer.end.ex.reason, "state_expired");
	assert_true(has(&answer, "Try again"));
	free_answer(&answer);
	case_context.now_ms -= 600 * INT64_C(1000);
	ask(&answer, "POST", UM_SIGNIN_ROUTE, query, "");
	assert_string_equal(answer.end.ex.reason, "wrong_browser");
	free_answer(&answer);
	free(query);
}

/* Nobody goes in circles, and nobody is stuck with one account. */
TEST(done_and_again)
{
	char *session = sign_in_as("user-42", "");
	struct answer answer;

	ask(&answer, "GET", CONNECT, START "&signin=done", "");
	assert_int_equal(answer.end.ex.response.status, 403);
	assert_string_equal(answer.end.ex.reason, "session_missing");
	assert_true(has(&answer, "Try again"));
	follow_link(&answer, CONNECT "?state=");
	free_answer(&answer);
	ask(&answer, "GET", CONNECT, START "&signin=again", session);
	assert_int_equal(answer.end.ex.response.status, 303);
	assert_field(&answer.sent, "prompt", "select_account");
	free_answer(&answer);
	assert_opens(START "&signin=other", session);
	free(session);
}

static void
ask_as_wrong_user(struct answer *answer, const char *cookie)
{
	const struct program_case test = { .name = "wrong user",
		.path = CONNECT,
		.query = START,
		.cookie = cookie,
		.user = "mallory-1",
		.asks = UM_OP_OPEN_LINK,
		.says = "wrong_user",
		.asks_then = UM_OP_EVENT,
		.says_then = "ignored",
		.status = 403,
		.reason = "wrong_user" };

	*answer = (struct answer){ 0 };
	program_case_run(&connect_program, &test);
	program_case_answer(&answer->end, &connect_program, &test);
}

TEST(signed_in_as_somebody_else)
{
	char *session = sign_in_as("mallory-1",
		",\"preferred_username\":\"<b>mallory\"");
	struct answer answer;

	ask_as_wrong_user(&answer, session);
	assert_true(has(&answer, "&lt;b&gt;mallory"));
	assert_false(has(&answer, "mallory-1"));
	assert_true(has(&answer, "Sign in as somebody else"));
	follow_link(&answer, CONNECT "?state=");
	assert_true(has(&answer, "https&#58;&#47;&#47;id.example&#47;bye"));
	free_answer(&answer);
	free(session);
	config.openid.end_session_endpoint = NULL;
	session = sign_in_as("mallory-1", "");
	ask_as_wrong_user(&answer, session);
	assert_true(has(&answer, "mallory-1"));
	assert_false(has(&answer, "Sign out"));
	free_answer(&answer);
	free(session);
}

/* The keys and the entry of the configuration that a vector has. */
static void
use_vector(const json_t *vector)
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
	config.base_url = (char *)vector_text(vector, "base_url");
	config.openid.issuer = (char *)vector_text(vector, "issuer");
	config.openid.client_id = (char *)vector_text(vector, "client_id");
	strcpy(config.openid.claim, vector_text(vector, "claim"));
	case_context.now_ms = json_integer_value(
				      json_object_get(vector, "expires"))
			* 1000
		- 1;
}

TEST(vectors_of_another_program)
{
	json_error_t err;
	json_t *root = json_load_file("tests/vectors/signin.json", 0, &err);
	const json_t *vector;
	size_t index;

	assert_non_null(root);
	json_array_foreach (json_object_get(root, "session"), index, vector) {
		struct um_exchange ex = { 0 };
		char *cookie;

		use_vector(vector);
		assert_true(asprintf(&cookie, UM_SESSION_COOKIE "=%s",
				    vector_text(vector, "session"))
			> 0);
		ex.request.cookie = um_str(cookie);
		um_session_read(&case_context, &ex);
		assert_string_equal(ex.user, vector_text(vector, "subject"));
		assert_string_equal(ex.user_name,
			vector_text(vector, "user_name"));
		case_context.now_ms++;
		memset(ex.user, 0, sizeof(ex.user));
		um_session_read(&case_context, &ex);
		assert_string_equal(ex.user, "");
		free(cookie);
	}
	assert_int_equal(index, 2);
	json_array_foreach (json_object_get(root, "signin"), index, vector) {
		char nonce[UM_SIGNIN_NONCE_LEN + 1], *query;
		struct answer answer;

		use_vector(vector);
		assert_true(um_signin_nonce(nonce, case_context.keys,
			um_str(vector_text(vector, "cookie")),
			um_str(vector_text(vector, "state"))));
		assert_string_equal(nonce, vector_text(vector, "nonce"));
		assert_true(asprintf(&query, "state=%s",
				    vector_text(vector, "state"))
			> 0);
		ask(&answer, "GET", UM_SIGNIN_ROUTE, query, "");
		assert_str(answer.location, vector_text(vector, "way"));
		free_answer(&answer);
		free(query);
	}
	assert_int_equal(index, 2);
	json_decref(root);
}

static int
set_up(void **state)
{
	int status = program_case_set_up(state);

	if (case_config == NULL)
		case_config = case_context.config;
	config = *case_config;
	config.user_check = UM_USER_OPENID;
	config.base_url = (char *)"https://mcp.example";
	config.openid = (struct um_openid){
		.issuer = (char *)CASE_ISSUER,
		.client_id = (char *)"client",
		.authorization_endpoint =
			(char *)"https://id.example/authorize?tenant=1",
		.end_session_endpoint = (char *)"https://id.example/bye",
		.scope = (char *)"openid email",
		.claim = "sub",
		.session = 1800,
	};
	case_context.config = &config;
	case_context.now_ms = CASE_NOW * 1000;
	case_context.jwks = jose_parse(
		jose_set(jose_jwk(jose_key(UM_JWS_ES256, false),
				 "\"kid\":\"1\""),
			(char *)NULL));
	return status;
}

static int
tear_down(void **state)
{
	um_jwks_free(case_context.jwks);
	case_context.jwks = NULL;
	jose_keys_free();
	return program_case_tear_down(state);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(what_the_provider_is_asked),
		CASE(there_and_back),
		CASE(returns_that_are_refused),
		CASE(other_requests_to_the_return),
		CASE(two_tabs),
		CASE(cookies_that_are_not_shared),
		CASE(sessions_that_do_not_count),
		CASE(what_is_sealed_for_something_else),
		CASE(done_and_again),
		CASE(signed_in_as_somebody_else),
		CASE(vectors_of_another_program),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
