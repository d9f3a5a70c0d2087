/* SPDX-License-Identifier: MIT */
/* Returns that the provider signs: they alone complete here. */
#include <stdlib.h>
#include <string.h>

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include "trial.h"

#define main program_main
#include "../../cgi-bin/payment-return.c" // NOLINT(bugprone-suspicious-include)
#undef main

#define BACK "/payment/shop/return"
#define CANCEL "/payment/shop/cancel"
#define FOLLOWS "<h1>Waiting for confirmation</h1>"
#define SIGNING_SECRET "return-secret"

static char accept[] = "accept", gave_up[] = "cancel";
static char none[] = "", expired[] = "expired";

static const struct trial_program payment_return = {
	{ "payment-return", UM_BODY_MAX, plan, answer },
	UM_PURPOSE_RETURN,
	"shop",
};

static const struct trial_program payment_cancel = {
	{ "payment-return", UM_BODY_MAX, plan, answer },
	UM_PURPOSE_CANCEL,
	"shop",
};

/* The query that the provider signs: HMAC-SHA256 over its four fields. */
static char *
signed_query(const char *id, const char *secret)
{
	static const char digits[] = "0123456789abcdef";
	struct um_buf text = { 0 };
	struct um_buf query = { 0 };
	uint8_t digest[32];

	um_buf_printf(&text, "plink_1|%s|paid|pay_1", id);
	assert_non_null(HMAC(EVP_sha256(), secret, (int)strlen(secret),
		(const uint8_t *)text.ptr, text.len, digest, NULL));
	um_buf_printf(&query,
		"state={bound}&razorpay_payment_link_id=plink_1"
		"&razorpay_payment_link_reference_id=%s"
		"&razorpay_payment_link_status=paid&razorpay_payment_id=pay_1"
		"&razorpay_signature=",
		id);
	for (size_t i = 0; i < sizeof(digest); i++)
		um_buf_printf(&query, "%c%c", digits[digest[i] >> 4],
			digits[digest[i] & 15]);
	um_buf_free(&text);
	assert_false(query.failed);
	return query.ptr;
}

static const struct trial signed_trial = { .name = "signed",
	.path = BACK,
	.asks = UM_OP_LOOK_UP,
	.says = UM_OUTCOME_OPENED,
	.row = { .reason = none },
	.asks_then = UM_OP_EVENT,
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
	if (!um_spec_load(&trial_provider("shop")->spec,
		    "tests/descriptions/razorpay.json", &site, &err))
		fail_msg("%s", err.text);
	return 0;
}

static int
take_it_away(void **state)
{
	(void)state;
	um_spec_free(trial_provider("shop")->spec);
	trial_provider("shop")->spec = NULL;
	return 0;
}

TEST(a_signed_return)
{
	static const struct {
		enum um_outcome says_then;
		int status;
		const char *sets_cookie;
	} cases[] = {
		{ UM_OUTCOME_ACCEPT, 303, DONE_COOKIE("done") },
		{ UM_OUTCOME_DECLINE, 303, DONE_COOKIE("declined") },
		{ UM_OUTCOME_CANCEL, 303, DONE_COOKIE("mismatch") },
		{ UM_OUTCOME_LATE, 303, DONE_COOKIE("already") },
		{ UM_OUTCOME_SEEN, 303, DONE_COOKIE("already") },
		{ UM_OUTCOME_RECHECK, 200, "" },
		{ UM_OUTCOME_PROCESSING, 200, "" },
		{ UM_OUTCOME_UNKNOWN, 404, "" },
		{ UM_OUTCOME_FAILED, 500, "" },
		{ UM_OUTCOME_UNAVAILABLE, 503, "" },
	};
	char *query = signed_query(TRIAL_ID, SIGNING_SECRET);
	struct trial trial = signed_trial;

	trial.query = query;
	for (size_t i = 0; i < LENGTH(cases); i++) {
		trial.says_then = cases[i].says_then;
		trial.status = cases[i].status;
		trial.sets_cookie = cases[i].sets_cookie;
		trial.location = cases[i].status == 303 ? "/done" : "";
		trial.on_page = cases[i].status == 200 ? FOLLOWS : NULL;
		trial_run(&payment_return, &trial);
	}
	free(query);
}

/* What was paid too late is kept, as a webhook's event would be. */
TEST(a_signed_return_that_is_late)
{
	char *query = signed_query(TRIAL_ID, SIGNING_SECRET);
	struct trial trial = signed_trial;

	trial.query = query;
	trial.says = UM_OUTCOME_EXPIRED;
	trial.says_then = UM_OUTCOME_ACCEPT;
	trial.sets_cookie = DONE_COOKIE("done");
	trial_run(&payment_return, &trial);

	trial.says = UM_OUTCOME_COMPLETED;
	trial.row.action = gave_up;
	trial.row.reason = expired;
	trial.says_then = UM_OUTCOME_LATE;
	trial.sets_cookie = DONE_COOKIE("expired");
	trial_run(&payment_return, &trial);

	/* The webhook was faster: there is nothing to add. */
	trial.row.action = accept;
	trial.row.reason = none;
	trial.asks_then = UM_OP_NONE;
	trial.sets_cookie = DONE_COOKIE("done");
	trial.result = NULL;
	trial_run(&payment_return, &trial);
	free(query);
}

/* By somebody else, or of another elicitation: it is only followed. */
TEST(a_return_signed_for_something_else)
{
	char *queries[] = {
		signed_query(TRIAL_ID, "another"),
		signed_query("00000000-0000-4000-8000-000000000000",
			SIGNING_SECRET),
		signed_query("mine", SIGNING_SECRET),
	};
	struct trial trial = signed_trial;

	trial.asks_then = UM_OP_NONE;
	trial.status = 200;
	trial.on_page = FOLLOWS;
	trial.location = trial.sets_cookie = "";
	trial.result = NULL;
	for (size_t i = 0; i < LENGTH(queries); i++) {
		trial.query = queries[i];
		trial_run(&payment_return, &trial);
		free(queries[i]);
	}
}

/* The way back without paying is never one of having paid. */
TEST(a_signed_return_to_the_wrong_address)
{
	char *query = signed_query(TRIAL_ID, SIGNING_SECRET);
	struct trial trial = signed_trial;

	trial.path = CANCEL;
	trial.query = query;
	trial.asks_then = UM_OP_COMPLETE;
	trial.action = "decline";
	trial.op_reason = "cancelled";
	trial.result = "";
	trial.says_then = UM_OUTCOME_COMPLETED;
	trial.sets_cookie = DONE_COOKIE("declined");
	trial_run(&payment_cancel, &trial);
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
		SIGNED_TEST(a_signed_return_that_is_late),
		SIGNED_TEST(a_return_signed_for_something_else),
		SIGNED_TEST(a_signed_return_to_the_wrong_address),
	};

	return cmocka_run_group_tests(tests, trial_set_up, trial_tear_down);
}
