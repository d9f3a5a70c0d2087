/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "connect.h"
#include "signin.h"

/* Whether the session in a Cookie header is that of a user. */
static bool
is_session(const char *cookie)
{
	struct um_exchange ex = { .request.cookie = um_str(cookie) };

	um_session_read(&case_context, &ex);
	assert_true(ex.user[0] == '\0' || strcmp(ex.user, "user-42") == 0);
	return ex.user[0] != '\0';
}

TEST(sessions_that_do_not_count)
{
	char *session = signin_as("user-42", "");
	char *value = strchr(session, '=') + 1, *text = NULL;
	size_t len = strlen(value);

	assert_true(is_session(session));
	case_context.now_ms += 1799 * INT64_C(1000);
	assert_true(is_session(session));
	case_context.now_ms += 1000;
	assert_row("expired", !is_session(session));
	case_context.now_ms -= 1800 * INT64_C(1000);
	signin_config.base_url = (char *)"https://other.example";
	assert_row("another host", !is_session(session));
	signin_config.base_url = (char *)"https://mcp.example";
	signin_config.openid.issuer = (char *)"https://other.example";
	assert_row("another issuer", !is_session(session));
	signin_config.openid.issuer = (char *)CASE_ISSUER;
	signin_config.openid.client_id = (char *)"client2";
	assert_row("another client", !is_session(session));
	signin_config.openid.client_id = (char *)"client";
	strcpy(signin_config.openid.claim, "oid");
	assert_row("another claim", !is_session(session));
	strcpy(signin_config.openid.claim, "sub");
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
	struct signin signin = signin_begin();
	char *session = signin_as("user-42", ""), *text = NULL;
	struct um_buf body = { 0 };
	struct signin_answer answer;

	assert_true(asprintf(&text, UM_SESSION_COOKIE "=%s", signin.state) > 0);
	assert_false(is_session(text));
	um_buf_cat(&body, "id_token=x&state=", strchr(session, '=') + 1);
	um_buf_put(&body, "", 1);
	signin_ask(&answer, "POST", UM_SIGNIN_ROUTE, body.ptr, signin.cookie);
	assert_string_equal(answer.end.ex.reason, "state_invalid");
	signin_answer_free(&answer);
	um_buf_free(&body);
	free(text);
	free(session);
	free(signin.cookie);
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

		signin_use_vector(vector);
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
		CASE(sessions_that_do_not_count),
		CASE(what_is_sealed_for_something_else),
		CASE(vectors_of_another_program),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
