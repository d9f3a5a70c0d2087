/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "http/http.h"
#include "support.h"

struct variable {
	const char *name;
	const char *value;
};

/* A CGI environment: an array that ends with a name of NULL. */
static const char *
get(const char *name, void *arg)
{
	const struct variable *v = arg;

	while (v->name != NULL && strcmp(v->name, name) != 0)
		v++;
	return v->value;
}

static struct um_request
read_request(struct variable *variables, struct um_buf *path)
{
	struct um_request request;

	um_request_read(&request, path, get, variables);
	return request;
}

TEST(a_request_from_meta_variables)
{
	struct variable variables[] = {
		{ "REQUEST_METHOD", "POST" },
		{ "SCRIPT_NAME", "/oauth" },
		{ "PATH_INFO", "/demo/return" },
		{ "QUERY_STRING", "a=b" },
		{ "CONTENT_TYPE", "text/plain" },
		{ "HTTP_COOKIE", "c=v" },
		{ "HTTP_STRIPE_SIGNATURE", "t=1" },
		{ NULL, NULL },
	};
	struct um_buf path = { 0 };
	struct um_request request = read_request(variables, &path);

	assert_int_equal(request.method, UM_POST);
	assert_str(request.path, "/oauth/demo/return");
	assert_str(request.query, "a=b");
	assert_str(request.content_type, "text/plain");
	assert_str(request.cookie, "c=v");
	assert_false(request.prefetch);
	assert_int_equal(request.body.len, 0);
	assert_string_equal(request.id, "");
	assert_string_equal(um_request_header("stripe-Signature", &request),
		"t=1");
	assert_string_equal(um_request_header("content-TYPE", &request),
		"text/plain");
	assert_null(um_request_header("other", &request));
	um_buf_free(&path);
}

TEST(a_request_from_nothing)
{
	struct variable variables[] = { { NULL, NULL } };
	struct um_buf path = { 0 };
	struct um_request request = read_request(variables, &path);

	assert_int_equal(request.method, UM_OTHER_METHOD);
	assert_int_equal(request.path.len, 0);
	assert_int_equal(request.query.len, 0);
	assert_int_equal(request.cookie.len, 0);
	assert_false(um_request_is_form(&request));
	um_buf_free(&path);
}

TEST(a_headers_name_has_its_limit)
{
	char variable[sizeof("HTTP_") + UM_HEADER_NAME_MAX + 1] = "HTTP_";
	char name[UM_HEADER_NAME_MAX + 2];
	struct variable variables[] = { { variable, "v" }, { NULL, NULL } };
	struct um_buf path = { 0 };
	struct um_request request = read_request(variables, &path);

	memset(name, 'x', sizeof(name));
	for (size_t over = 0; over < 2; over++) {
		size_t len = UM_HEADER_NAME_MAX + over;

		name[len] = '\0';
		memset(variable + 5, 'X', len);
		variable[5 + len] = '\0';
		assert_int_equal(um_request_header(name, &request) != NULL,
			over == 0);
		name[len] = 'x';
	}
	um_buf_free(&path);
}

TEST(methods_are_upper_case_and_whole)
{
	static const struct {
		const char *name;
		enum um_method method;
	} cases[] = {
		{ "GET", UM_GET },
		{ "HEAD", UM_HEAD },
		{ "POST", UM_POST },
		{ "get", UM_OTHER_METHOD },
		{ "GETX", UM_OTHER_METHOD },
		{ "GE", UM_OTHER_METHOD },
		{ "", UM_OTHER_METHOD },
		{ "PUT", UM_OTHER_METHOD },
		{ "OPTIONS", UM_OTHER_METHOD },
		{ "-", UM_OTHER_METHOD },
	};

	for (size_t i = 0; i < LENGTH(cases); i++) {
		struct variable variables[] = {
			{ "REQUEST_METHOD", cases[i].name },
			{ NULL, NULL },
		};
		struct um_buf path = { 0 };

		assert_row(cases[i].name,
			read_request(variables, &path).method
				== cases[i].method);
		um_buf_free(&path);
	}
}

TEST(who_only_looks_ahead)
{
	static const struct {
		struct variable header;
		bool prefetch;
	} cases[] = {
		{ { "HTTP_SEC_PURPOSE", "prefetch" }, true },
		{ { "HTTP_SEC_PURPOSE", "prefetch;prerender" }, true },
		{ { "HTTP_SEC_PURPOSE", "prefetch;anonymous-client-ip" },
			true },
		{ { "HTTP_SEC_PURPOSE", "PREFETCH" }, true },
		{ { "HTTP_PURPOSE", "prefetch" }, true },
		{ { "HTTP_PURPOSE", "preview" }, true },
		{ { "HTTP_X_PURPOSE", "preview" }, true },
		{ { "HTTP_X_MOZ", "prefetch" }, true },
		{ { "HTTP_SEC_PURPOSE", "" }, false },
		{ { "HTTP_SEC_PURPOSE", "navigate" }, false },
		{ { "HTTP_X_OTHER", "prefetch" }, false },
	};

	for (size_t i = 0; i < LENGTH(cases); i++) {
		struct variable variables[] = { cases[i].header,
			{ NULL, NULL } };
		struct um_buf path = { 0 };

		assert_row(cases[i].header.value,
			read_request(variables, &path).prefetch
				== cases[i].prefetch);
		um_buf_free(&path);
	}
}

