/* SPDX-License-Identifier: MIT */
/* user_check "openid": to the provider and back, and every way to cheat. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "connect.h"
#include "crypto/link.h"
#include "jose.h"
#include "signin.h"

#define COOKIE_TEXT "ISIjJCUmJygpKissLS4vMA"
#define WAY "/connect/demo?state="

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
	struct signin_answer answer;
	struct um_str url;

	signin_config.openid.prompt = (char *)"login";
	signin_config.openid.login_hint = (char *)"@example.com";
	signin_config.openid.max_age = 900;
	signin_ask(&answer, "GET", CONNECT, START, "");
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
	assert_true(signin_answer_has(&answer,
		"; Path=/; Max-Age=600; Secure; HttpOnly; "
		"SameSite=None\r\n"));
	assert_false(signin_answer_has(&answer, UM_SESSION_COOKIE));
	assert_string_equal(answer.end.ex.reason, "sign_in");
	signin_answer_free(&answer);
	signin_config.openid.prompt = signin_config.openid.login_hint = NULL;
	signin_config.openid.max_age = 0;
	signin_ask(&answer, "GET", CONNECT, START, "");
	assert_field(&answer.sent, "prompt", NULL);
	assert_field(&answer.sent, "login_hint", NULL);
	assert_field(&answer.sent, "max_age", NULL);
	signin_answer_free(&answer);
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
	struct signin signin = signin_begin();
	char *token = signin_token(signin.nonce, "user-42", "");
	struct um_buf body = { 0 };
	struct um_str way;
	struct signin_answer answer;
	char *session, query[128];

	um_buf_cat(&body, "state=", signin.state, "&id_token=", token,
		"&iss=https%3A%2F%2Fissuer.example&session_state=x");
	um_buf_put(&body, "", 1);
	signin_ask(&answer, "POST", UM_SIGNIN_ROUTE, body.ptr, signin.cookie);
	assert_int_equal(answer.end.ex.response.status, 303);
	assert_string_equal(answer.end.ex.outcome, "signed_in");
	way = answer.location;
	assert_str(um_str_cut(&way, "?"), CONNECT);
	assert_field(&answer.sent, "signin", "done");
	snprintf(query, sizeof(query), "%.*s", (int)way.len, way.ptr);
	assert_int_equal(strlen(query),
		strlen("state=&signin=done") + UM_LINK_LEN);
	assert_true(signin_answer_has(&answer,
		UM_SIGNIN_COOKIE "=; Path=/; Max-Age=0; Secure; HttpOnly; "
				 "SameSite=None\r\n"));
	assert_true(signin_answer_has(&answer,
		"; Path=/; Max-Age=1800; Secure; HttpOnly; "
		"SameSite=Lax\r\n"));
	assert_false(str_has(um_buf_str(&answer.end.log), um_str(token)));
	assert_false(signin_answer_has(&answer, token));
	session = signin_cookie(&answer, UM_SESSION_COOKIE);
	signin_answer_free(&answer);
	assert_opens(query, session);
	um_buf_free(&body);
	free(session);
	free(token);
	free(signin.cookie);
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
		{ "a claim twice", "state=%s&id_token=%s", "user-42",
			",\"iat\":1", "%s", 0, 403, "id_token_invalid",
			"not a JSON object" },
		{ "no subject", "state=%s&id_token=%s", "", "", "%s", 0, 403,
			"id_token_invalid", "no subject" },
		{ "another browser's token", "state=%s&id_token=%s", "user-42",
			NULL, "%s", 0, 403, "id_token_invalid",
			"/nonce is not this browser's" },
	};

	for (size_t i = 0; i < LENGTH(rows); i++) {
		struct signin signin = signin_begin();
		const char *nonce = rows[i].more != NULL ? signin.nonce
							 : "another";
		char *token = rows[i].subject == NULL
			? strdup("")
			: signin_token(nonce, rows[i].subject,
				rows[i].more != NULL ? rows[i].more : "");
		char *body = NULL, *cookie = NULL;
		struct signin_answer answer;

		row_begin("%s", rows[i].name);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
#pragma GCC diagnostic ignored "-Wformat-extra-args"
		assert_true(
			asprintf(&body, rows[i].body, signin.state, token) > 0);
		assert_true(
			asprintf(&cookie, rows[i].cookie, signin.cookie) >= 0);
#pragma GCC diagnostic pop
		case_context.now_ms += (int64_t)rows[i].later * 1000;
		signin_ask(&answer, "POST", UM_SIGNIN_ROUTE, body, cookie);
		case_context.now_ms -= (int64_t)rows[i].later * 1000;
		assert_int_equal(answer.end.ex.response.status, rows[i].status);
		assert_string_equal(answer.end.ex.reason, rows[i].reason);
		assert_false(signin_answer_has(&answer, UM_SESSION_COOKIE));
		assert_null(answer.location.ptr);
		assert_true(rows[i].detail == NULL
			|| str_has(um_buf_str(&answer.end.log),
				um_str(rows[i].detail)));
		/* Where the state is known, so is the way on. */
		assert_int_equal(signin_answer_has(&answer, "Try again"),
			strncmp(rows[i].reason, "state_m", 7) != 0
				&& strncmp(rows[i].reason, "state_i", 7) != 0
				&& strcmp(rows[i].reason, "duplicate_parameter")
					!= 0);
		signin_answer_free(&answer);
		free(body);
		free(cookie);
		free(token);
		free(signin.cookie);
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
	};
	static const struct program_case beginnings[] = {
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

	program_case_run_all(&signin_return, cases, LENGTH(cases));
	program_case_run_all(&connect_program, beginnings, LENGTH(beginnings));
	signin_config.user_check = UM_USER_CONFIRM;
	program_case_run(&signin_return, &other);
}

