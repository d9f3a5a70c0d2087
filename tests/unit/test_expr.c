/* SPDX-License-Identifier: MIT */
/* Each place that a value comes from, and each function over values. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "description/scheme_load.h"
#include "support.h"

#define FORM "application/x-www-form-urlencoded"
#define MULTIPART "multipart/form-data; boundary=x"
#define PART                                                                   \
	"--x\r\nContent-Disposition: form-data; name=\"json\"\r\n\r\n"         \
	"{\"a\":\"inside\"}\r\n--x--"
#define DOCUMENT                                                               \
	"{\"text\":\"t\",\"number\":7,\"yes\":true,\"none\":null,\"empty\":"   \
	"\"\","                                                                \
	"\"real\":1.5,\"list\":[1],\"marks\":\"a:b\",\"deep\":{\"er\":\"d\"}," \
	"\"fields\":[{\"name\":\"a\",\"value\":\"1\"},"                        \
	"{\"name\":\"b\",\"value\":{\"v\":\"2\"}},{\"value\":\"x\"},3,"        \
	"{\"name\":\"c\"},{\"name\":\"d\",\"value\":\"4\"},"                   \
	"{\"name\":\"d\",\"value\":\"5\"}]}"

static const char *
constant(const char *name, size_t index, void *arg)
{
	(void)arg;
	if (strcmp(name, "keys") == 0)
		return index == 0 ? "k1" : index == 1 ? "k2" : NULL;
	return index == 0
			&& (strcmp(name, "url") == 0
				|| strcmp(name, "notification_url") == 0)
		? "https://here.example/"
		: NULL;
}

static const char *
header(const char *name, void *arg)
{
	static const char *const headers[][2] = { { "x-one", "1" },
		{ "x-same", "1" }, { "x-other", "2" }, { "x-empty", "" } };

	(void)arg;
	for (size_t i = 0; i < LENGTH(headers); i++)
		if (strcasecmp(headers[i][0], name) == 0)
			return headers[i][1];
	return NULL;
}

/* JSON in a form needs the form. */
static unsigned
needs_of(const struct um_expr *expr, const struct um_payload *payload)
{
	unsigned needs = um_expr_needs(expr);

	if ((needs & UM_NEED_JSON) != 0 && payload->part == UM_PAYLOAD_FORM)
		needs |= UM_NEED_FORM;
	if ((needs & UM_NEED_JSON) != 0
		&& payload->part == UM_PAYLOAD_MULTIPART)
		needs |= UM_NEED_MULTIPART;
	return needs;
}

/* What a value makes of a delivery; the text is the caller's to free. */
static enum um_found
put(const char *json, const struct um_delivery *delivery,
	const struct um_payload *payload, bool *ambiguous, struct um_buf *out)
{
	const struct um_expr_scope scope = { .constant = constant,
		.has_items = true,
		.has_params = true };
	json_t *node = json_pack("{s:o}", "value",
		json_loads(json, JSON_DECODE_ANY, NULL));
	struct um_json_node *item =
		um_json_parse(STR("{\"a\": \"of the item\"}"),
			UM_JSON_VALUES_MAX, NULL);
	struct um_parsed parsed = { .delivery = delivery };
	struct um_params params;
	const struct um_source source = { .parsed = &parsed,
		.item = item,
		.params = &params };
	struct um_error err;
	struct um_conf_loc at = um_conf_root("value", &err);
	struct um_expr expr;
	struct um_value value;
	enum um_found found;

	assert_non_null(node);
	if (!um_expr_load(&expr, &at, node, "value", &scope))
		fail_msg("%s: %s", json, err.text);
	assert_true(um_scheme_split_params(&params, STR("t=12,v1=a,v1=b,x="),
		",", "="));
	um_parsed_read(&parsed, payload, needs_of(&expr, payload), true);
	found = um_expr_eval(&expr, &source, &value);
	um_buf_put(out, value.text.ptr, value.text.len);
	*ambiguous = value.is_ambiguous;
	um_value_free(&value);
	um_expr_free(&expr);
	um_parsed_free(&parsed);
	json_decref(node);
	free(item);
	return found;
}

struct row {
	const char *json;
	enum um_found found;
	const char *text; /* where it is found */
	bool ambiguous;
};

