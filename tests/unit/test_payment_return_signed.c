/* SPDX-License-Identifier: MIT */
/* Returns that the provider signs: they alone complete here. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "description/spec_load.h"
#include "payment_return.h"
#include "signing.h"

#define SIGNING_SECRET "return-secret"

/* The query that the provider signs: HMAC-SHA256 over its four fields. */
static char *
signed_query(const char *id, const char *secret)
{
	struct um_buf text = { 0 };
	struct um_buf query = { 0 };
	char hex[65];

	um_buf_printf(&text, "plink_1|%s|paid|pay_1", id);
	hmac_hex(hex, secret, um_buf_str(&text));
	um_buf_printf(&query,
		"state={bound}&razorpay_payment_link_id=plink_1"
		"&razorpay_payment_link_reference_id=%s"
		"&razorpay_payment_link_status=paid&razorpay_payment_id=pay_1"
		"&razorpay_signature=",
		id);
	um_buf_puts(&query, hex);
	um_buf_put(&query, "", 1);
	um_buf_free(&text);
	assert_false(query.failed);
	return query.ptr;
}

static const struct program_case signed_case = { .name = "signed",
	.path = BACK,
	.asks = UM_OP_LOOK_UP,
	.says = "opened",
	.row = { .reason = none },
	.asks_then = UM_OP_EVENT,
	.asks_last = UM_OP_LOOK_UP,
	.row_last = { .reason = none },
	.status = 303,
	.location = "/done",
	.result = "{\"event\":\"pay_1\",\"type\":\"paid\","
		  "\"reference\":\"pay_1\"}" };

static int
give_a_signed_return(void **state)
{
	const char *secrets[] = { SIGNING_SECRET };
	const struct um_provider_env site = { .secrets = secrets,
		.secrets_len = 1,
		.return_secrets = secrets,
		.return_secrets_len = 1 };
	struct um_error err = { 0 };

	(void)state;
	if (!um_spec_load(&case_provider("shop")->spec,
		    "lib/providers/razorpay.json", &site, &err))
		fail_msg("%s", err.text);
	return 0;
}

static int
take_it_away(void **state)
{
	(void)state;
	um_spec_free(case_provider("shop")->spec);
	case_provider("shop")->spec = NULL;
	return 0;
}

/* The log has what the event did, the page what the row says after it. */
TEST(a_signed_return)
{
	static const struct {
		const char *event;
		const char *row;
		const char *action;
		const char *reason;
		bool late;
		const char *page; /* of /done; NULL: the one that follows */
	} cases[] = {
		{ "accept", "completed", "accept", "", false, "done" },
		{ "decline", "completed", "decline", "cancelled", false,
			"declined" },
		{ "cancel", "completed", "cancel", "amount_mismatch", false,
			"mismatch" },
		{ "late", "completed", "cancel", "expired", true, "late" },
		{ "late", "completed", "cancel", "expired", false, "expired" },
		{ "seen", "completed", "accept", "", false, "done" },
		{ "seen", "opened", NULL, "", false, NULL },
		{ "repeated", "completed", "accept", "", false, "done" },
		{ "repeated", "processing", NULL, "", false, NULL },
		{ "recheck", "opened", NULL, "", false, NULL },
		{ "processing", "processing", NULL, "", false, NULL },
		{ "attempt_failed", "opened", NULL, "", false, NULL },
		{ "reference_taken", "opened", NULL, "", false, NULL },
		{ "other_mode", "opened", NULL, "", false, NULL },
		{ "other_account", "opened", NULL, "", false, NULL },
	};
	char *query = signed_query(CASE_ID, SIGNING_SECRET);

	for (size_t i = 0; i < LENGTH(cases); i++) {
		struct program_case test = signed_case;
		char cookie[128];

		snprintf(cookie, sizeof(cookie), DONE_COOKIE("%s"),
			cases[i].page != NULL ? cases[i].page : "");
		test.name = cases[i].event;
		test.query = query;
		test.says_then = test.outcome = cases[i].event;
		test.says_last = cases[i].row;
		test.row_last.action = (char *)cases[i].action;
		test.row_last.reason = (char *)cases[i].reason;
		test.row_last.late = cases[i].late;
		test.result = NULL; /* it is of the operation before the last */
		if (cases[i].page == NULL) {
			test.status = 200;
			test.location = "";
			test.on_page = FOLLOWS;
		}
		test.sets_cookie = cases[i].page != NULL ? cookie : "";
		program_case_run(&payment_return, &test);
	}
	free(query);
}

