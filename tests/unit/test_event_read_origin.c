/* SPDX-License-Identifier: MIT */
/* Which mode and which account an event comes from, and which ones count. */
#include <stdlib.h>
#include <string.h>

#include "description.h"

#define PAID                                                                   \
	"\"identity\": {\"json\": \"/id\"},"                                   \
	"\"outcomes\": [{\"when\": [{\"from\": {\"json\": \"/paid\"},"         \
	" \"present\": true}], \"effect\": \"paid\"}]}"
#define LIVE                                                                   \
	"\"live\": {\"from\": {\"json\": \"/world\"},"                         \
	" \"is\": [\"live\", \"production\"]},"
#define ACCOUNT "\"account\": {\"json\": \"/account\"},"

static const char *const accounts[] = { "ours", "ours too" };

static bool
load(struct um_spec **spec, const char *text, enum um_mode mode,
	size_t accounts_len, struct um_error *err)
{
	static const char *const secrets[] = { SECRET };
	const struct um_provider_env env = { .secrets = secrets,
		.secrets_len = 1,
		.mode = mode,
		.accounts = accounts,
		.accounts_len = accounts_len };

	*spec = describe_with(text, &env, err);
	return *spec != NULL;
}

/* Signs the body, and reads its one event. */
static enum um_verdict
read_event(const struct um_spec *spec, const char *body, struct um_event *event)
{
	struct um_event events[UM_EVENTS_MAX];
	char signature[65];
	const struct um_delivery delivery = { .body = um_str(body),
		.header = signature_header,
		.arg = signature };
	enum um_verdict verdict;
	size_t len;

	hmac_hex(signature, SECRET, um_str(body));
	verdict = um_spec_read(&spec->webhook, &delivery, events, &len);
	*event = events[0];
	return verdict;
}

TEST(an_event_of_the_other_mode_moves_nothing)
{
	static const struct {
		enum um_mode mode;
		const char *body;
		enum um_effect effect;
	} cases[] = {
		{ UM_MODE_DEFAULT, "{\"paid\":1,\"world\":\"live\"}",
			UM_EFFECT_PAID },
		{ UM_MODE_DEFAULT, "{\"paid\":1,\"world\":\"production\"}",
			UM_EFFECT_PAID },
		{ UM_MODE_DEFAULT, "{\"paid\":1,\"world\":\"test\"}",
			UM_EFFECT_OTHER_MODE },
		{ UM_MODE_LIVE, "{\"paid\":1,\"world\":false}",
			UM_EFFECT_OTHER_MODE },
		{ UM_MODE_TEST, "{\"paid\":1,\"world\":\"live\"}",
			UM_EFFECT_OTHER_MODE },
		{ UM_MODE_TEST, "{\"paid\":1,\"world\":\"test\"}",
			UM_EFFECT_PAID },
		/* What does not say its mode is of the site's own. */
		{ UM_MODE_LIVE, "{\"paid\":1}", UM_EFFECT_PAID },
		{ UM_MODE_TEST, "{\"paid\":1,\"world\":null}", UM_EFFECT_PAID },
		/* What means nothing means nothing in either mode. */
		{ UM_MODE_LIVE, "{\"world\":\"test\"}", UM_EFFECT_IGNORE },
	};

	for (size_t i = 0; i < LENGTH(cases); i++) {
		struct um_spec *spec;
		struct um_event event;
		struct um_error err;

		if (!load(&spec, SIGNED LIVE PAID, cases[i].mode, 0, &err))
			fail_msg("%s", err.text);
		assert_row(cases[i].body,
			read_event(spec, cases[i].body, &event)
				== UM_DELIVERY_GOOD);
		assert_row(cases[i].body, event.effect == cases[i].effect);
		um_spec_free(spec);
	}
}

TEST(an_event_of_a_foreign_account_moves_nothing)
{
	static const struct {
		size_t accounts_len;
		const char *body;
		enum um_effect effect;
	} cases[] = {
		{ 2, "{\"paid\":1,\"account\":\"ours\"}", UM_EFFECT_PAID },
		{ 2, "{\"paid\":1,\"account\":\"ours too\"}", UM_EFFECT_PAID },
		{ 1, "{\"paid\":1,\"account\":\"ours too\"}",
			UM_EFFECT_OTHER_ACCOUNT },
		{ 2, "{\"paid\":1,\"account\":\"our\"}",
			UM_EFFECT_OTHER_ACCOUNT },
		{ 0, "{\"paid\":1,\"account\":\"ours\"}",
			UM_EFFECT_OTHER_ACCOUNT },
		/* What names no account is of the site's own. */
		{ 0, "{\"paid\":1}", UM_EFFECT_PAID },
		{ 2, "{\"paid\":1,\"account\":\"\"}", UM_EFFECT_PAID },
	};

	for (size_t i = 0; i < LENGTH(cases); i++) {
		struct um_spec *spec;
		struct um_event event;
		struct um_error err;

		if (!load(&spec, SIGNED ACCOUNT PAID, UM_MODE_DEFAULT,
			    cases[i].accounts_len, &err))
			fail_msg("%s", err.text);
		assert_row(cases[i].body,
			read_event(spec, cases[i].body, &event)
				== UM_DELIVERY_GOOD);
		assert_row(cases[i].body, event.effect == cases[i].effect);
		um_spec_free(spec);
	}
}

#define HALF "\"Jo\\ud83d\""

