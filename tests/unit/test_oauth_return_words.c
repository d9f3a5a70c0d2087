/* SPDX-License-Identifier: MIT */
/* What oauth-return makes of what providers say in their own words. */
#include <string.h>

#include "description/spec_load.h"
#include "oauth_return.h"

#define STATE "state={bound}"

/* Gives "plain" the words of a shipped description. */
static void
speak(const char *description)
{
	const struct um_provider_env none = { .has_no_webhook = true };
	struct um_provider *plain = case_provider("plain");
	char path[64];
	struct um_spec *spec;
	struct um_error err = { 0 };

	json_decref(plain->response);
	plain->response = NULL;
	if (description == NULL)
		return;
	snprintf(path, sizeof(path), "lib/providers/%s.json", description);
	if (!um_spec_load(&spec, path, &none, &err))
		fail_msg("%s", err.text);
	assert_false(spec->has_webhook);
	assert_non_null(spec->response);
	plain->response = json_incref(spec->response);
	um_spec_free(spec);
}

static void
run(const char *description, const struct program_case *test)
{
	struct tested_program plain = oauth_return;

	plain.provider = "plain";
	speak(description);
	program_case_run(&plain, test);
	speak(NULL);
}

#define PLAIN "/oauth/plain/return"

TEST(what_ends_the_row)
{
	static const struct {
		const char *description, *query, *action, *reason;
	} cases[] = {
		{ "linkedin", "&error=user_cancelled_login", "decline",
			"access_denied" },
		{ "linkedin", "&error=user_cancelled_authorize", "decline",
			"access_denied" },
		{ "linkedin", "&error=access_denied", "decline",
			"access_denied" },
		{ "linkedin", "&error=unauthorized_scope_error", "cancel",
			"provider_error" },
		{ "microsoft-entra",
			"&error=consent_required&error_subcode=cancel",
			"decline", "access_denied" },
		{ "microsoft-entra", "&error=consent_required", "cancel",
			"provider_error" },
		{ "microsoft-entra",
			"&error=access_denied&error_subcode=cancel", "decline",
			"access_denied" },
		{ "microsoft-entra",
			"&error=permission_denied&admin_consent=True", "cancel",
			"provider_error" },
		{ "microsoft-entra", "&admin_consent=False", "cancel",
			"provider_error" },
		{ "microsoft-entra", "&admin_consent=True&code=c", "accept",
			"" },
		{ "meta", "&error_code=1349126&error_message=App+not+set+up",
			"cancel", "provider_error" },
		{ "meta", "&error=access_denied&error_code=200", "decline",
			"access_denied" },
		{ "github", "&setup_action=install&installation_id=1", "cancel",
			"provider_error" },
		{ "github", "&setup_action=request&code=c", "accept", "" },
		{ "github", "&setup_action=request&error=x", "cancel",
			"provider_error" },
		/* What cannot be read is an error, or no word that is known. */
		{ "meta", "&error_message=refus%E9", "cancel",
			"provider_error" },
		{ "github", "&error=%E9", "cancel", "provider_error" },
		{ "github", "&error=access_denied&error=access_denied",
			"cancel", "provider_error" },
		{ "github", "&setup_action=request&setup_action=install",
			"cancel", "provider_error" },
		{ "github", "&setup_action=request&setup_action=install&code=c",
			"accept", "" },
		{ "microsoft-entra", "&admin_consent=True%00", "cancel",
			"provider_error" },
		{ "github",
			"&error=server_error&error_description=access_denied",
			"cancel", "provider_error" },
		/* In the words of another provider it is an error like others. */
		{ NULL, "&error=user_cancelled_login", "cancel",
			"provider_error" },
		{ NULL, "&setup_action=request", "cancel", "provider_error" },
		{ NULL, "&admin_consent=True", "cancel", "provider_error" },
		{ NULL, "&error_code=1349126", "cancel", "provider_error" },
	};

	for (size_t i = 0; i < LENGTH(cases); i++) {
		struct program_case test = { .name = cases[i].query,
			.path = PLAIN,
			.asks = UM_OP_COMPLETE,
			.action = cases[i].action,
			.op_reason = cases[i].reason,
			.says = "completed",
			.status = 303,
			.location = "/done" };
		struct um_buf query = { 0 };

		um_buf_cat(&query, STATE, cases[i].query);
		um_buf_put(&query, "", 1);
		test.query = query.ptr;
		run(cases[i].description, &test);
		um_buf_free(&query);
	}
}