TEST(what_says_that_it_is_a_form)
{
	static const struct {
		const char *type;
		bool is_form;
	} cases[] = {
		{ "application/x-www-form-urlencoded", true },
		{ "Application/X-WWW-Form-Urlencoded", true },
		{ "application/x-www-form-urlencoded; charset=UTF-8", true },
		{ "application/x-www-form-urlencoded ; charset=UTF-8", true },
		{ "application/x-www-form-urlencodedx", false },
		{ "application/x-www-form-urlencode", false },
		{ "application/x-www-form-urlencoded,text/plain", false },
		{ " application/x-www-form-urlencoded", false },
		{ "multipart/form-data; boundary=x", false },
		{ "application/json", false },
		{ "text/plain", false },
		{ "", false },
	};

	for (size_t i = 0; i < LENGTH(cases); i++) {
		struct um_request request = { .content_type = um_str(
						      cases[i].type) };

		assert_row(cases[i].type,
			um_request_is_form(&request) == cases[i].is_form);
	}
}

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

TEST(an_answer_and_its_body)
{
	struct um_response response = { .status = 200 };
	struct um_buf out = { 0 };

	um_buf_puts(&response.body, "<p>body");
	um_response_header(&response, "X-Test", "value");
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

TEST(an_answer_without_a_body)
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

TEST(other_types_and_allow)
{
	struct um_response response = { .status = 405,
		.content_type = "application/json",
		.allow = "GET, POST" };
	struct um_buf out = { 0 };

	um_buf_puts(&response.body, "{}");
	write_all(&out, &response, UM_GET);
	assert_int_equal(times(um_buf_str(&out),
				 "Content-Type: application/json\r\n"),
		1);
	assert_int_equal(times(um_buf_str(&out), "Allow: GET, POST\r\n"), 1);
	um_buf_free(&out);
	um_response_free(&response);
	assert_int_equal(response.status, 0);
	assert_null(response.allow);
}

TEST(a_cookie_and_its_attributes)
{
	struct um_response response = { .status = 200 };

	um_response_cookie(&response, UM_COOKIE_NAME, "value", 60);
	assert_str(um_buf_str(&response.headers),
		"Set-Cookie: __Host-urlmode=value; Path=/; Max-Age=60; Secure; "
		"HttpOnly; SameSite=Lax\r\n");
	um_response_free(&response);
}

/* A CR, LF or NUL anywhere fails the whole answer. */
TEST(no_header_comes_out_of_a_value)
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

		um_response_redirect(&response, bad[i]);
		assert_row(bad[i].ptr, response.headers.failed);
		write_all(&out, &response, UM_GET);
		assert_true(out.failed);
		assert_int_equal(times(um_buf_str(&out), "Set-Cookie"), 0);
		um_buf_free(&out);
		um_response_free(&response);
	}
}

TEST(no_header_comes_out_of_a_cookie)
{
	static const char *const bad[] = { "a\r\nLocation: /", "a\nb", "a\rb",
		"a; Domain=example.com" };

	for (size_t i = 0; i < LENGTH(bad); i++) {
		struct um_response response = { .status = 200 };

		um_response_header(&response, "X", bad[i]);
		assert_int_equal(response.headers.failed, i < 3);
		um_response_free(&response);
		um_response_cookie(&response, UM_COOKIE_NAME, bad[i], 60);
		assert_row(bad[i], response.headers.failed);
		um_response_free(&response);
	}
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_request_from_meta_variables),
		cmocka_unit_test(a_request_from_nothing),
		cmocka_unit_test(a_headers_name_has_its_limit),
		cmocka_unit_test(methods_are_upper_case_and_whole),
		cmocka_unit_test(who_only_looks_ahead),
		cmocka_unit_test(what_says_that_it_is_a_form),
		cmocka_unit_test(an_answer_and_its_body),
		cmocka_unit_test(head_is_get_without_the_body),
		cmocka_unit_test(an_answer_without_a_body),
		cmocka_unit_test(other_types_and_allow),
		cmocka_unit_test(a_cookie_and_its_attributes),
		cmocka_unit_test(no_header_comes_out_of_a_value),
		cmocka_unit_test(no_header_comes_out_of_a_cookie),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
