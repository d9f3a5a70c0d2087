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
		"{\"amount\": 9223372036854775808}", "{\"amount\": 1e400}",
		"\xef\xbb\xbf{}", "type=paid" };
	struct um_spec *spec = describe(WHOLE);
	struct um_event events[UM_EVENTS_MAX];
	size_t len;

	for (size_t i = 0; i < LENGTH(cases); i++)
		assert_row(cases[i],
			read_signed(spec, um_str(cases[i]), events, &len)
				== UM_DELIVERY_MALFORMED);
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
		cmocka_unit_test(no_body),
		cmocka_unit_test(bombs),
		cmocka_unit_test(bombs_before_the_signature),
		cmocka_unit_test(as_many_events_as_the_limit),
		cmocka_unit_test(a_list_of_events_that_is_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