static void
try_rows(const struct row *rows, size_t len, const struct um_delivery *delivery,
	const struct um_payload *payload)
{
	for (size_t i = 0; i < len; i++) {
		struct um_buf out = { 0 };
		bool ambiguous;
		enum um_found found = put(rows[i].json, delivery, payload,
			&ambiguous, &out);

		assert_row(rows[i].json, found == rows[i].found);
		if (found == UM_FOUND)
			assert_str(um_buf_str(&out), rows[i].text);
		assert_row(rows[i].json, ambiguous == rows[i].ambiguous);
		um_buf_free(&out);
	}
}

TEST(of_a_json_body)
{
	static const struct row rows[] = {
		{ "\"literal\"", UM_FOUND, "literal", false },
		{ "{\"site\":\"url\"}", UM_FOUND, "https://here.example/",
			false },
		{ "{\"header\":\"x-one\"}", UM_FOUND, "1", false },
		{ "{\"header\":\"x-none\"}", UM_ABSENT, NULL, false },
		{ "{\"header\":\"x-empty\"}", UM_ABSENT, NULL, false },
		{ "{\"header\":[\"x-none\",\"x-one\"]}", UM_FOUND, "1", false },
		{ "{\"header\":[\"x-one\",\"x-same\"]}", UM_FOUND, "1", false },
		{ "{\"header\":[\"x-one\",\"x-other\"]}", UM_BAD, NULL, false },
		{ "{\"lower\":\"ORD01-Ä z\"}", UM_FOUND, "ord01-Ä z", false },
		{ "{\"lower\":{\"header\":\"x-none\"}}", UM_ABSENT, NULL,
			false },
		{ "{\"lower\":{\"header\":[\"x-one\",\"x-other\"]}}", UM_BAD,
			NULL, false },
		{ "{\"query\":\"a\"}", UM_FOUND, "1 2", false },
		{ "{\"query\":\"empty\"}", UM_ABSENT, NULL, false },
		{ "{\"query\":\"none\"}", UM_ABSENT, NULL, false },
		{ "{\"form\":\"a\"}", UM_ABSENT, NULL, false },
		{ "{\"multipart\":\"a\"}", UM_ABSENT, NULL, false },
		{ "{\"json\":\"/text\"}", UM_FOUND, "t", false },
		{ "{\"json\":\"/number\"}", UM_FOUND, "7", false },
		{ "{\"json\":\"/yes\"}", UM_FOUND, "true", false },
		{ "{\"json\":\"/deep/er\"}", UM_FOUND, "d", false },
		{ "{\"json\":\"/list/0\"}", UM_FOUND, "1", false },
		{ "{\"json\":\"/none\"}", UM_ABSENT, NULL, false },
		{ "{\"json\":\"/empty\"}", UM_ABSENT, NULL, false },
		{ "{\"json\":\"/missing/deeper\"}", UM_ABSENT, NULL, false },
		{ "{\"json\":\"/real\"}", UM_FOUND, "1.5", false },
		{ "{\"json\":\"/list\"}", UM_BAD, NULL, false },
		{ "{\"json\":\"/deep\"}", UM_BAD, NULL, false },
		{ "{\"json\":\"\"}", UM_BAD, NULL, false },
		{ "{\"item\":\"/a\"}", UM_FOUND, "of the item", false },
		{ "{\"item\":\"/b\"}", UM_ABSENT, NULL, false },
		{ "{\"signature\":\"t\"}", UM_FOUND, "12", false },
		{ "{\"signature\":\"v1\"}", UM_BAD, NULL, false },
		{ "{\"signature\":\"x\"}", UM_ABSENT, NULL, false },
		{ "{\"signature\":\"y\"}", UM_ABSENT, NULL, false },
		{ "{\"body\":\"raw\"}", UM_FOUND, DOCUMENT, false },
	};
	const struct um_delivery delivery = { .query = STR("a=1+2&empty="),
		.content_type = STR("application/json"),
		.body = STR(DOCUMENT),
		.header = header };
	const struct um_payload payload = { 0 };

	try_rows(rows, LENGTH(rows), &delivery, &payload);
}

