/* SPDX-License-Identifier: MIT */
/* The webhook of a provider that signs nothing: its address has a token. */
#include <stdio.h>
#include <string.h>

#include "program_case.h"

#define main program_main
#include "../../cgi-bin/webhook.c" // NOLINT(bugprone-suspicious-include)
#include "description/spec_load.h"
#undef main

#define HOOK "/webhook/shop"
#define OTHER_ID "00000000-0000-4000-8000-000000000000"
#define FORM "id=tr_1&for=" OTHER_ID

static const char description[] =
	"{\"name\": \"Unit\", \"documentation\": \"https://unit.example/\","
	" \"verify\": [], \"trust\": \"nothing\","
	" \"elicitation\": {\"form\": \"for\"},"
	" \"reference\": {\"form\": \"id\"},"
	" \"outcomes\": [{\"when\": [{\"from\": {\"form\": \"id\"},"
	"  \"present\": true}], \"effect\": \"recheck\"}]}";

static char query[1024];
static const char *form = FORM;

static const char *
get(const char *name, void *arg)
{
	(void)arg;
	if (strcmp(name, "REQUEST_METHOD") == 0)
		return "POST";
	if (strcmp(name, "SCRIPT_NAME") == 0)
		return HOOK;
	if (strcmp(name, "QUERY_STRING") == 0)
		return query;
	if (strcmp(name, "CONTENT_TYPE") == 0)
		return "application/x-www-form-urlencoded";
	return strcmp(name, "URLMODE_REQUEST_ID") == 0 ? CASE_REQUEST_ID : NULL;
}

static const struct um_program webhook = { .name = "webhook",
	.routes = routes,
	.measures = UM_OP_NONE };

/* The first step for a delivery to an address with such a token, and what follows. */
static void
deliver(struct um_exchange *ex, struct um_buf *path, enum um_purpose purpose,
	const char *provider, int64_t expires, const char *more)
{
	static const uint8_t nonce[UM_NONCE_LEN] = { 1 };
	struct um_token token = { .expires = expires };
	char state[UM_TOKEN_LEN + 1];

	bytes_of_uuid(token.id, CASE_ID);
	um_binding_digest(token.binding, case_context.keys, STR("user-42"),
		STR("sess-1"));
	assert_true(um_token_mint(state, &token, case_context.keys, purpose,
		provider, nonce));
	snprintf(query, sizeof(query), "state=%s%s", state, more);
	um_exchange_begin(ex, path, get, NULL, &case_context);
	ex->request.body = um_str(form);
	um_route_request(&case_context, ex, &webhook);
}

static void
respond(struct um_exchange *ex)
{
	struct um_buf out = { 0 };

	assert_null(ex->then);
	um_respond(&case_context, ex, &out);
	um_buf_free(&out);
}

static void
free_all(struct um_exchange *ex, struct um_buf *path)
{
	um_exchange_free(ex);
	um_buf_free(path);
}

/* The delivery names another elicitation, which is ignored. */
TEST(it_is_about_the_elicitation_of_the_token)
{
	struct um_exchange ex;
	struct um_buf path = { 0 };
	char uuid[UM_UUID_TEXT_LEN + 1];

	deliver(&ex, &path, UM_PURPOSE_WEBHOOK, "shop", CASE_NOW + 1, "");
	assert_non_null(ex.then);
	assert_int_equal(ex.ops_len, 1);
	assert_int_equal(ex.ops[0].kind, UM_OP_EVENT);
	um_uuid_format(uuid, ex.ops[0].id);
	assert_string_equal(uuid, CASE_ID);
	assert_int_equal(ex.ops[0].event->effect, UM_EFFECT_RECHECK);
	assert_string_equal(ex.ops[0].event->reference, "tr_1");

	database_says(&ex.ops[0], "recheck");
	um_exchange_step(&case_context, &ex, ex.then);
	respond(&ex);
	assert_int_equal(ex.response.status, 200);
	assert_string_equal(ex.outcome, "recheck");
	free_all(&ex, &path);
}

