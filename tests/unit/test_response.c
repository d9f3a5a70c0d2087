/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "http/response.h"
#include "support.h"

/* The whole answer to this method; the caller frees *out. */
static void
write_all(struct um_buf *out, const struct um_response *response,
	enum um_method method)
{
	const struct um_request request = { .method = method,
		.id = "0123456789abcdef0123456789abcdef" };

	um_response_write(response, &request, out);
}

/* How often the text is in there. */
static size_t
times(struct um_str whole, const char *text)
{
	size_t len = strlen(text);
	size_t found = 0;

	for (size_t i = 0; i + len <= whole.len; i++)
		found += memcmp(whole.ptr + i, text, len) == 0;
	return found;
}

static const char *const on_every_answer[] = {
	"X-Request-Id: 0123456789abcdef0123456789abcdef\r\n",
	"Cache-Control: no-store\r\n",
	"Referrer-Policy: no-referrer\r\n",
	"X-Content-Type-Options: nosniff\r\n",
	"Cross-Origin-Opener-Policy: same-origin\r\n",
};

TEST(a_response_has_its_headers_and_body)
{
	struct um_response response = { .status = 200 };
	struct um_buf out = { 0 };

	um_buf_puts(&response.body, "<p>body");
	um_response_header(&response, "X-Test", STR("value"));
	write_all(&out, &response, UM_GET);
	assert_false(out.failed);
	assert_memory_equal(out.ptr, "Status: 200\r\n", 13);
	assert_memory_equal(out.ptr + out.len - 11, "\r\n\r\n<p>body", 11);
	assert_int_equal(times(um_buf_str(&out), "\r\n\r\n"), 1);
	assert_int_equal(times(um_buf_str(&out), "Content-Length: 7\r\n"), 1);
	assert_int_equal(times(um_buf_str(&out),
				 "Content-Type: text/html; charset=utf-8\r\n"),
		1);
	assert_int_equal(times(um_buf_str(&out), "X-Test: value\r\n"), 1);
	for (size_t i = 0; i < LENGTH(on_every_answer); i++)
		assert_row(on_every_answer[i],
			times(um_buf_str(&out), on_every_answer[i]) == 1);
	um_buf_free(&out);
	um_response_free(&response);
}

/* RFC 9110 section 9.3.2. */
TEST(head_is_get_without_the_body)
{
	struct um_response response = { .status = 404 };
	struct um_buf get_answer = { 0 };
	struct um_buf head_answer = { 0 };

	um_buf_puts(&response.body, "body");
	write_all(&get_answer, &response, UM_GET);
	write_all(&head_answer, &response, UM_HEAD);
	assert_int_equal(head_answer.len, get_answer.len - 4);
	assert_memory_equal(head_answer.ptr, get_answer.ptr, head_answer.len);
	um_buf_free(&get_answer);
	um_buf_free(&head_answer);
	um_response_free(&response);
}

TEST(a_redirect_has_no_body)
{
	struct um_response response = { 0 };
	struct um_buf out = { 0 };

	um_response_redirect(&response, STR("https://host/path?a=b#c"));
	assert_int_equal(response.status, 303);
	write_all(&out, &response, UM_POST);
	assert_int_equal(times(um_buf_str(&out), "Status: 303\r\n"), 1);
	assert_int_equal(times(um_buf_str(&out),
				 "Location: https://host/path?a=b#c\r\n"),
		1);
	assert_int_equal(times(um_buf_str(&out), "\nContent-Type"), 0);
	assert_int_equal(times(um_buf_str(&out), "Content-Length: 0\r\n"), 1);
	um_buf_free(&out);
	um_response_free(&response);
}

TEST(the_content_type_is_sent)
{
	struct um_response response = { .status = 200,
		.content_type = "application/json" };
	struct um_buf out = { 0 };

	um_buf_puts(&response.body, "{}");
	write_all(&out, &response, UM_GET);
	assert_int_equal(times(um_buf_str(&out),
				 "Content-Type: application/json\r\n"),
		1);
	um_buf_free(&out);
	um_response_free(&response);
	assert_int_equal(response.status, 0);
	assert_null(response.content_type);
}

TEST(a_cookie_has_all_its_attributes)
{
	struct um_response response = { .status = 200 };

	um_response_cookie(&response, "__Host-urlmode", STR("value"), 60,
		"Lax");
	assert_str(um_buf_str(&response.headers),
		"Set-Cookie: __Host-urlmode=value; Path=/; Max-Age=60; Secure; "
		"HttpOnly; SameSite=Lax\r\n");
	um_response_free(&response);
}

/* A CR, LF or NUL anywhere fails the whole answer. */
TEST(a_line_break_in_a_value_fails_the_response)
{
	const struct um_str bad[] = {
		STR("/x\r\nSet-Cookie: a=b"),
		STR("/x\nb"),
		STR("/x\rb"),
		STR("\n"),
		STR("/x\r"),
		STR("\n/x"),
		STR("/x\0b"),
	};

	for (size_t i = 0; i < LENGTH(bad); i++) {
		struct um_response response = { 0 };
		struct um_buf out = { 0 };

		row_begin("%s", bad[i].ptr);
		um_response_redirect(&response, bad[i]);
		assert_row(bad[i].ptr, response.headers.failed);
		write_all(&out, &response, UM_GET);
		assert_true(out.failed);
		assert_int_equal(times(um_buf_str(&out), "Set-Cookie"), 0);
		um_buf_free(&out);
		um_response_free(&response);
	}
}

TEST(a_separator_in_a_cookie_fails_the_response)
{
	static const char *const bad[] = { "a\r\nLocation: /", "a\nb", "a\rb",
		"a; Domain=example.com" };

	for (size_t i = 0; i < LENGTH(bad); i++) {
		struct um_response response = { .status = 200 };

		row_begin("%s", bad[i]);
		um_response_header(&response, "X", um_str(bad[i]));
		assert_int_equal(response.headers.failed, i < 3);
		um_response_free(&response);
		um_response_cookie(&response, "__Host-urlmode", um_str(bad[i]),
			60, "Lax");
		assert_row(bad[i], response.headers.failed);
		um_response_free(&response);
	}
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_response_has_its_headers_and_body),
		cmocka_unit_test(head_is_get_without_the_body),
		cmocka_unit_test(a_redirect_has_no_body),
		cmocka_unit_test(the_content_type_is_sent),
		cmocka_unit_test(a_cookie_has_all_its_attributes),
		cmocka_unit_test(a_line_break_in_a_value_fails_the_response),
		cmocka_unit_test(a_separator_in_a_cookie_fails_the_response),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
