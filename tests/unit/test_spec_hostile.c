/* SPDX-License-Identifier: MIT */
/* Bodies that are meant to hurt, rightly signed and not. */
#include <stdlib.h>
#include <string.h>

#include "core/json.h"
#include "deliveries.h"
#include "description.h"

#define UUID "7a1f0c52-3b9d-4c8e-9f21-5d6e7f8091a2"

#define OURS "{\"type\": \"paid\", \"for\": \"" UUID "\", "

#define WHOLE                                                                  \
	SIGNED "\"type\": {\"json\": \"/type\"},"                              \
	       "\"identity\": {\"json\": \"/id\"},"                            \
	       "\"elicitation\": {\"json\": \"/for\"},"                        \
	       "\"amount\": {\"from\": {\"json\": \"/amount\"},"               \
	       " \"as\": \"minor\"}, \"currency\": {\"json\": \"/currency\"}," \
	       "\"reference\": {\"json\": \"/reference\"},"                    \
	       "\"outcomes\": [{\"type\": \"paid\", \"effect\": \"paid\"}]}"

/* Signs the body and reads it. */
static enum um_verdict
read_signed(const struct um_spec *spec, struct um_str body,
	struct um_event events[static UM_EVENTS_MAX], size_t *len)
{
	char signature[65];
	const struct um_delivery delivery = { .body = body,
		.header = signature_header,
		.arg = signature };

	hmac_hex(signature, SECRET, body);
	return um_spec_read(&spec->webhook, &delivery, events, len);
}

/* The first event of a good delivery, or the verdict of another. */
static enum um_verdict
read_text(const char *text, struct um_event *event)
{
	struct um_spec *spec = describe(WHOLE);
	struct um_event events[UM_EVENTS_MAX] = { 0 };
	size_t len;
	enum um_verdict verdict = read_signed(spec, um_str(text), events, &len);

	*event = events[0];
	um_spec_free(spec);
	return verdict;
}