/* What says that it is not ours is asked nothing else. */
TEST(what_is_not_ours_is_known_before_anything_else_is_judged)
{
	static const char *const unreadable[] = { "\"type\":" HALF,
		"\"paid\":" HALF, "\"for\":" HALF, "\"for\":1,\"for\":2",
		"\"ref\":" HALF, "\"id\":" HALF, "\"amount\":{}",
		"\"currency\":" HALF, "\"checkout\":" HALF };
	static const struct {
		const char *origin;
		enum um_verdict verdict;
		enum um_effect effect;
	} origins[] = {
		{ "\"world\":\"test\"", UM_DELIVERY_GOOD,
			UM_EFFECT_OTHER_MODE },
		{ "\"account\":\"theirs\"", UM_DELIVERY_GOOD,
			UM_EFFECT_OTHER_ACCOUNT },
		{ "\"world\":\"live\",\"account\":\"ours\"",
			UM_DELIVERY_MALFORMED, UM_EFFECT_IGNORE },
		{ "\"world\":\"test\",\"account\":" HALF, UM_DELIVERY_GOOD,
			UM_EFFECT_OTHER_MODE },
		{ "\"world\":" HALF ",\"account\":\"theirs\"", UM_DELIVERY_GOOD,
			UM_EFFECT_OTHER_ACCOUNT },
		/* It may be ours where it cannot be read. */
		{ "\"world\":" HALF, UM_DELIVERY_MALFORMED, UM_EFFECT_IGNORE },
		{ "\"account\":" HALF, UM_DELIVERY_MALFORMED,
			UM_EFFECT_IGNORE },
	};
	static const char text[] = SIGNED LIVE ACCOUNT
		"\"identity\": {\"json\": \"/id\"},"
		"\"type\": {\"json\": \"/type\"},"
		"\"elicitation\": {\"json\": \"/for\"},"
		"\"reference\": {\"json\": \"/ref\"},"
		"\"checkout\": {\"json\": \"/checkout\"},"
		"\"amount\": {\"from\": {\"json\": \"/amount\"},"
		" \"as\": \"minor\"}, \"currency\": {\"json\": \"/currency\"},"
		"\"outcomes\": [{\"when\": [{\"from\": {\"json\": \"/paid\"},"
		" \"is\": [\"1\"]}], \"effect\": \"paid\"}]}";
	/* What is there twice then cannot be read either. */
	static const char rest[] = "\"type\":\"t\",\"paid\":1,\"for\":"
				   "\"7a1f0c52-3b9d-4c8e-9f21-5d6e7f8091a2\"";
	struct um_spec *spec;
	struct um_event event;
	struct um_error err;

	if (!load(&spec, text, UM_MODE_DEFAULT, 1, &err))
		fail_msg("%s", err.text);
	for (size_t i = 0; i < LENGTH(unreadable) * LENGTH(origins); i++) {
		const char *bad = unreadable[i / LENGTH(origins)];
		size_t o = i % LENGTH(origins);
		struct um_buf body = { 0 };

		um_buf_printf(&body, "{%s,%s,%s}", origins[o].origin, bad,
			rest);
		um_buf_put(&body, "", 1);
		assert_row(body.ptr,
			read_event(spec, body.ptr, &event)
				== origins[o].verdict);
		assert_row(body.ptr,
			event.effect == origins[o].effect
				|| origins[o].verdict != UM_DELIVERY_GOOD);
		um_buf_free(&body);
	}
	um_spec_free(spec);
}

/* It is kept all the same, so that its identity is that of any event. */
TEST(an_event_that_moves_nothing_has_its_identity)
{
	struct um_spec *spec;
	struct um_event event;
	struct um_error err;

	assert_true(load(&spec, SIGNED LIVE PAID, UM_MODE_LIVE, 0, &err));
	assert_int_equal(read_event(spec,
				 "{\"id\":\"e1\",\"paid\":1,\"world\":0}",
				 &event),
		UM_DELIVERY_GOOD);
	assert_int_equal(event.effect, UM_EFFECT_OTHER_MODE);
	assert_string_equal(event.identity, "e1");
	um_spec_free(spec);
}

TEST(a_value_that_is_not_text_is_malformed)
{
	static const char *const bodies[] = { "{\"paid\":1,\"world\":{}}",
		"{\"paid\":1,\"account\":[\"ours\"]}" };
	struct um_spec *spec;
	struct um_event event;
	struct um_error err;

	assert_true(load(&spec, SIGNED LIVE ACCOUNT PAID, UM_MODE_DEFAULT, 2,
		&err));
	for (size_t i = 0; i < LENGTH(bodies); i++)
		assert_row(bodies[i],
			read_event(spec, bodies[i], &event)
				== UM_DELIVERY_MALFORMED);
	um_spec_free(spec);
}

/* A setting that has no effect would be trusted to protect. */
TEST(a_setting_that_the_description_cannot_use_is_refused)
{
	struct um_spec *spec;
	struct um_error err;

	assert_false(load(&spec, SIGNED ACCOUNT PAID, UM_MODE_TEST, 0, &err));
	assert_error(&err,
		" /live: is missing, but the configuration has a `mode`");
	assert_false(load(&spec, SIGNED ACCOUNT PAID, UM_MODE_LIVE, 0, &err));
	assert_error(&err, " /live: is missing");
	assert_false(load(&spec, SIGNED LIVE PAID, UM_MODE_DEFAULT, 1, &err));
	assert_error(&err,
		" /account: is missing, but the configuration has `accounts`");
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_event_of_the_other_mode_moves_nothing),
		cmocka_unit_test(an_event_of_a_foreign_account_moves_nothing),
		cmocka_unit_test(
			what_is_not_ours_is_known_before_anything_else_is_judged),
		cmocka_unit_test(an_event_that_moves_nothing_has_its_identity),
		cmocka_unit_test(a_value_that_is_not_text_is_malformed),
		cmocka_unit_test(
			a_setting_that_the_description_cannot_use_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
