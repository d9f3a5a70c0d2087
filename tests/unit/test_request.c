/* SPDX-License-Identifier: MIT */
#include <limits.h>
#include <string.h>

#include "http/request.h"
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

TEST(a_request_is_read_from_meta_variables)
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

/* W3C Trace Context section 3.2: what is not exactly of version 00 is left out. */
TEST(a_traceparent_is_exact)
{
#define TRACE "4bf92f3577b34da6a3ce929d0e0e4736"
#define PARENT "00f067aa0ba902b7"
	static const struct {
		const char *text;
		bool good;
	} cases[] = {
		{ "00-" TRACE "-" PARENT "-01", true },
		{ "00-" TRACE "-" PARENT "-00", true },
		{ "00-" TRACE "-" PARENT "-ff", true },
		{ "01-" TRACE "-" PARENT "-01", false },
		{ "ff-" TRACE "-" PARENT "-01", false },
		{ "00-00000000000000000000000000000000-" PARENT "-01", false },
		{ "00-" TRACE "-0000000000000000-01", false },
		{ "00-4BF92f3577b34da6a3ce929d0e0e4736-" PARENT "-01", false },
		{ "00-" TRACE "-" PARENT "-0G", false },
		{ "00-" TRACE "-" PARENT "-1", false },
		{ "00-" TRACE "-" PARENT "-01-", false },
		{ "00-" TRACE "-" PARENT "-01 ", false },
		{ " 00-" TRACE "-" PARENT "-01", false },
		{ "00_" TRACE "-" PARENT "-01", false },
		{ "00-" TRACE "_" PARENT "-01", false },
		{ "00-" TRACE "-" PARENT "_01", false },
		{ "", false },
	};

	for (size_t i = 0; i < LENGTH(cases); i++) {
		struct variable variables[] = {
			{ "HTTP_TRACEPARENT", cases[i].text },
			{ NULL, NULL },
		};
		struct um_buf path = { 0 };
		struct um_request request = read_request(variables, &path);

		assert_row(cases[i].text,
			strcmp(request.traceparent,
				cases[i].good ? cases[i].text : "")
				== 0);
		um_buf_free(&path);
	}
}

/* What one web server decodes or resolves, the other does not. */
TEST(the_path_is_what_the_client_sent)
{
	static const struct {
		const char *target;
		const char *path;
	} cases[] = {
		{ "/done", "/done" },
		{ "/done?", "/done" },
		{ "/connect/demo?state=/x", "/connect/demo" },
		{ "/connect/demo#x", "/connect/demo" },
		{ "//connect//demo", "//connect//demo" },
		{ "/connect/%64emo", "/connect/%64emo" },
		{ "/connect/x/../demo", "/connect/x/../demo" },
		{ "/connect/demo%3Fstate=x", "/connect/demo%3Fstate=x" },
		{ "http://a.example/done?x", "/done" },
		{ "HTTPS://a.example:443/done", "/done" },
		{ "http://a.example?/done", "" },
		{ "http:/done", "http:/done" },
		{ "*", "*" },
		{ "", "/script/info" },
		{ NULL, "/script/info" },
	};

	for (size_t i = 0; i < LENGTH(cases); i++) {
		struct variable variables[] = {
			{ "SCRIPT_NAME", "/script" },
			{ "PATH_INFO", "/info" },
			{ "REQUEST_URI", cases[i].target },
			{ NULL, NULL },
		};
		struct um_buf path = { 0 };

		assert_row(cases[i].target != NULL ? cases[i].target : "none",
			um_str_is(read_request(variables, &path).path,
				cases[i].path));
		um_buf_free(&path);
	}
}

TEST(content_length_is_digits_or_nothing)
{
	static const struct {
		const char *text;
		enum um_content_length known;
		unsigned long long len;
	} cases[] = {
		{ NULL, UM_CONTENT_LENGTH_UNKNOWN, 0 },
		{ "", UM_CONTENT_LENGTH_UNKNOWN, 0 },
		{ "0", UM_CONTENT_LENGTH_KNOWN, 0 },
		{ "17", UM_CONTENT_LENGTH_KNOWN, 17 },
		{ "99999999999999999999", UM_CONTENT_LENGTH_KNOWN, ULLONG_MAX },
		{ "-1", UM_CONTENT_LENGTH_MALFORMED, 0 },
		{ "+1", UM_CONTENT_LENGTH_MALFORMED, 0 },
		{ " 1", UM_CONTENT_LENGTH_MALFORMED, 0 },
		{ "1x", UM_CONTENT_LENGTH_MALFORMED, 0 },
		{ "0x1", UM_CONTENT_LENGTH_MALFORMED, 0 },
	};

	for (size_t i = 0; i < LENGTH(cases); i++) {
		struct variable variables[] = {
			{ "CONTENT_LENGTH", cases[i].text },
			{ NULL, NULL },
		};
		struct um_buf path = { 0 };
		struct um_request request = read_request(variables, &path);
		unsigned long long len = 0;

		assert_row(cases[i].text != NULL ? cases[i].text : "none",
			um_request_content_length(&request, &len)
					== cases[i].known
				&& len == cases[i].len);
		um_buf_free(&path);
	}
}

TEST(a_request_without_variables_is_empty)
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

TEST(a_header_name_over_the_limit_is_not_found)
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

TEST(methods_are_compared_exactly)
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

TEST(a_prefetch_is_recognised)
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

TEST(a_form_is_recognised_by_its_media_type)
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

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_request_is_read_from_meta_variables),
		cmocka_unit_test(a_traceparent_is_exact),
		cmocka_unit_test(the_path_is_what_the_client_sent),
		cmocka_unit_test(content_length_is_digits_or_nothing),
		cmocka_unit_test(a_request_without_variables_is_empty),
		cmocka_unit_test(a_header_name_over_the_limit_is_not_found),
		cmocka_unit_test(methods_are_compared_exactly),
		cmocka_unit_test(a_prefetch_is_recognised),
		cmocka_unit_test(a_form_is_recognised_by_its_media_type),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
