/* SPDX-License-Identifier: MIT */
/* Values of an event, of each kind and length, in a body that is rightly signed. */
#include <string.h>

#include "description.h"
#include "webhook/event_read.h"

#define UUID "7a1f0c52-3b9d-4c8e-9f21-5d6e7f8091a2"

#define OURS "{\"type\": \"paid\", \"for\": \"" UUID "\", "

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

/* What stands behind the rules is no rule. */
TEST(the_amount_of_an_outcome)
{
	struct um_outcome_rule rules[] = { { .has_amount = true },
		{ .has_amount = false }, { .has_amount = true } };
	const struct um_spec_part part = { .rules = rules, .rules_len = 2 };

	assert_ptr_equal(um_event_amount(&part, 0), &rules[0].amount);
	assert_ptr_equal(um_event_amount(&part, 1), &part.amount);
	assert_ptr_equal(um_event_amount(&part, 2), &part.amount);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_of_another_kind),
		cmocka_unit_test(decimal_amounts),
		cmocka_unit_test(ids),
		cmocka_unit_test(texts_as_long_as_the_limits),
		cmocka_unit_test(the_amount_of_an_outcome),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
