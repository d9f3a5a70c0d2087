/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>

#include "operate/saved_request.h"
#include "support.h"

static bool
read_text(struct um_saved_request *request, const char *text,
	struct um_error *err)
{
	char *path = file_make(um_str(text), 0600);
	bool ok;

	*request = (struct um_saved_request){ 0 };
	ok = um_saved_request_read(request, path, err);
	file_remove(path);
	return ok;
}

TEST(line_headers_and_body)
{
	static const struct {
		const char *label;
		const char *text;
		const char *line, *query, *type, *body;
		bool is_get;
	} rows[] = {
		{ "all",
			"POST /webhook/x?a=b HTTP/1.1\r\nContent-Type:  "
			"text/plain \r\n\r\nbody\r\n",
			"POST /webhook/x?a=b HTTP/1.1", "a=b", "text/plain",
			"body\r\n", false },
		{ "no first line", "content-type: a/b\n\nbody", "", "", "a/b",
			"body", false },
		{ "a body with an empty line", "A: b\n\none\n\ntwo", "", "",
			NULL, "one\n\ntwo", false },
		{ "no body", "GET /webhook/x?hub=1\nA: b\n",
			"GET /webhook/x?hub=1", "hub=1", NULL, "", true },
		{ "no headers", "\nbody", "", "", NULL, "body", false },
		{ "the last of a name", "Content-Type: a\ncontent-type: b\n\n",
			"", "", "b", "", false },
	};

	for (size_t i = 0; i < LENGTH(rows); i++) {
		struct um_saved_request request;
		struct um_error err = { "" };
		const char *type;

		row_begin("%s", rows[i].label);
		assert_true(read_text(&request, rows[i].text, &err));
		assert_str(request.line, rows[i].line);
		assert_str(request.query, rows[i].query);
		assert_str(request.body, rows[i].body);
		assert_int_equal(request.is_get, rows[i].is_get);
		type = um_saved_request_header("CONTENT-TYPE", &request);
		assert_str(um_str(type),
			rows[i].type != NULL ? rows[i].type : "");
		um_saved_request_free(&request);
	}
}

TEST(lines_that_are_no_header)
{
	static const struct {
		const char *text;
		const char *reason;
	} rows[] = {
		{ "A: b\nno colon\n\n", ":2: is not `Name: value`" },
		{ ": value\n\n", ":1: is not `Name: value`" },
		{ "A: b\nPOST /x HTTP/1.1\n\n", ":2: is not `Name: value`" },
	};

	for (size_t i = 0; i < LENGTH(rows); i++) {
		struct um_saved_request request;
		struct um_error err = { "" };

		row_begin("%s", rows[i].reason);
		assert_false(read_text(&request, rows[i].text, &err));
		assert_true(str_has(um_str(err.text), um_str(rows[i].reason)));
		um_saved_request_free(&request);
	}
}

TEST(too_many_headers)
{
	struct um_saved_request request = { 0 };
	char name[16];

	for (int i = 0; i < UM_SAVED_HEADERS_MAX; i++) {
		snprintf(name, sizeof(name), "name-%d", i);
		assert_true(um_saved_request_set(&request, name, STR("x")));
	}
	assert_false(um_saved_request_set(&request, "one-more", STR("x")));
	assert_true(um_saved_request_set(&request, "NAME-0", STR("y")));
	assert_string_equal(um_saved_request_header("name-0", &request), "y");
	um_saved_request_free(&request);
}

/* What is written can be read again. */
TEST(there_and_back)
{
	static const char text[] = "POST /x HTTP/1.1\nA: b\nC: d\n\nbody";
	struct um_saved_request request;
	struct um_error err = { "" };
	struct um_buf out = { 0 };

	assert_true(read_text(&request, text, &err));
	um_saved_request_put(&request, &out);
	assert_str(um_buf_str(&out), text);
	um_buf_free(&out);
	um_saved_request_free(&request);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(line_headers_and_body),
		cmocka_unit_test(lines_that_are_no_header),
		cmocka_unit_test(too_many_headers),
		cmocka_unit_test(there_and_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
