/* SPDX-License-Identifier: MIT */
/* Bodies that are meant to hurt, rightly signed and not. */
#include <stdlib.h>
#include <string.h>

#include "core/json.h"
#include "deliveries.h"
#include "description.h"

TEST(bodies_that_are_no_json)
{
	static const char *const cases[] = { "x", "{", "{}}", "1", "\"paid\"",
		"{\"type\": \"a\", \"type\": \"a\"}", "{\"type\": \"\\u0000\"}",
		"{\"type\": \"\xff\"}", "{\"type\": \"\\ud800\"}",
		"\xef\xbb\xbf", "type=paid" };
	struct um_spec *spec = describe(WHOLE);
	struct um_event events[UM_EVENTS_MAX];
	size_t len;

	for (size_t i = 0; i < LENGTH(cases); i++)
		assert_row(cases[i],
			read_signed(spec, um_str(cases[i]), events, &len)
				== UM_DELIVERY_MALFORMED);
	um_spec_free(spec);
}

/* Signed, and with something in it that nobody reads: each pays. */
TEST(what_nobody_reads_is_nobodys_error)
{
	/* NOLINTBEGIN(bugprone-suspicious-missing-comma): long ones */
	static const char *const cases[] = {
		"{%s}",
		"\xef\xbb\xbf{%s}",
		"{%s,\"payer\":\"Jo\\ud83d\"}",
		"{%s,\"payer\":\"a\\u0000b\"}",
		"{%s,\"payer\":\"Jos\xe9\"}",
		"{%s,\"payer\":\"a\tb\"}",
		"{\"payer\":{\"type\":1,\"type\":2},%s}",
		"{\"payer\":1,\"payer\":2,%s}",
		"{\"\\ud83d\":1,%s}",
		"{%s,\"rate\":0."
		"000000000000000000000000000000000000000000000000"
		"000000000000001}",
		"{%s,\"rate\":1e999,\"n\":99999999999999999999}",
		"{\"deep\":[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[\"]\"]]]]]]]]]]]]]"
		"]]"
		"]]]]]]]]]]]]]]]]]]],%s}",
	};
	/* NOLINTEND(bugprone-suspicious-missing-comma) */
	struct um_spec *spec = describe(WHOLE);
	struct um_event events[UM_EVENTS_MAX];

	for (size_t i = 0; i < LENGTH(cases); i++) {
		struct um_buf body = { 0 };
		const char *rest = strstr(cases[i], "%s") + 2;
		size_t len = 0;

		row_begin("%s", cases[i]);
		um_buf_put(&body, cases[i], (size_t)(rest - 2 - cases[i]));
		um_buf_puts(&body,
			"\"type\":\"paid\",\"id\":\"e\",\"reference\":\"r\","
			"\"amount\":1050,\"currency\":\"EUR\",\"for\":"
			"\"7a1f0c52-3b9d-4c8e-9f21-5d6e7f8091a2\"");
		um_buf_puts(&body, rest);
		assert_int_equal(read_signed(spec, um_buf_str(&body), events,
					 &len),
			UM_DELIVERY_GOOD);
		assert_int_equal(len, 1);
		assert_int_equal(events[0].effect, UM_EFFECT_PAID);
		assert_true(events[0].has_id && events[0].has_amount);
		assert_int_equal(events[0].amount, 1050);
		assert_string_equal(events[0].reference, "r");
		um_buf_free(&body);
	}
	um_spec_free(spec);
}

/* Another system's, or one that means nothing: nothing else of it is judged. */
TEST(what_is_not_ours_is_not_judged)
{
	static const char *const cases[] = {
		"{\"type\":\"paid\",\"for\":\"order 7\",\"amount\":[],"
		"\"currency\":\"\xff\"}",
		"{\"type\":\"paid\",\"amount\":1,\"amount\":2}",
		"{\"type\":\"x\",\"for\":\"\xff\",\"id\":1,\"id\":1,"
		"\"reference\":\"\\ud83d\"}",
	};
	struct um_spec *spec = describe(WHOLE);
	struct um_event events[UM_EVENTS_MAX];
	size_t len;

	for (size_t i = 0; i < LENGTH(cases); i++) {
		row_begin("%s", cases[i]);
		assert_int_equal(read_signed(spec, um_str(cases[i]), events,
					 &len),
			UM_DELIVERY_GOOD);
		assert_false(events[0].is_ours);
	}
	um_spec_free(spec);
}

/* An empty body has an HMAC as well. */
TEST(no_body)
{
	struct um_spec *spec = describe(WHOLE);
	struct um_event events[UM_EVENTS_MAX];
	size_t len = 7;

	assert_int_equal(read_signed(spec, STR(""), events, &len),
		UM_DELIVERY_MALFORMED);
	assert_int_equal(len, 0);
	um_spec_free(spec);
}