/* Two tabs share the cookie; neither's token counts in the other. */
TEST(two_tabs)
{
	struct signin first = signin_begin(), second;
	struct um_buf body = { 0 };
	struct signin_answer answer;
	char *token;

	signin_begin_with(&second, START, first.cookie);
	assert_string_equal(second.cookie, first.cookie);
	assert_string_not_equal(second.nonce, first.nonce);
	token = signin_token(first.nonce, "user-42", "");
	um_buf_cat(&body, "state=", second.state, "&id_token=", token);
	um_buf_put(&body, "", 1);
	signin_ask(&answer, "POST", UM_SIGNIN_ROUTE, body.ptr, second.cookie);
	assert_string_equal(answer.end.ex.reason, "id_token_invalid");
	signin_answer_free(&answer);
	um_buf_clear(&body);
	um_buf_cat(&body, "state=", first.state, "&id_token=", token);
	um_buf_put(&body, "", 1);
	signin_ask(&answer, "POST", UM_SIGNIN_ROUTE, body.ptr, first.cookie);
	assert_int_equal(answer.end.ex.response.status, 303);
	signin_answer_free(&answer);
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
		struct signin signin;

		signin_begin_with(&signin, START, rows[i]);
		assert_row(rows[i],
			strstr(signin.cookie, strchr(rows[i], '=')) == NULL
				|| rows[i][strlen(rows[i]) - 1] == '=');
		free(signin.cookie);
	}
}

/*
 * Follows the first link of a page, which is the way on, to an address of ours.
 * Without the provider's answer it signs nobody in.
 */
static void
follow_link(const struct signin_answer *page, const char *way)
{
	static const char start[] = "<a href=\"&#47;signin&#47;return&#63;";
	const struct um_buf *out = &page->end.out;
	const char *found = memmem(out->ptr, out->len, start, strlen(start));
	struct signin_answer answer;
	char *query;

	assert_non_null(found);
	found += strlen(start) + strlen("state&#61;");
	assert_true(
		asprintf(&query, "state=%.*s", (int)strcspn(found, "\""), found)
		> 0);
	signin_ask(&answer, "GET", UM_SIGNIN_ROUTE, query, "");
	assert_int_equal(answer.end.ex.response.status, 303);
	assert_true(answer.location.len > strlen(way)
		&& memcmp(answer.location.ptr, way, strlen(way)) == 0);
	assert_false(signin_answer_has(&answer, "Set-Cookie"));
	signin_answer_free(&answer);
	case_context.now_ms += 600 * INT64_C(1000);
	signin_ask(&answer, "GET", UM_SIGNIN_ROUTE, query, "");
	assert_string_equal(answer.end.ex.reason, "state_expired");
	assert_true(signin_answer_has(&answer, "Try again"));
	signin_answer_free(&answer);
	case_context.now_ms -= 600 * INT64_C(1000);
	signin_ask(&answer, "POST", UM_SIGNIN_ROUTE, query, "");
	assert_string_equal(answer.end.ex.reason, "wrong_browser");
	signin_answer_free(&answer);
	free(query);
}

