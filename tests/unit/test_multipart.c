/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "http/multipart.h"
#include "support.h"

/* The bytes of a literal, for a table. */
#define BYTES(literal)                                                         \
	{                                                                      \
		(literal), sizeof(literal) - 1                                 \
	}

#define TYPE "multipart/form-data; boundary=x"
#define NAMED(name) "Content-Disposition: form-data; name=\"" name "\"\r\n"

TEST(fields_are_found_and_files_skipped)
{
	static const char body[] = "--x\r\n" NAMED(
		"json") "\r\n{\"a\":1}\r\n"
			"--x\r\nContent-Type: text/plain\r\n" NAMED(
				"empty") "\r\n\r\n"
					 "--x\r\ncontent-disposition:form-data;"
					 "name=plain\r\n\r\n"
					 "two\r\nlines --x\r\n"
					 "--x\r\nContent-Disposition: "
					 "form-data; name=\"file\"; "
					 "filename=\"a.pdf\"\r\n\r\n%PDF\r\n--"
					 "x--\r\n";
	struct um_multipart multipart;

	assert_true(um_multipart_parse(&multipart, STR(TYPE), STR(body)));
	assert_int_equal(multipart.len, 3);
	assert_str(um_multipart_get(&multipart, "json"), "{\"a\":1}");
	assert_str(um_multipart_get(&multipart, "empty"), "");
	assert_str(um_multipart_get(&multipart, "plain"), "two\r\nlines --x");
	assert_null(um_multipart_get(&multipart, "file").ptr);
	assert_null(um_multipart_get(&multipart, "none").ptr);
}

TEST(content_types_are_checked)
{
	static const struct {
		const char *type;
		bool good;
	} cases[] = {
		{ "multipart/form-data; boundary=x", true },
		{ "multipart/form-data;boundary=x", true },
		{ "Multipart/Form-Data; Boundary=\"x\"", true },
		{ "multipart/form-data; charset=utf-8; boundary=x", true },
		{ "multipart/form-data; boundary=x ; charset=utf-8", true },
		{ "multipart/form-data; baundary=y; boundary=x", true },
		{ "multipart/form-data", false },
		{ "multipart/form-data; boundary=", false },
		{ "multipart/form-data; boundary=\"\"", false },
		{ "multipart/form-data; boundary=\"x", false },
		{ "multipart/form-data; boundary=\"x\\\"\"", false },
		{ "multipart/form-data; boundary=x; other=\"a\\b\"", false },
		{ "multipart/form-data; boundary=x; boundary=x", false },
		{ "multipart/form-data; boundary=y", false },
		{ "multipart/form-data; boundary", false },
		{ "multipart/form-data boundary=x", false },
		{ "multipart/form-data2; boundary=x", false },
		{ "multipart/mixed; boundary=x", false },
		{ "application/json", false },
		{ "", false },
	};
	static const char body[] = "--x\r\n" NAMED("a") "\r\n1\r\n--x--";

	for (size_t i = 0; i < LENGTH(cases); i++) {
		struct um_multipart multipart;

		assert_row(cases[i].type,
			um_multipart_parse(&multipart, um_str(cases[i].type),
				STR(body))
				== cases[i].good);
	}
}