/* The token proves it. The row that it names is not touched. */
TEST(what_cannot_be_read_is_recorded)
{
	static const uint8_t none[UM_UUID_LEN];
	struct um_exchange ex;
	struct um_buf path = { 0 };

	form = "id=%ff";
	deliver(&ex, &path, UM_PURPOSE_WEBHOOK, "shop", CASE_NOW + 1, "");
	form = FORM;
	assert_non_null(ex.then);
	assert_int_equal(ex.ops_len, 1);
	assert_int_equal(ex.ops[0].kind, UM_OP_UNREADABLE);
	assert_memory_equal(ex.ops[0].id, none, sizeof(none));
	assert_string_equal(ex.ops[0].place,
		"/outcomes: is a field that is there twice, too long, or "
		"not decodable");
	database_says(&ex.ops[0], "ok");
	um_exchange_step(&case_context, &ex, ex.then);
	respond(&ex);
	assert_int_equal(ex.response.status, 400);
	assert_string_equal(ex.reason, "body_malformed");
	free_all(&ex, &path);
}

TEST(other_tokens_are_refused)
{
	static const struct {
		enum um_purpose purpose;
		const char *provider;
		int64_t expires;
		const char *more;
		int status;
		const char *reason;
	} cases[] = {
		{ UM_PURPOSE_RETURN, "shop", CASE_NOW + 1, "", 400,
			"state_invalid" },
		{ UM_PURPOSE_CONNECT, "shop", CASE_NOW + 1, "", 400,
			"state_invalid" },
		{ UM_PURPOSE_WEBHOOK, "demo", CASE_NOW + 1, "", 400,
			"state_invalid" },
		{ UM_PURPOSE_WEBHOOK, "shop", CASE_NOW, "", 410,
			"state_expired" },
		{ UM_PURPOSE_WEBHOOK, "shop", CASE_NOW + 1, "x", 400,
			"state_invalid" },
		{ UM_PURPOSE_WEBHOOK, "shop", CASE_NOW + 1, "&state=x", 400,
			"duplicate_parameter" },
	};

	for (size_t i = 0; i < LENGTH(cases); i++) {
		struct um_exchange ex;
		struct um_buf path = { 0 };

		row_begin("%zu, %s", i, cases[i].reason);
		deliver(&ex, &path, cases[i].purpose, cases[i].provider,
			cases[i].expires, cases[i].more);
		respond(&ex);
		assert_int_equal(ex.response.status, cases[i].status);
		assert_string_equal(ex.reason, cases[i].reason);
		free_all(&ex, &path);
	}
}

TEST(without_a_token_nothing_is_heard)
{
	static const char *const queries[] = { "", ("elicitation=" CASE_ID),
		"state=" };

	for (size_t i = 0; i < LENGTH(queries); i++) {
		struct um_exchange ex;
		struct um_buf path = { 0 };

		row_begin("%s", queries[i]);
		snprintf(query, sizeof(query), "%s", queries[i]);
		um_exchange_begin(&ex, &path, get, NULL, &case_context);
		ex.request.body = STR(FORM);
		um_route_request(&case_context, &ex, &webhook);
		respond(&ex);
		assert_int_equal(ex.response.status, 400);
		assert_string_equal(ex.reason, "state_missing");
		free_all(&ex, &path);
	}
}

static int
set_up(void **state)
{
	char *path = file_make(um_str(description), 0600);
	const struct um_provider_env site = { 0 };
	struct um_error err;

	if (!um_spec_load(&case_provider("shop")->spec, path, &site, &err))
		fail_msg("%s", err.text);
	file_remove(path);
	return program_case_set_up(state);
}

static int
tear_down(void **state)
{
	um_spec_free(case_provider("shop")->spec);
	return program_case_tear_down(state);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_is_about_the_elicitation_of_the_token),
		cmocka_unit_test(what_cannot_be_read_is_recorded),
		cmocka_unit_test(other_tokens_are_refused),
		cmocka_unit_test(without_a_token_nothing_is_heard),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