/* HEAD begins nothing: the provider is named, and the browser keeps no cookie. */
TEST(head_sets_no_cookie)
{
	struct signin_answer answer;

	signin_ask(&answer, "HEAD", CONNECT, START, "");
	assert_int_equal(answer.end.ex.response.status, 303);
	assert_false(signin_answer_has(&answer, "Set-Cookie"));
	signin_answer_free(&answer);
}

/* Nobody goes in circles, and nobody is stuck with one account. */
TEST(done_and_again)
{
	char *session = signin_as("user-42", ""), *other;
	struct signin_answer answer;

	signin_ask(&answer, "GET", CONNECT, START "&signin=done", "");
	assert_int_equal(answer.end.ex.response.status, 403);
	assert_string_equal(answer.end.ex.reason, "session_missing");
	assert_true(signin_answer_has(&answer, "Try again"));
	follow_link(&answer, CONNECT "?state=");
	signin_answer_free(&answer);
	signin_ask(&answer, "GET", CONNECT, START "&signin=again", session);
	assert_int_equal(answer.end.ex.response.status, 303);
	assert_field(&answer.sent, "prompt", "select_account");
	other = signin_cookie(&answer, UM_SIGNIN_OTHER_COOKIE);
	signin_answer_free(&answer);
	/* A provider that refuses it, also on a page of its own. */
	signin_ask(&answer, "GET", CONNECT, START "&signin=again", other);
	assert_field(&answer.sent, "prompt", "login");
	assert_true(signin_answer_has(&answer,
		UM_SIGNIN_OTHER_COOKIE "=; Path=/; Max-Age=0"));
	signin_answer_free(&answer);
	free(other);
	assert_opens(START "&signin=other", session);
	free(session);
}

static void
ask_as_wrong_user(struct signin_answer *answer, const char *cookie)
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

	*answer = (struct signin_answer){ 0 };
	program_case_run(&connect_program, &test);
	program_case_answer(&answer->end, &connect_program, &test);
}

TEST(signed_in_as_somebody_else)
{
	char *session = signin_as("mallory-1",
		",\"preferred_username\":\"<b>mallory\"");
	struct signin_answer answer;

	ask_as_wrong_user(&answer, session);
	assert_true(signin_answer_has(&answer, "&lt;b&gt;mallory"));
	assert_false(signin_answer_has(&answer, "mallory-1"));
	assert_true(signin_answer_has(&answer, "Sign in as somebody else"));
	follow_link(&answer, CONNECT "?state=");
	assert_true(signin_answer_has(&answer,
		"https&#58;&#47;&#47;id.example&#47;bye"));
	signin_answer_free(&answer);
	free(session);
	signin_config.openid.end_session_endpoint = NULL;
	session = signin_as("mallory-1", "");
	ask_as_wrong_user(&answer, session);
	assert_true(signin_answer_has(&answer, "mallory-1"));
	assert_false(signin_answer_has(&answer, "Sign out"));
	signin_answer_free(&answer);
	free(session);
}

TEST(vectors_of_another_program)
{
	json_error_t err;
	json_t *root = json_load_file("tests/vectors/signin.json", 0, &err);
	const json_t *vector;
	size_t index;

	assert_non_null(root);
	json_array_foreach (json_object_get(root, "signin"), index, vector) {
		char nonce[UM_SIGNIN_NONCE_LEN + 1], *query;
		struct signin_answer answer;

		signin_use_vector(vector);
		assert_true(um_signin_nonce(nonce, case_context.keys,
			um_str(vector_text(vector, "cookie")),
			um_str(vector_text(vector, "state"))));
		assert_string_equal(nonce, vector_text(vector, "nonce"));
		assert_true(asprintf(&query, "state=%s",
				    vector_text(vector, "state"))
			> 0);
		signin_ask(&answer, "GET", UM_SIGNIN_ROUTE, query, "");
		assert_str(answer.location, vector_text(vector, "way"));
		signin_answer_free(&answer);
		free(query);
	}
	assert_int_equal(index, 2);
	json_decref(root);
}

static int
set_up(void **state)
{
	return signin_set_up(state, &connect_program);
}

#define CASE(name)                                                             \
	cmocka_unit_test_setup_teardown(name, set_up, signin_tear_down)

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
		CASE(head_sets_no_cookie),
		CASE(done_and_again),
		CASE(signed_in_as_somebody_else),
		CASE(vectors_of_another_program),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
