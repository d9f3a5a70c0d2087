/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"
#include "webhook/delivery.h"
#include "webhook/parsed.h"

#define FORM "application/x-www-form-urlencoded"

static char field[] = "payload";
static const struct um_payload body = { 0 };
static const struct um_payload in_form = { UM_PAYLOAD_FORM, field, false,
	{ 0 } };

/* A part for which nobody asks is not looked at. */
TEST(only_what_is_needed)
{
	const struct um_delivery delivery = { .query = STR("a=1&a=2"),
		.content_type = STR(FORM),
		.body = STR("payload=%7B%22a%22%3A1%7D") };
	struct um_parsed parsed = { .delivery = &delivery };

	um_parsed_read(&parsed, &in_form, 0, false);
	assert_int_equal(parsed.fields[UM_FIELDS_OF_QUERY].found, UM_ABSENT);
	assert_int_equal(parsed.fields[UM_FIELDS_OF_BODY].found, UM_ABSENT);
	assert_int_equal(parsed.multipart_is, UM_ABSENT);
	assert_null(parsed.document);
	assert_false(parsed.is_malformed);
	um_parsed_read(&parsed, &in_form, UM_NEED_FORM, false);
	assert_int_equal(parsed.fields[UM_FIELDS_OF_BODY].found, UM_FOUND);
	assert_null(parsed.document);
	assert_false(parsed.is_malformed);
	um_parsed_read(&parsed, &in_form, UM_NEED_JSON | UM_NEED_QUERY, true);
	assert_non_null(parsed.document);
	assert_int_equal(parsed.fields[UM_FIELDS_OF_QUERY].found, UM_FOUND);
	assert_false(parsed.is_malformed);
	um_parsed_free(&parsed);
}

/* The body of another type is no form, and not a malformed one. */
TEST(types_of_a_body)
{
	static const struct {
		const char *type, *text;
		enum um_found form, multipart;
	} rows[] = {
		{ FORM, "a=1", UM_FOUND, UM_ABSENT },
		{ FORM "; charset=utf-8", "a=%zz", UM_FOUND, UM_ABSENT },
		{ "application/json", "a=%zz", UM_ABSENT, UM_ABSENT },
		{ "multipart/form-data; boundary=x", "x", UM_ABSENT, UM_BAD },
		{ "", "a=1", UM_ABSENT, UM_ABSENT },
	};

	for (size_t i = 0; i < LENGTH(rows); i++) {
		const struct um_delivery delivery = { .content_type = um_str(
							      rows[i].type),
			.body = um_str(rows[i].text) };
		struct um_parsed parsed = { .delivery = &delivery };

		row_begin("%s: %s", rows[i].type, rows[i].text);
		um_parsed_read(&parsed, &body, UM_NEED_FORM | UM_NEED_MULTIPART,
			true);
		assert_int_equal(parsed.fields[UM_FIELDS_OF_BODY].found,
			rows[i].form);
		assert_int_equal(parsed.multipart_is, rows[i].multipart);
		assert_int_equal(parsed.is_malformed,
			rows[i].form == UM_BAD || rows[i].multipart == UM_BAD);
		um_parsed_free(&parsed);
	}
}

static bool
parses(struct um_str text, bool is_proven, const char *reason)
{
	const struct um_delivery delivery = { .body = text };
	struct um_parsed parsed = { .delivery = &delivery };
	bool ok;

	um_parsed_read(&parsed, &body, UM_NEED_JSON, is_proven);
	ok = parsed.document != NULL;
	if (reason != NULL)
		assert_true(
			str_has(um_str(parsed.json_reason), um_str(reason)));
	um_parsed_free(&parsed);
	return ok;
}

/* JSON with its own signature in it is parsed before anything is known. */
TEST(limits_of_json_that_is_not_proven)
{
	static char text[UM_UNPROVEN_JSON_MAX + 2];
	struct um_buf list = { 0 };

	memset(text, ' ', sizeof(text));
	text[0] = '{';
	text[1] = '}';
	assert_true(parses((struct um_str){ text, UM_UNPROVEN_JSON_MAX }, false,
		NULL));
	assert_false(parses((struct um_str){ text, UM_UNPROVEN_JSON_MAX + 1 },
		false, "has more than 262144 bytes"));
	assert_true(parses((struct um_str){ text, UM_UNPROVEN_JSON_MAX + 1 },
		true, NULL));
	um_buf_puts(&list, "[0");
	for (int i = 0; i < UM_UNPROVEN_VALUES_MAX; i++)
		um_buf_puts(&list, ",0");
	um_buf_puts(&list, "]");
	assert_false(parses(um_buf_str(&list), false, "(after about "));
	assert_true(parses(um_buf_str(&list), true, NULL));
	um_buf_free(&list);
}

TEST(json_that_is_not_there)
{
	const struct um_delivery delivery = { .content_type = STR(FORM),
		.body = STR("other=1") };
	struct um_parsed parsed = { .delivery = &delivery };

	um_parsed_read(&parsed, &in_form, UM_NEED_FORM | UM_NEED_JSON, true);
	assert_null(parsed.document);
	assert_true(str_has(um_str(parsed.json_reason),
		STR("is not in the delivery")));
	um_parsed_free(&parsed);
	assert_false(parses(STR(""), true, "is empty"));
	assert_false(parses(STR("{\"a\":1} x"), true, "(after about 8 bytes)"));
}

TEST(events_are_a_list)
{
	static const struct {
		const char *text;
		bool found;
	} rows[] = {
		{ "{\"events\":[1]}", true },
		{ "{\"events\":[]}", true },
		{ "{\"events\":{}}", false },
		{ "{\"events\":null}", false },
		{ "{}", false },
	};
	struct um_payload payload = { .has_events = true };

	assert_true(um_pointer_compile(&payload.events, "/events"));
	for (size_t i = 0; i < LENGTH(rows); i++) {
		const struct um_delivery delivery = { .body = um_str(
							      rows[i].text) };
		struct um_parsed parsed = { .delivery = &delivery };

		um_parsed_read(&parsed, &payload, UM_NEED_JSON, true);
		assert_row(rows[i].text,
			(parsed.events != NULL) == rows[i].found);
		um_parsed_free(&parsed);
	}
	um_pointer_free(&payload.events);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_what_is_needed),
		cmocka_unit_test(types_of_a_body),
		cmocka_unit_test(limits_of_json_that_is_not_proven),
		cmocka_unit_test(json_that_is_not_there),
		cmocka_unit_test(events_are_a_list),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
