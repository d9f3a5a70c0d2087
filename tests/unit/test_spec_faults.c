/* SPDX-License-Identifier: MIT */
/* What the operator is told of a delivery that is refused. */
#include <stdlib.h>
#include <string.h>

#include "deliveries.h"
#include "description.h"
#include "webhook/parsed.h"

/* Signs and reads a body; *fault is what is said of it. */
static enum um_verdict
read_faulty(const char *description, struct um_str body, struct um_fault *fault)
{
	struct um_event *events = calloc(UM_EVENTS_MAX, sizeof(events[0]));
	struct um_spec *spec = describe(description);
	char signature[65];
	const struct um_delivery delivery = { .body = body,
		.header = signature_header,
		.arg = signature,
		.fault = fault };
	enum um_verdict verdict;
	size_t len;

	assert_non_null(events);
	hmac_hex(signature, SECRET, body);
	verdict = um_spec_read(&spec->webhook, &delivery, events, &len);
	um_spec_free(spec);
	free(events);
	return verdict;
}

TEST(each_is_said_with_its_place_and_without_its_value)
{
	static const char one[] = SIGNED
		"\"type\": {\"json\": \"/type\"},"
		"\"live\": {\"from\": {\"json\": \"/live\"}, \"is\": \"1\"},"
		"\"amount\": {\"from\": {\"first\": [{\"json\": \"/a~1b\"},"
		" {\"json\": \"/amount\"}]}, \"as\": \"decimal\"},"
		"\"currency\": {\"json\": \"/currency\"},"
		"\"outcomes\": [{\"effect\": \"paid\"}]}";
	static const char when[] = SIGNED
		"\"elicitation\": {\"json\": \"/for\"},"
		"\"identity\": {\"json\": \"/id\"},"
		"\"reference\": {\"json\": \"/ref\"},"
		"\"checkout\": {\"json\": \"/cs\"},"
		"\"live\": {\"from\": {\"json\": \"/live\"}, \"is\": \"1\"},"
		"\"outcomes\": [{\"effect\": \"paid\", \"when\":"
		" [{\"from\": {\"json\": \"/status\"}, \"is\": \"paid\"}]}]}";
	static const char list[] = SIGNED
		"\"events\": \"/events\", \"type\": {\"item\": \"/type\"},"
		"\"outcomes\": [{\"effect\": \"paid\"}]}";
	static const struct {
		const char *description, *body, *fault;
	} cases[] = {
		{ one, "secret-7",
			"/payload: is not a JSON object or array (after about "
			"0 "
			"bytes)" },
		{ one, "{\"type\": \"secret-7\"",
			"/payload: is not a JSON object or array (after about "
			"19 bytes)" },
		{ one, "", "/payload: is empty (after about 0 bytes)" },
		{ one, "7",
			"/payload: is not a JSON object or array "
			"(after about 1 bytes)" },
		{ one, "{\"type\":\"a\",\"type\":\"a\"}",
			"/type: /type is there twice" },
		{ one, "{\"type\":\"\\u0000\"}",
			"/type: /type has an escape that is none, a NUL, or "
			"half a surrogate pair" },
		{ one, "{\"type\":\"\xff\"}",
			"/type: /type has a string that is not UTF-8" },
		{ one, "{\"type\":\"\n\"}",
			"/type: /type has a control character in a string" },
		{ one, "{\"amount\":99999999999999999999}",
			"/amount: /amount has a whole number of more than 64 "
			"bits" },
		{ one, "{\"amount\":1e999}",
			"/amount: /amount has a number that is too long or too "
			"large" },
		{ one,
			"{\"type\":[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[["
			"]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]}",
			"/type: /type is an object or a list" },
		{ when, "{\"status\":\"a\",\"status\":\"b\"}",
			"/outcomes: /status is there twice" },
		{ when,
			"{\"status\":\"paid\",\"live\":1,\"live\":1,\"for\":"
			"\"7a1f0c52-3b9d-4c8e-9f21-5d6e7f8091a2\"}",
			"/live: is not a text" },
		{ when, "{\"status\":\"paid\",\"for\":\"\xff\"}",
			"/elicitation: /for has a string that is not UTF-8" },
		{ when,
			"{\"status\":\"paid\",\"ref\":1,\"ref\":1,\"for\":"
			"\"7a1f0c52-3b9d-4c8e-9f21-5d6e7f8091a2\"}",
			"/reference: /ref is there twice" },
		{ when,
			"{\"status\":\"paid\",\"id\":1,\"id\":1,\"for\":"
			"\"7a1f0c52-3b9d-4c8e-9f21-5d6e7f8091a2\"}",
			"/identity: /id is there twice" },
		{ when,
			"{\"status\":\"paid\",\"cs\":\"\xff\",\"for\":"
			"\"7a1f0c52-3b9d-4c8e-9f21-5d6e7f8091a2\"}",
			"/checkout: /cs has a string that is not UTF-8" },
		{ one, "{\"type\": {\"secret\": 7}}",
			"/type: /type is an object or a list" },
		{ one, "{\"type\": \"secret\\n\"}",
			"/type: /type has a control character, or is not "
			"UTF-8" },
		{ one, "{\"live\": []}", "/live: is not a text" },
		{ one, "{\"a/b\": 0.30000000000000004, \"currency\": \"EUR\"}",
			"/amount: /a~1b needs more than 15 significant "
			"digits" },
		{ one, "{\"amount\": \"1.001\", \"currency\": \"EUR\"}",
			"/amount: is not a decimal number with at most as many "
			"places as the currency has" },
		{ one, "{\"amount\": 1, \"currency\": \"EURO\"}",
			"/currency: is not a currency of ISO 4217, which has "
			"three letters" },
		{ one, "{\"amount\": 1, \"currency\": {}}",
			"/currency: /currency is an object or a list" },
		{ list, "{\"events\": {}}",
			"/events: is not a list, or is there twice" },
		{ list, "{\"events\": [{}, {\"type\": []}]}",
			"event 2: /type: /type is an object or a list" },
	};

	for (size_t i = 0; i < LENGTH(cases); i++) {
		struct um_fault fault = { "" };

		assert_row(cases[i].body,
			read_faulty(cases[i].description, um_str(cases[i].body),
				&fault)
				== UM_DELIVERY_MALFORMED);
		assert_string_equal(fault.text, cases[i].fault);
	}
}