TEST(a_signed_return_without_the_database)
{
	static const struct {
		const char *event;
		const char *row;
		int status;
	} cases[] = {
		{ "failed", NULL, 500 },
		{ "unavailable", NULL, 503 },
		{ "accept", "failed", 500 },
		{ "accept", "unavailable", 503 },
		{ "unknown", "unknown", 404 },
	};
	char *query = signed_query(CASE_ID, SIGNING_SECRET);

	for (size_t i = 0; i < LENGTH(cases); i++) {
		struct program_case test = signed_case;

		test.name = cases[i].row != NULL ? cases[i].row
						 : cases[i].event;
		test.query = query;
		test.says_then = cases[i].event;
		test.says_last = cases[i].row;
		if (cases[i].row == NULL)
			test.asks_last = UM_OP_NONE;
		test.status = cases[i].status;
		test.location = test.sets_cookie = "";
		program_case_run(&payment_return, &test);
	}
	free(query);
}

/* What was paid too late is kept, as a webhook's event would be. */
TEST(a_signed_return_after_the_end)
{
	static const char *const outcomes[] = { "late", "repeated", "seen",
		"recheck" };
	char *query = signed_query(CASE_ID, SIGNING_SECRET);
	struct program_case test = signed_case;

	test.query = query;
	test.says = "expired";
	test.says_then = "accept";
	test.says_last = "completed";
	test.row_last.action = accept;
	test.sets_cookie = DONE_COOKIE("done");
	program_case_run(&payment_return, &test);

	test.says = "completed";
	test.row.action = test.row_last.action = gave_up;
	test.row.reason = test.row_last.reason = expired;
	test.row_last.late = true;
	test.says_then = "late";
	test.sets_cookie = DONE_COOKIE("late");
	program_case_run(&payment_return, &test);

	/* The webhook was faster, perhaps with another payment. */
	test.row.action = test.row_last.action = accept;
	test.row.reason = test.row_last.reason = none;
	test.row_last.late = false;
	test.sets_cookie = DONE_COOKIE("done");
	for (size_t i = 0; i < LENGTH(outcomes); i++) {
		test.says_then = outcomes[i];
		program_case_run(&payment_return, &test);
	}
	free(query);
}

/* By somebody else, or of another elicitation: it is only followed. */
TEST(a_return_signed_for_something_else)
{
	char *queries[] = {
		signed_query(CASE_ID, "another"),
		signed_query("00000000-0000-4000-8000-000000000000",
			SIGNING_SECRET),
		signed_query("mine", SIGNING_SECRET),
	};
	struct program_case test = signed_case;

	test.asks_then = test.asks_last = UM_OP_NONE;
	test.status = 200;
	test.on_page = FOLLOWS;
	test.location = test.sets_cookie = "";
	test.result = NULL;
	for (size_t i = 0; i < LENGTH(queries); i++) {
		test.name = test.query = queries[i];
		program_case_run(&payment_return, &test);
		free(queries[i]);
	}
}

/* The way back without paying is never one of having paid. */
TEST(a_signed_return_to_the_wrong_address)
{
	char *query = signed_query(CASE_ID, SIGNING_SECRET);
	struct program_case test = signed_case;

	test.path = CANCEL;
	test.query = query;
	test.asks_then = UM_OP_COMPLETE;
	test.asks_last = UM_OP_NONE;
	test.action = "decline";
	test.op_reason = "cancelled";
	test.result = "";
	test.says_then = "completed";
	test.sets_cookie = DONE_COOKIE("declined");
	program_case_run(&payment_cancel, &test);
	free(query);
}

#define SIGNED_TEST(name)                                                      \
	cmocka_unit_test_setup_teardown(name, give_a_signed_return,            \
		take_it_away)

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		SIGNED_TEST(a_signed_return),
		SIGNED_TEST(a_signed_return_without_the_database),
		SIGNED_TEST(a_signed_return_after_the_end),
		SIGNED_TEST(a_return_signed_for_something_else),
		SIGNED_TEST(a_signed_return_to_the_wrong_address),
	};

	return cmocka_run_group_tests(tests, program_case_set_up,
		program_case_tear_down);
}
