/* SPDX-License-Identifier: MIT */
/* Authorization responses of a provider that signs them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "description/spec_load.h"
#include "oauth_return.h"
#include "signing.h"

#define SIGNING_SECRET "client-secret"

static const char its_description[] =
	"{\"name\": \"Unit\", \"documentation\": \"https://unit.example/\","
	" \"verify\": [{\"algorithm\": \"hmac-sha256\","
	"  \"key\": {\"as\": \"utf8\"},"
	"  \"signature\": {\"from\": {\"header\": \"x-signature\"},"
	"   \"as\": \"hex\"},"
	"  \"signed\": [{\"body\": \"raw\"}]}],"
	" \"trust\": \"body\", \"outcomes\": [{\"effect\": \"ignore\"}],"
	" \"return\": {\"verify\": [{\"algorithm\": \"hmac-sha256\","
	"   \"key\": {\"as\": \"utf8\"},"
	"   \"signature\": {\"from\": {\"query\": \"hmac\"}, \"as\": \"hex\"},"
	"   \"signed\": [{\"query\": \"code\"}, \".\","
	"    {\"query\": \"timestamp\"}]}],"
	"  \"timestamp\": {\"from\": {\"query\": \"timestamp\"},"
	"   \"as\": \"unix\", \"past\": 90, \"future\": 90},"
	"  \"trust\": \"fields\","
	"  \"outcomes\": [{\"effect\": \"ignore\"}]}}";

static char *
signed_query(const char *secret, const char *code, int64_t timestamp)
{
	struct um_buf text = { 0 };
	struct um_buf query = { 0 };
	char hex[65];

	um_buf_printf(&text, "%s.%lld", code, (long long)timestamp);
	hmac_hex(hex, secret, um_buf_str(&text));
	um_buf_printf(&query,
		"state={bound}&code=%s&timestamp=%lld&hmac=", code,
		(long long)timestamp);
	um_buf_puts(&query, hex);
	um_buf_put(&query, "", 1);
	um_buf_free(&text);
	assert_false(query.failed);
	return query.ptr;
}

TEST(what_is_signed_completes)
{
	struct tested_program program = oauth_return;
	char *query = signed_query(SIGNING_SECRET, "c0de", CASE_NOW);
	const struct program_case test = { .name = "signed",
		.path = "/oauth/plain/return",
		.query = query,
		.asks = UM_OP_COMPLETE,
		.says = "completed",
		.action = "accept",
		.status = 303,
		.location = "/done",
		.sets_cookie = DONE_COOKIE("returned") };

	program.provider = "plain";
	program_case_run(&program, &test);
	free(query);
}

/* The form that is posted is what must be signed. */
TEST(a_form_that_is_signed_completes)
{
	struct tested_program program = oauth_return;
	char *form = signed_query(SIGNING_SECRET, "c0de", CASE_NOW);
	const struct program_case test = { .name = "signed form",
		.method = "POST",
		.path = "/oauth/plain/return",
		.body = form,
		.asks = UM_OP_COMPLETE,
		.says = "completed",
		.action = "accept",
		.status = 303,
		.location = "/done",
		.sets_cookie = DONE_COOKIE("returned") };

	program.provider = "plain";
	program_case_run(&program, &test);
	free(form);
}

TEST(a_signed_query_proves_no_form)
{
	struct tested_program program = oauth_return;
	char *query = signed_query(SIGNING_SECRET, "c0de", CASE_NOW);
	struct program_case test = { .name = "forged form",
		.method = "POST",
		.path = "/oauth/plain/return",
		.query = query,
		.body = "state={bound}&code=f0rged",
		.status = 400,
		.reason = "query_and_form" };

	program.provider = "plain";
	program_case_run(&program, &test);
	test.query = NULL;
	test.status = 401;
	test.reason = "signature_missing";
	program_case_run(&program, &test);
	free(query);
}

TEST(what_is_not_signed_is_refused)
{
	struct tested_program program = oauth_return;
	char *forged = signed_query("another", "c0de", CASE_NOW);
	char *old = signed_query(SIGNING_SECRET, "c0de", CASE_NOW - 91);
	char *early = signed_query(SIGNING_SECRET, "c0de", CASE_NOW + 91);
	const struct {
		const char *query;
		const char *reason;
	} cases[] = {
		{ "state={bound}&code=c0de", "signature_missing" },
		{ "state={bound}&error=access_denied", "signature_missing" },
		{ "state={bound}&code=c0de&timestamp=1800000000&hmac=00",
			"signature_invalid" },
		{ forged, "signature_invalid" },
		{ old, "timestamp_out_of_tolerance" },
		{ early, "timestamp_out_of_tolerance" },
	};

	program.provider = "plain";
	for (size_t i = 0; i < LENGTH(cases); i++) {
		const struct program_case test = { .name = cases[i].reason,
			.path = "/oauth/plain/return",
			.query = cases[i].query,
			.status = 401,
			.reason = cases[i].reason };

		program_case_run(&program, &test);
	}
	free(forged);
	free(old);
	free(early);
}

static int
set_up(void **state)
{
	char *path = file_make(um_str(its_description), 0600);
	const char *secrets[] = { SIGNING_SECRET };
	const struct um_provider_env site = { .secrets = secrets,
		.secrets_len = 1 };
	struct um_error err = { 0 };

	if (!um_spec_load(&case_provider("plain")->spec, path, &site, &err))
		fail_msg("%s", err.text);
	file_remove(path);
	return program_case_set_up(state);
}

static int
tear_down(void **state)
{
	um_spec_free(case_provider("plain")->spec);
	return program_case_tear_down(state);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_signed_completes),
		cmocka_unit_test(a_form_that_is_signed_completes),
		cmocka_unit_test(a_signed_query_proves_no_form),
		cmocka_unit_test(what_is_not_signed_is_refused),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