TEST(bodies_are_checked)
{
	static const struct {
		struct um_str body;
		bool good;
	} cases[] = {
		{ BYTES("--x\r\n" NAMED("a") "\r\n1\r\n--x--"), true },
		{ BYTES("--x\r\n" NAMED("a") "\r\n1\r\n--x--\r\n"), true },
		{ BYTES("--x--"), true },
		{ BYTES("--x\r\n" NAMED("a") "X-Other: y\r\n\r\n\0\r\n--x--"),
			true },
		/* Anything before, after or missing. */
		{ BYTES("\r\n--x\r\n" NAMED("a") "\r\n1\r\n--x--"), false },
		{ BYTES("--x\r\n" NAMED("a") "\r\n1\r\n--x--x"), false },
		{ BYTES("--x\r\n" NAMED("a") "\r\n1\r\n--x"), false },
		{ BYTES("--x\r\n" NAMED("a") "\r\n1"), false },
		{ BYTES("--x\r\n" NAMED("a")), false },
		{ BYTES("--x\n" NAMED("a") "\r\n1\r\n--x--"), false },
		{ BYTES("--xy\r\n" NAMED("a") "\r\n1\r\n--xy--"), false },
		{ BYTES("-"), false },
		{ BYTES(""), false },
		/* Parts that are not named, or by two names. */
		{ BYTES("--x\r\n\r\n1\r\n--x--"), false },
		{ BYTES("--x\r\nContent-Type: text/plain\r\n\r\n1\r\n--x--"),
			false },
		{ BYTES("--x\r\n" NAMED("") "\r\n1\r\n--x--"), false },
		{ BYTES("--x\r\n" NAMED("a") NAMED("b") "\r\n1\r\n--x--"),
			false },
		{ BYTES("--x\r\nContent-Disposition: form-data; name=a; name=b"
			"\r\n\r\n1\r\n--x--"),
			false },
		{ BYTES("--x\r\nContent-Disposition: attachment; name=a"
			"\r\n\r\n1\r\n--x--"),
			false },
		/* A backslash: before a quote, and anywhere else. */
		{ BYTES("--x\r\n" NAMED("a\\\"b") "\r\n1\r\n--x--"), false },
		{ BYTES("--x\r\n" NAMED("a\\b") "\r\n1\r\n--x--"), false },
		{ BYTES("--x\r\nno colon\r\n" NAMED("a") "\r\n1\r\n--x--"),
			false },
		{ BYTES("--x\r\n: \r\n" NAMED("a") "\r\n1\r\n--x--"), false },
		{ BYTES("--x\r\nContent-Transfer-Encoding: base64\r\n" NAMED(
			  "a") "\r\nMQ==\r\n--x--"),
			false },
	};

	for (size_t i = 0; i < LENGTH(cases); i++) {
		struct um_multipart multipart;

		assert_row(cases[i].body.ptr,
			um_multipart_parse(&multipart, STR(TYPE), cases[i].body)
				== cases[i].good);
	}
}

/* It is nobody's error where nobody reads it. */
TEST(a_field_that_is_there_twice_is_unreadable)
{
	static const char body[] =
		"--x\r\n" NAMED("a") "\r\n1\r\n--x\r\n" NAMED(
			"b") "\r\n3\r\n--x\r\n" NAMED("a") "\r\n1\r\n--x--";
	struct um_multipart multipart;

	assert_true(um_multipart_parse(&multipart, STR(TYPE), STR(body)));
	assert_true(um_multipart_field(&multipart, "a")->unreadable);
	assert_null(um_multipart_get(&multipart, "a").ptr);
	assert_false(um_multipart_field(&multipart, "b")->unreadable);
	assert_str(um_multipart_get(&multipart, "b"), "3");
	assert_null(um_multipart_field(&multipart, "c"));
}

TEST(one_field_over_the_limit_is_refused)
{
	for (size_t more = 0; more < 2; more++) {
		struct um_multipart multipart;
		struct um_buf body = { 0 };

		for (size_t i = 0; i < UM_MULTIPART_FIELDS_MAX + more; i++)
			um_buf_printf(&body,
				"--x\r\nContent-Disposition: form-data; "
				"name=\"f%zu\"\r\n\r\n%zu\r\n",
				i, i);
		um_buf_puts(&body, "--x--\r\n");
		assert_int_equal(um_multipart_parse(&multipart, STR(TYPE),
					 um_buf_str(&body)),
			more == 0);
		um_buf_free(&body);
	}
}

TEST(one_character_over_the_boundary_limit_is_refused)
{
	for (size_t len = 69; len < 72; len++) {
		struct um_buf type = { 0 }, body = { 0 };
		struct um_multipart multipart;
		char boundary[80];

		memset(boundary, 'b', sizeof(boundary));
		boundary[len] = '\0';
		um_buf_printf(&type, "multipart/form-data; boundary=%s",
			boundary);
		um_buf_printf(&body, "--%s\r\n" NAMED("a") "\r\n1\r\n--%s--",
			boundary, boundary);
		assert_int_equal(um_multipart_parse(&multipart,
					 um_buf_str(&type), um_buf_str(&body)),
			len <= 70);
		um_buf_free(&type);
		um_buf_free(&body);
	}
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(fields_are_found_and_files_skipped),
		cmocka_unit_test(content_types_are_checked),
		cmocka_unit_test(bodies_are_checked),
		cmocka_unit_test(a_field_that_is_there_twice_is_unreadable),
		cmocka_unit_test(one_field_over_the_limit_is_refused),
		cmocka_unit_test(
			one_character_over_the_boundary_limit_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