TEST(of_a_list_of_named_values)
{
#define FIELD(name, value)                                                     \
	"{\"json\":\"/fields\",\"where\":\"/name\",\"is\":\"" name             \
	"\",\"value\":\"" value "\"}"
	static const struct row rows[] = {
		{ FIELD("a", "/value"), UM_FOUND, "1", false },
		{ FIELD("b", "/value/v"), UM_FOUND, "2", false },
		{ FIELD("b", "/value"), UM_BAD, NULL, false },
		{ FIELD("c", "/value"), UM_ABSENT, NULL, false },
		{ FIELD("e", "/value"), UM_ABSENT, NULL, false },
		/* There are two, and either could be meant. */
		{ FIELD("d", "/value"), UM_BAD, NULL, false },
		{ "{\"json\":\"/text\",\"where\":\"/a\",\"is\":\"b\","
		  "\"value\":\"/c\"}",
			UM_ABSENT, NULL, false },
		{ "{\"json\":\"/none\",\"where\":\"/a\",\"is\":\"b\","
		  "\"value\":\"/c\"}",
			UM_ABSENT, NULL, false },
	};
	const struct um_delivery delivery = { .body = STR(DOCUMENT),
		.header = header };
	const struct um_payload payload = { 0 };

	try_rows(rows, LENGTH(rows), &delivery, &payload);
}

TEST(functions)
{
	static const struct row rows[] = {
		{ "{\"crc32\":\"123456789\"}", UM_FOUND, "3421780262", false },
		{ "{\"crc32\":{\"json\":\"/none\"}}", UM_FOUND, "0", false },
		{ "{\"crc32\":{\"json\":\"/list\"}}", UM_BAD, NULL, false },
		{ "{\"join\":[\"a\",{\"json\":\"/text\"}],\"with\":\":\"}",
			UM_FOUND, "a:t", false },
		{ "{\"join\":[\"a\",{\"json\":\"/none\"},{\"json\":\"/text\"}],"
		  "\"with\":\":\"}",
			UM_FOUND, "a::t", false },
		{ "{\"join\":[{\"json\":\"/none\"},\"a\"],\"with\":\":\"}",
			UM_ABSENT, NULL, false },
		{ "{\"join\":[{\"json\":\"/text\"},{\"json\":\"/list\"}],"
		  "\"with\":\":\"}",
			UM_BAD, NULL, false },
		{ "{\"join\":[{\"json\":\"/text\"},{\"json\":\"/number\"}],"
		  "\"with\":\"\"}",
			UM_FOUND, "t7", false },
		/* A mark in a value. */
		{ "{\"join\":[{\"json\":\"/marks\"},{\"json\":\"/text\"}],"
		  "\"with\":\":\"}",
			UM_FOUND, "a:b:t", true },
		{ "{\"join\":[{\"json\":\"/text\"},{\"json\":\"/marks\"}],"
		  "\"with\":\":\"}",
			UM_FOUND, "t:a:b", true },
		{ "{\"join\":[{\"json\":\"/marks\"},{\"json\":\"/text\"}],"
		  "\"with\":\"|\"}",
			UM_FOUND, "a:b|t", false },
		{ "{\"first\":[{\"json\":\"/none\"},{\"json\":\"/empty\"},"
		  "{\"json\":\"/text\"},{\"json\":\"/number\"}]}",
			UM_FOUND, "t", false },
		{ "{\"first\":[{\"json\":\"/none\"},\"otherwise\"]}", UM_FOUND,
			"otherwise", false },
		{ "{\"first\":[{\"json\":\"/none\"},{\"json\":\"/empty\"}]}",
			UM_ABSENT, NULL, false },
		{ "{\"first\":[{\"json\":\"/list\"},{\"json\":\"/text\"}]}",
			UM_BAD, NULL, false },
		{ "{\"first\":[{\"join\":[{\"json\":\"/none\"},\"x\"],"
		  "\"with\":\":\"},{\"json\":\"/text\"}]}",
			UM_FOUND, "t", false },
	};
	const struct um_delivery delivery = { .body = STR(DOCUMENT),
		.header = header };
	const struct um_payload payload = { 0 };

	try_rows(rows, LENGTH(rows), &delivery, &payload);
}