TEST(bombs)
{
	static char bomb[1 << 20];
	static const char *const units[] = { "[", "{\"a\":", "[[],", "\"", "{}",
		"9" };
	struct um_spec *spec = describe(WHOLE);
	struct um_event events[UM_EVENTS_MAX];
	size_t len;

	for (size_t i = 0; i < LENGTH(units); i++) {
		size_t unit = strlen(units[i]);

		for (size_t at = 0; at + unit <= sizeof(bomb); at += unit)
			memcpy(bomb + at, units[i], unit);
		assert_row(units[i],
			read_signed(spec, (struct um_str){ bomb, sizeof(bomb) },
				events, &len)
				== UM_DELIVERY_MALFORMED);
	}
	um_spec_free(spec);
}

/* The same for those who look into the body before they have verified it. */
TEST(bombs_before_the_signature)
{
	static const char *const names[] = { "adyen", "dropbox-sign", "slack",
		"mollie" };
	static const char *const types[] = { "",
		"multipart/form-data; boundary=[",
		"application/x-www-form-urlencoded",
		"application/x-www-form-urlencoded" };
	static const char *const units[] = { "[", "{\"notificationItems\":[",
		"--[\r\n", "a=1&", "%", "&" };
	static char bomb[1 << 18];

	for (size_t i = 0; i < LENGTH(names); i++) {
		struct provider provider;
		struct um_spec *spec;

		provider_open(&provider, names[i]);
		spec = provider_load(&provider);
		for (size_t j = 0; j < LENGTH(units); j++) {
			struct um_delivery delivery = {
				.content_type = um_str(types[i]),
				.query = { bomb, 8192 },
				.body = { bomb, sizeof(bomb) },
				.header = signature_header,
			};
			struct um_event events[UM_EVENTS_MAX];
			size_t len, unit = strlen(units[j]);

			for (size_t at = 0; at + unit <= sizeof(bomb);
				at += unit)
				memcpy(bomb + at, units[j], unit);
			/* A form of nothing but & is one, and says nothing. */
			if (um_spec_read(&spec->webhook, &delivery, events,
				    &len)
				== UM_DELIVERY_GOOD)
				assert_row(names[i],
					len == 1
						&& events[0].effect
							== UM_EFFECT_IGNORE);
		}
		um_spec_free(spec);
		provider_close(&provider);
	}
}

TEST(as_many_events_as_the_limit)
{
	static const char text[] = SIGNED
		"\"events\": \"/events\", \"type\": {\"item\": \"/type\"},"
		"\"outcomes\": [{\"type\": \"paid\", \"effect\": \"paid\"}]}";
	struct um_spec *spec = describe(text);

	for (size_t count = 0; count <= UM_EVENTS_MAX + 1;
		count += count == 1 ? UM_EVENTS_MAX - 1 : 1) {
		struct um_event events[UM_EVENTS_MAX];
		struct um_buf body = { 0 };
		enum um_verdict verdict;
		size_t len;

		um_buf_puts(&body, "{\"events\": [");
		for (size_t i = 0; i < count; i++)
			um_buf_printf(&body, "%s{\"type\": \"paid\"}",
				i != 0 ? "," : "");
		um_buf_puts(&body, "]}");
		verdict = read_signed(spec, um_buf_str(&body), events, &len);
		if (count <= UM_EVENTS_MAX) {
			assert_int_equal(verdict, UM_DELIVERY_GOOD);
			assert_int_equal(len, count);
		} else {
			assert_int_equal(verdict, UM_DELIVERY_MALFORMED);
			assert_int_equal(len, 0);
		}
		um_buf_free(&body);
	}
	um_spec_free(spec);
}

TEST(a_list_of_events_that_is_none)
{
	static const char *const cases[] = { "{}", "{\"events\": null}",
		"{\"events\": {}}", "{\"events\": \"x\"}",
		"{\"events\": [{\"type\": {}}]}" };
	static const char text[] = SIGNED
		"\"events\": \"/events\", \"type\": {\"item\": \"/type\"},"
		"\"outcomes\": [{\"type\": \"paid\", \"effect\": \"paid\"}]}";
	struct um_spec *spec = describe(text);

	for (size_t i = 0; i < LENGTH(cases); i++) {
		struct um_event events[UM_EVENTS_MAX];
		size_t len;

		assert_row(cases[i],
			read_signed(spec, um_str(cases[i]), events, &len)
				== UM_DELIVERY_MALFORMED);
	}
	um_spec_free(spec);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(bodies_that_are_no_json),
		cmocka_unit_test(what_nobody_reads_is_nobodys_error),
		cmocka_unit_test(what_is_not_ours_is_not_judged),
		cmocka_unit_test(no_body),
		cmocka_unit_test(bombs),
		cmocka_unit_test(bombs_before_the_signature),
		cmocka_unit_test(as_many_events_as_the_limit),
		cmocka_unit_test(a_list_of_events_that_is_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