TEST(what_is_refused)
{
	static const struct {
		const char *description, *query, *reason;
	} cases[] = {
		{ "meta", STATE "&code=c&error_code=200",
			"response_ambiguous" },
		{ "linkedin", STATE "&code=c&error=user_cancelled_login",
			"response_ambiguous" },
		{ "meta", STATE "&code=c&error_message=refus%E9",
			"response_ambiguous" },
		{ "github", STATE "&code=c&error=a&error=b",
			"response_ambiguous" },
		{ "github", STATE "&code=c&code=d", "duplicate_parameter" },
		{ "github", STATE "&code=%E9", "malformed_parameters" },
	};

	for (size_t i = 0; i < LENGTH(cases); i++) {
		const struct program_case test = { .name = cases[i].query,
			.path = PLAIN,
			.query = cases[i].query,
			.status = 400,
			.reason = cases[i].reason };

		run(cases[i].description, &test);
	}
}

static char subject[] = "user-42", decline[] = "decline";

/* Somebody else decides: the row becomes processing. */
TEST(what_somebody_else_decides)
{
	struct program_case test = { .name = "requested",
		.path = PLAIN,
		.query = STATE "&setup_action=request",
		.asks = UM_OP_LOOK_UP,
		.says = "opened",
		.row = { .subject = subject, .expires = CASE_NOW + 300 },
		.asks_then = UM_OP_EVENT,
		.says_then = "processing",
		.status = 303,
		.location = "/done",
		.sets_cookie = DONE_COOKIE("requested") };

	run("github", &test);
	test.name = "the same return again";
	test.says_then = "seen";
	run("github", &test);
	test.name = "in a row that is processing";
	test.says = test.says_then = "processing";
	run("github", &test);
	test.name = "it has ended meanwhile";
	test.says_then = "late";
	test.asks_last = UM_OP_LOOK_UP;
	test.says_last = "completed";
	test.status = 200;
	test.location = test.sets_cookie = "";
	test.on_page = "<h1>Already done</h1>";
	run("github", &test);
	test.name = "of another user";
	test.asks_last = UM_OP_NONE;
	test.user_check = "remote-user";
	test.user = "user-43";
	test.says_then = "ignored";
	test.status = 403;
	test.reason = "wrong_user";
	test.on_page = NULL;
	run("github", &test);
	test.name = "it has ended before";
	test.user_check = test.user = NULL;
	test.says = "completed";
	test.row.action = decline;
	test.asks_then = UM_OP_NONE;
	test.status = 200;
	test.reason = NULL;
	test.on_page = "<h1>Already done</h1>";
	run("github", &test);
}

/* An admin has agreed: the row stays as it is, and the page goes on. */
TEST(what_an_admin_has_agreed_to)
{
	struct program_case test = { .name = "consented",
		.path = PLAIN,
		.query = STATE "&admin_consent=True&tenant=t",
		.asks = UM_OP_LOOK_UP,
		.says = "opened",
		.row = { .subject = subject, .expires = CASE_NOW + 300 },
		.status = 200,
		.location = "",
		.sets_cookie = "",
		.on_page = "\">Continue</a></p>" };

	run("microsoft-entra", &test);
	test.name = "in a row that has ended";
	test.says = "completed";
	test.on_page = "<h1>Already done</h1>";
	run("microsoft-entra", &test);
	test.name = "in a row that has expired";
	test.says = "expired";
	test.status = 410;
	test.reason = "expired";
	test.on_page = NULL;
	run("microsoft-entra", &test);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_ends_the_row),
		cmocka_unit_test(what_is_refused),
		cmocka_unit_test(what_somebody_else_decides),
		cmocka_unit_test(what_an_admin_has_agreed_to),
	};

	return cmocka_run_group_tests(tests, program_case_set_up,
		program_case_tear_down);
}