TEST(of_a_form)
{
	static const struct row rows[] = {
		{ "{\"form\":\"b\"}", UM_FOUND, "2&3", false },
		{ "{\"form\":\"none\"}", UM_ABSENT, NULL, false },
		{ "{\"json\":\"/a\"}", UM_FOUND, "1", false },
		{ "{\"sorted_query\":{}}", UM_FOUND,
			"B=x&a=&b=2%263&ba=4=5&q=", false },
		{ "{\"sorted_query\":{\"without\":[\"b\",\"q\"]}}", UM_FOUND,
			"B=x&a=&ba=4=5", false },
		{ "{\"sorted_query\":{\"without\":[\"B\",\"a\",\"b\",\"ba\","
		  "\"q\"]}}",
			UM_ABSENT, NULL, false },
	};
	const struct um_delivery delivery = {
		.query = STR("ba=4=5&b=2%263&a=&&B=x&q&="),
		.content_type = STR(FORM "; charset=UTF-8"),
		.body = STR("ba=4&b=2%263&a=&B=x&json=%7B%22a%22%3A1%7D"),
		.header = header
	};
	char name[] = "json";
	const struct um_payload payload = { .part = UM_PAYLOAD_FORM,
		.field = name };

	try_rows(rows, LENGTH(rows), &delivery, &payload);
}

TEST(of_a_multipart_body)
{
	static const struct row rows[] = {
		{ "{\"multipart\":\"json\"}", UM_FOUND, "{\"a\":\"inside\"}",
			false },
		{ "{\"multipart\":\"none\"}", UM_ABSENT, NULL, false },
		{ "{\"json\":\"/a\"}", UM_FOUND, "inside", false },
		{ "{\"form\":\"json\"}", UM_ABSENT, NULL, false },
	};
	const struct um_delivery delivery = { .content_type = STR(MULTIPART),
		.body = STR(PART),
		.header = header };
	char name[] = "json";
	const struct um_payload payload = { .part = UM_PAYLOAD_MULTIPART,
		.field = name };

	try_rows(rows, LENGTH(rows), &delivery, &payload);
}

TEST(what_cannot_be_read_is_bad)
{
	static const struct row rows[] = {
		{ "{\"query\":\"a\"}", UM_BAD, NULL, false },
		{ "{\"sorted_query\":{}}", UM_BAD, NULL, false },
		{ "{\"form\":\"a\"}", UM_BAD, NULL, false },
		{ "{\"json\":\"/a\"}", UM_BAD, NULL, false },
		{ "{\"first\":[{\"query\":\"a\"},\"x\"]}", UM_BAD, NULL,
			false },
		{ "{\"body\":\"raw\"}", UM_FOUND, "a=1&a=2", false },
	};
	const struct um_delivery delivery = { .query = STR("a=1&a=2"),
		.content_type = STR(FORM),
		.body = STR("a=1&a=2"),
		.header = header };
	const struct um_payload payload = { 0 };

	try_rows(rows, LENGTH(rows), &delivery, &payload);
}

/* As they were sent, and byte for byte, as Shopify signs them. */
TEST(fields_of_a_query_are_sorted)
{
	static const struct {
		const char *query, *expected; /* NULL: no field is left */
	} rows[] = {
		{ "b=2&a=1", "a=1&b=2" },
		{ "a=1&B=2", "B=2&a=1" },
		{ "ab=1&a=2", "a=2&ab=1" },
		{ "b=%C3%A9+x&a=%41", "a=%41&b=%C3%A9+x" },
		{ "a=b=c&a2=&a1", "a=b=c&a1=&a2=" },
		{ "&&b=1&=&&a=2&", "a=2&b=1" },
		{ "=x&a=1", "=x&a=1" },
		{ "left=1&a=2&out=3", "a=2" },
		{ "left=1&out=2", NULL },
		{ "", NULL },
	};
	const struct um_payload payload = { 0 };

	for (size_t i = 0; i < LENGTH(rows); i++) {
		const struct um_delivery delivery = { .header = header,
			.query = um_str(rows[i].query) };
		struct um_buf out = { 0 };
		bool ambiguous;

		row_begin("%s", rows[i].query);
		assert_int_equal(put("{\"sorted_query\": {\"without\": "
				     "[\"left\", \"out\"]}}",
					 &delivery, &payload, &ambiguous, &out),
			rows[i].expected != NULL ? UM_FOUND : UM_ABSENT);
		assert_str(um_buf_str(&out),
			rows[i].expected != NULL ? rows[i].expected : "");
		um_buf_free(&out);
	}
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(of_a_json_body),
		cmocka_unit_test(of_a_list_of_named_values),
		cmocka_unit_test(functions),
		cmocka_unit_test(of_a_form),
		cmocka_unit_test(of_a_multipart_body),
		cmocka_unit_test(what_cannot_be_read_is_bad),
		cmocka_unit_test(fields_of_a_query_are_sorted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
