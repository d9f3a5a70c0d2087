/* SPDX-License-Identifier: MIT */
/* Which route a request has, and what is refused before its plan. */
#include "app/route.h"

#include <string.h>

#include "program_case.h"

static enum um_refusal
plan_get(const struct um_context *context, struct um_exchange *ex)
{
	(void)context;
	ex->outcome = "get";
	return UM_REFUSAL_NONE;
}

static enum um_refusal
plan_post(const struct um_context *context, struct um_exchange *ex)
{
	(void)context;
	ex->outcome = "post";
	return UM_REFUSAL_NONE;
}

static bool
is_shop(const struct um_context *context, const struct um_provider *provider)
{
	(void)context;
	return strcmp(provider->name, "shop") == 0;
}

static const struct um_route routes[] = {
	{ .prefix = "/a/",
		.suffix = "/b",
		.methods = "GET, HEAD",
		.kinds = UM_KINDS_ALL & ~UM_KIND_BIT(UM_KIND_INPUT),
		.value_max = 4,
		.plan = plan_get },
	{ .prefix = "/a/",
		.suffix = "/b",
		.methods = "POST",
		.kinds = UM_KINDS_ALL,
		.body_max = 8,
		.serves = is_shop,
		.plan = plan_post },
	{ .prefix = "/one",
		.methods = "POST",
		.body_max = 9,
		.value_max = 4,
		.plain = true,
		.plan = plan_post },
	{ 0 },
};
static const struct um_program program = { .name = "status",
	.routes = routes,
	.measures = UM_OP_NONE };

struct sent {
	const char *method, *path, *query, *type;
	const char *body;
	bool prefetch;
};

static const char *
get(const char *name, void *arg)
{
	const struct sent *sent = arg;

	if (strcmp(name, "REQUEST_METHOD") == 0)
		return sent->method;
	if (strcmp(name, "SCRIPT_NAME") == 0)
		return sent->path;
	if (strcmp(name, "QUERY_STRING") == 0)
		return sent->query;
	if (strcmp(name, "CONTENT_TYPE") == 0)
		return sent->type;
	if (strcmp(name, "HTTP_SEC_PURPOSE") == 0)
		return sent->prefetch ? "prefetch" : NULL;
	return NULL;
}

#define FORM "application/x-www-form-urlencoded"

TEST(requests)
{
	static const struct {
		const char *name;
		struct sent sent;
		enum um_refusal refusal;
		const char *outcome; /* or the methods that are allowed */
		bool plain;
	} rows[] = {
		{ "a path", { .method = "GET", .path = "/a/demo/b" },
			UM_REFUSAL_NONE, "get", false },
		{ "HEAD", { .method = "HEAD", .path = "/a/demo/b" },
			UM_REFUSAL_NONE, "get", false },
		{ "no name", { .method = "GET", .path = "/a//b" },
			UM_REFUSAL_UNKNOWN_ROUTE, NULL, false },
		{ "two names", { .method = "GET", .path = "/a/demo/x/b" },
			UM_REFUSAL_UNKNOWN_ROUTE, NULL, false },
		{ "no suffix", { .method = "GET", .path = "/a/demo" },
			UM_REFUSAL_UNKNOWN_ROUTE, NULL, false },
		{ "below a whole path", { .method = "POST", .path = "/one/b" },
			UM_REFUSAL_UNKNOWN_ROUTE, NULL, true },
		{ "no provider", { .method = "GET", .path = "/a/nobody/b" },
			UM_REFUSAL_UNKNOWN_PROVIDER, NULL, false },
		{ "another kind", { .method = "GET", .path = "/a/intake/b" },
			UM_REFUSAL_UNKNOWN_PROVIDER, NULL, false },
		{ "for no method", { .method = "PUT", .path = "/a/shop/b" },
			UM_REFUSAL_METHOD_NOT_ALLOWED, "GET, HEAD, POST",
			false },
		{ "not for this provider",
			{ .method = "POST", .path = "/a/demo/b" },
			UM_REFUSAL_METHOD_NOT_ALLOWED, "GET, HEAD", false },
		{ "for this provider",
			{ .method = "POST", .path = "/a/shop/b", .body = "x" },
			UM_REFUSAL_NONE, "post", false },
		{ "a prefetch",
			{ .method = "GET",
				.path = "/a/demo/b",
				.prefetch = true },
			UM_REFUSAL_PREFETCH, NULL, false },
		{ "the longest body",
			{ .method = "POST",
				.path = "/a/shop/b",
				.body = "12345678" },
			UM_REFUSAL_NONE, "post", false },
		{ "a longer body, which another route takes",
			{ .method = "POST",
				.path = "/a/shop/b",
				.body = "123456789" },
			UM_REFUSAL_BODY_TOO_LARGE, NULL, false },
		{ "a field twice",
			{ .method = "GET",
				.path = "/a/demo/b",
				.query = "a=&a=" },
			UM_REFUSAL_DUPLICATE_PARAMETER, NULL, false },
		{ "a form",
			{ .method = "POST",
				.path = "/one",
				.type = FORM,
				.body = "a=1234" },
			UM_REFUSAL_NONE, "post", true },
		{ "a value that is too long",
			{ .method = "POST",
				.path = "/one",
				.type = FORM,
				.body = "a=12345" },
			UM_REFUSAL_PARAMETERS_TOO_LARGE, NULL, true },
		{ "no form",
			{ .method = "POST",
				.path = "/one",
				.type = "text/plain",
				.body = "a=1" },
			UM_REFUSAL_UNSUPPORTED_MEDIA_TYPE, NULL, true },
		{ "a query and a form",
			{ .method = "POST",
				.path = "/one",
				.query = "b=2",
				.type = FORM,
				.body = "a=1" },
			UM_REFUSAL_QUERY_AND_FORM, NULL, true },
	};

	for (size_t i = 0; i < LENGTH(rows); i++) {
		struct sent sent = rows[i].sent;
		struct um_exchange ex;
		struct um_buf path = { 0 };

		row_begin("%s", rows[i].name);
		um_exchange_begin(&ex, &path, get, &sent, &case_context);
		ex.request.body = um_str(sent.body);
		um_route_request(&case_context, &ex, &program);
		assert_int_equal(ex.refusal, rows[i].refusal);
		assert_int_equal(ex.plain, rows[i].plain);
		if (ex.refusal == UM_REFUSAL_METHOD_NOT_ALLOWED)
			assert_string_equal(ex.allow, rows[i].outcome);
		else if (rows[i].outcome != NULL)
			assert_string_equal(ex.outcome, rows[i].outcome);
		assert_int_equal(ex.provider != NULL,
			ex.refusal != UM_REFUSAL_UNKNOWN_ROUTE
				&& ex.refusal != UM_REFUSAL_UNKNOWN_PROVIDER
				&& sent.path[1] == 'a');
		um_exchange_free(&ex);
		um_buf_free(&path);
	}
}

TEST(the_longest_body_of_a_program)
{
	assert_int_equal(um_route_body_max(&program), 9);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(requests),
		cmocka_unit_test(the_longest_body_of_a_program),
	};

	return cmocka_run_group_tests(tests, program_case_set_up,
		program_case_tear_down);
}