TEST(a_good_delivery_has_none)
{
	struct um_fault fault = { "" };

	assert_int_equal(read_faulty(SIGNED "\"outcomes\": [{\"effect\": "
					    "\"paid\"}]}",
				 STR("{}"), &fault),
		UM_DELIVERY_GOOD);
	assert_string_equal(fault.text, "");
}

TEST(events_over_the_limit)
{
	struct um_buf body = { 0 };
	struct um_fault fault = { "" };

	um_buf_puts(&body, "{\"events\": [{}");
	for (size_t i = 0; i < UM_EVENTS_MAX; i++)
		um_buf_puts(&body, ",{}");
	um_buf_puts(&body, "]}");
	assert_int_equal(read_faulty(SIGNED "\"events\": \"/events\", "
					    "\"outcomes\": [{\"effect\": "
					    "\"ignore\"}]}",
				 um_buf_str(&body), &fault),
		UM_DELIVERY_MALFORMED);
	assert_string_equal(fault.text,
		"event 513: /events: has more elements than a delivery may "
		"have events");
	um_buf_free(&body);
}

/* Adyen's first delivery, with something else beside its list. */
static enum um_verdict
read_adyen_beside(const char *unit, size_t times, struct um_fault *fault)
{
	struct um_event *events = calloc(UM_EVENTS_MAX, sizeof(events[0]));
	struct um_buf body = { 0 };
	struct provider provider;
	struct um_spec *spec;
	struct um_delivery delivery = { .header = signature_header,
		.fault = fault };
	enum um_verdict verdict;
	const char *text;
	size_t len;

	assert_non_null(events);
	provider_open(&provider, "adyen");
	spec = provider_load(&provider);
	text = json_string_value(
		json_object_get(json_array_get(json_object_get(provider.root,
						       "deliveries"),
					0),
			"body"));
	um_buf_puts(&body, "{\"beside\":[0");
	for (size_t i = 0; i < times; i++)
		um_buf_puts(&body, unit);
	um_buf_cat(&body, "],", text + 1);
	delivery.body = um_buf_str(&body);
	verdict = um_spec_read(&spec->webhook, &delivery, events, &len);
	um_buf_free(&body);
	um_spec_free(spec);
	provider_close(&provider);
	free(events);
	return verdict;
}

/* Before its signature is known to be right, little of a body is parsed. */
TEST(a_body_with_its_own_signature_is_limited)
{
	struct um_fault fault = { "" };

	assert_int_equal(read_adyen_beside(",0", UM_UNPROVEN_VALUES_MAX - 100,
				 &fault),
		UM_DELIVERY_GOOD);
	assert_int_equal(read_adyen_beside(",0", UM_UNPROVEN_VALUES_MAX,
				 &fault),
		UM_DELIVERY_UNSIGNED);
	assert_non_null(strstr(fault.text,
		"/payload: has too many values and names (after about "));
	fault.text[0] = '\0';
	assert_int_equal(read_adyen_beside(" ", UM_UNPROVEN_JSON_MAX - 4096,
				 &fault),
		UM_DELIVERY_GOOD);
	assert_int_equal(read_adyen_beside(" ", UM_UNPROVEN_JSON_MAX, &fault),
		UM_DELIVERY_UNSIGNED);
	assert_string_equal(fault.text,
		"/payload: has more than 262144 bytes, and its own signature "
		"in it");
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			each_is_said_with_its_place_and_without_its_value),
		cmocka_unit_test(a_good_delivery_has_none),
		cmocka_unit_test(events_over_the_limit),
		cmocka_unit_test(a_body_with_its_own_signature_is_limited),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