TEST(bodies_that_are_no_json)
{
	static const char *const cases[] = { "x", "{", "{}}", "1", "\"paid\"",
		"{\"type\": \"a\", \"type\": \"a\"}", "{\"type\": \"\\u0000\"}",
		"{\"type\": \"\xff\"}", "{\"type\": \"\\ud800\"}",
		"{\"amount\": 9223372036854775808}", "{\"amount\": 1e400}",
		"\xef\xbb\xbf{}", "type=paid" };
	struct um_event event;

	for (size_t i = 0; i < LENGTH(cases); i++)
		assert_row(cases[i],
			read_text(cases[i], &event) == UM_DELIVERY_MALFORMED);
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

TEST(values_of_another_kind)
{
	static const struct {
		const char *body;
		enum um_verdict verdict;
	} cases[] = {
		{ "{\"type\": \"paid\"}", UM_DELIVERY_GOOD },
		{ "{\"type\": null}", UM_DELIVERY_GOOD },
		{ "{\"type\": 7}", UM_DELIVERY_GOOD },
		{ "{\"type\": {}}", UM_DELIVERY_MALFORMED },
		{ "{\"type\": [\"paid\"]}", UM_DELIVERY_MALFORMED },
		{ "{\"type\": 1.5}", UM_DELIVERY_GOOD },
		{ "{\"type\": 0.30000000000000004}", UM_DELIVERY_MALFORMED },
		{ "{\"type\": \"paid\\n\"}", UM_DELIVERY_MALFORMED },
		{ "{\"type\": \"\\u007f\"}", UM_DELIVERY_MALFORMED },
		{ "[]", UM_DELIVERY_GOOD },
		/* An amount only where an event says something. */
		{ "{\"type\": \"other\", \"amount\": {}}", UM_DELIVERY_GOOD },
		{ OURS "\"amount\": {}}", UM_DELIVERY_MALFORMED },
		{ OURS "\"amount\": -5, \"currency\": \"EUR\"}",
			UM_DELIVERY_MALFORMED },
		{ OURS "\"amount\": 5.5, \"currency\": \"EUR\"}",
			UM_DELIVERY_MALFORMED },
		{ OURS "\"amount\": true, \"currency\": \"EUR\"}",
			UM_DELIVERY_MALFORMED },
		{ OURS "\"amount\": 5, \"currency\": \"EURO\"}",
			UM_DELIVERY_MALFORMED },
		{ OURS "\"amount\": 5, \"currency\": 978}",
			UM_DELIVERY_MALFORMED },
		{ OURS "\"amount\": 5}", UM_DELIVERY_GOOD },
		{ OURS "\"currency\": \"EUR\"}", UM_DELIVERY_GOOD },
		/* What is not ours is nobody's mistake. */
		{ "{\"type\": \"paid\", \"amount\": {}}", UM_DELIVERY_GOOD },
		{ "{\"type\": \"paid\", \"for\": \"order 7\", "
		  "\"amount\": -5, \"currency\": \"EUR\"}",
			UM_DELIVERY_GOOD },
		{ "{\"type\": \"paid\", \"for\": {}}", UM_DELIVERY_GOOD },
		{ "{\"type\": \"paid\", \"for\": \"\\n\"}", UM_DELIVERY_GOOD },
		{ "{\"type\": \"paid\", \"reference\": []}", UM_DELIVERY_GOOD },
	};
	struct um_event event;

	for (size_t i = 0; i < LENGTH(cases); i++) {
		assert_row(cases[i].body,
			read_text(cases[i].body, &event) == cases[i].verdict);
		assert_row(cases[i].body, !event.has_amount);
	}
}

/* As a number or as a string, an amount is never rounded. */
TEST(decimal_amounts)
{
	static const char text[] = SIGNED
		"\"amount\": {\"from\": {\"json\": \"/amount\"},"
		" \"as\": \"decimal\"}, \"currency\": {\"json\": "
		"\"/currency\"},"
		"\"outcomes\": [{\"effect\": \"paid\"}]}";
	static const struct {
		const char *body;
		int64_t amount; /* -1: refused */
	} cases[] = {
		{ "{\"amount\": 10.50, \"currency\": \"EUR\"}", 1050 },
		{ "{\"amount\": 10.5, \"currency\": \"EUR\"}", 1050 },
		{ "{\"amount\": \"10.50\", \"currency\": \"EUR\"}", 1050 },
		{ "{\"amount\": 10, \"currency\": \"EUR\"}", 1000 },
		{ "{\"amount\": 1e2, \"currency\": \"EUR\"}", 10000 },
		{ "{\"amount\": 10.0, \"currency\": \"JPY\"}", 10 },
		{ "{\"amount\": 1234567890123.45, \"currency\": \"EUR\"}",
			123456789012345 },
		{ "{\"amount\": 10.505, \"currency\": \"EUR\"}", -1 },
		{ "{\"amount\": 10.5, \"currency\": \"JPY\"}", -1 },
		{ "{\"amount\": -10.5, \"currency\": \"EUR\"}", -1 },
		{ "{\"amount\": 1e20, \"currency\": \"EUR\"}", -1 },
		{ "{\"amount\": 12345678901234.56, \"currency\": \"EUR\"}",
			-1 },
	};
	struct um_spec *spec = describe(text);

	for (size_t i = 0; i < LENGTH(cases); i++) {
		struct um_event events[UM_EVENTS_MAX];
		size_t len;
		enum um_verdict verdict = read_signed(spec,
			um_str(cases[i].body), events, &len);

		if (cases[i].amount < 0)
			assert_row(cases[i].body,
				verdict == UM_DELIVERY_MALFORMED);
		else
			assert_row(cases[i].body,
				verdict == UM_DELIVERY_GOOD
					&& events[0].amount == cases[i].amount);
	}
	um_spec_free(spec);
}

TEST(ids)
{
	static const struct {
		const char *id;
		bool ours;
	} cases[] = {
		{ UUID, true },
		{ "7A1F0C52-3B9D-4C8E-9F21-5D6E7F8091A2", true },
		{ "7a1f0c52-3b9d-4c8e-9f21-5d6e7f8091A2", true },
		{ "7a1f0c523b9d-4c8e-9f21-5d6e7f8091a2-", false },
		{ "7a1f0c52_3b9d_4c8e_9f21_5d6e7f8091a2", false },
		{ "{7a1f0c52-3b9d-4c8e-9f21-5d6e7f8091a2}", false },
		{ "7a1f0c523b9d4c8e9f215d6e7f8091a2", false },
		{ UUID " ", false },
		{ " " UUID, false },
		{ "7a1f0c52-3b9d-4c8e-9f21-5d6e7f8091ag", false },
		{ "", false },
	};

	for (size_t i = 0; i < LENGTH(cases); i++) {
		struct um_buf body = { 0 };
		struct um_event event;

		row_begin("%s", cases[i].id);
		um_buf_printf(&body, "{\"type\": \"paid\", \"for\": \"%s\"}",
			cases[i].id);
		um_buf_put(&body, "", 1);
		assert_int_equal(read_text(body.ptr, &event), UM_DELIVERY_GOOD);
		assert_row(cases[i].id, event.has_id == cases[i].ours);
		um_buf_free(&body);
	}
}

/* A text of `len` characters as the member `key` of a paid event. */
static enum um_verdict
read_long(const char *key, size_t len, struct um_event *event)
{
	struct um_buf body = { 0 };
	enum um_verdict verdict;

	um_buf_printf(&body, "{%s\"%s\": \"",
		strcmp(key, "type") == 0 ? "" : "\"type\": \"paid\", ", key);
	for (size_t i = 0; i < len; i++)
		um_buf_puts(&body, "a");
	um_buf_puts(&body, "\"}");
	um_buf_put(&body, "", 1);
	verdict = read_text(body.ptr, event);
	um_buf_free(&body);
	return verdict;
}

TEST(texts_as_long_as_the_limits)
{
	struct um_event event;

	assert_int_equal(read_long("type", UM_EVENT_TYPE_MAX, &event),
		UM_DELIVERY_GOOD);
	assert_int_equal(strlen(event.type), UM_EVENT_TYPE_MAX);
	assert_int_equal(read_long("type", UM_EVENT_TYPE_MAX + 1, &event),
		UM_DELIVERY_MALFORMED);

	assert_int_equal(read_long("reference", UM_REFERENCE_MAX, &event),
		UM_DELIVERY_GOOD);
	assert_int_equal(strlen(event.reference), UM_REFERENCE_MAX);
	assert_int_equal(read_long("reference", UM_REFERENCE_MAX + 1, &event),
		UM_DELIVERY_GOOD);
	assert_string_equal(event.reference, "");

	/* An identity that does not fit is still the same each time. */
	assert_int_equal(read_long("id", UM_EVENT_IDENTITY_MAX, &event),
		UM_DELIVERY_GOOD);
	assert_int_equal(strlen(event.identity), UM_EVENT_IDENTITY_MAX);
	assert_int_equal(read_long("id", UM_EVENT_IDENTITY_MAX + 1, &event),
		UM_DELIVERY_GOOD);
	assert_int_equal(strlen(event.identity), 71);
	assert_memory_equal(event.identity, "sha256:", 7);
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
		cmocka_unit_test(values_of_another_kind),
		cmocka_unit_test(decimal_amounts),
		cmocka_unit_test(ids),
		cmocka_unit_test(texts_as_long_as_the_limits),
		cmocka_unit_test(as_many_events_as_the_limit),
		cmocka_unit_test(a_list_of_events_that_is_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
