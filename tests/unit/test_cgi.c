/* SPDX-License-Identifier: MIT */
/* Plain CGI (RFC 3875), with a web server's part played here. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "child.h"
#include "program_case.h"
#include "server/cgi.h"

#define NOBODY "host=/nonexistent"
#define FORM "application/x-www-form-urlencoded"

/* The environment of one request; what is NULL is not set. */
struct request {
	const char *method;
	const char *path;
	const char *query;
	const char *type;
	const char *length;
	struct um_str body;
};

struct answer {
	struct um_buf out;
	struct um_buf log;
	int status;
};

static char database_url[] = NOBODY;
static char log_file[] = "/dev/stderr"; /* of the child, for the test to see */
static struct um_config config = { .database_url = database_url,
	.log_file = log_file };

static enum um_refusal
pinged(const struct um_context *context, struct um_exchange *ex)
{
	enum um_refusal refusal;

	(void)context;
	if ((refusal = um_check_done(ex)))
		return refusal;
	ex->response.status = 200;
	return UM_REFUSAL_NONE;
}

/* /fields answers with the sizes of its fields; /look needs the database. */
static enum um_refusal
plan_look(const struct um_context *context, struct um_exchange *ex)
{
	(void)context;
	um_exchange_request_op(ex, UM_OP_PING, pinged);
	return UM_REFUSAL_NONE;
}

static enum um_refusal
plan(const struct um_context *context, struct um_exchange *ex)
{
	(void)context;
	ex->response.status = 200;
	ex->response.content_type = "text/plain";
	for (size_t i = 0; i < ex->form.len; i++) {
		struct um_str name = ex->form.field[i].name;
		struct um_str value = ex->form.field[i].value;

		um_buf_printf(&ex->response.body, "%.*s is %zu bytes\n",
			(int)name.len, name.ptr, value.len);
	}
	ex->outcome = "said";
	return UM_REFUSAL_NONE;
}

static void
set(const char *name, const char *value)
{
	if (value != NULL)
		setenv(name, value, 1);
	else
		unsetenv(name);
}

static const struct um_route routes[] = {
	{ .prefix = "/look", .methods = "GET", .plan = plan_look },
	{ .prefix = "/fields",
		.methods = "GET, POST",
		.body_max = UM_BODY_MAX,
		.value_max = UM_FORM_VALUE_MAX,
		.plan = plan },
	{ 0 },
};

static int
serve_one(void *arg)
{
	static const struct um_program program = { .name = "connect",
		.routes = routes,
		.measures = UM_OP_NONE };
	const struct request *request = arg;
	struct um_context context = case_context;
	struct um_error err;
	struct um_log log;
	int status;

	set("REQUEST_METHOD", request->method);
	set("SCRIPT_NAME", request->path);
	set("QUERY_STRING", request->query);
	set("CONTENT_TYPE", request->type);
	set("CONTENT_LENGTH", request->length);
	set("URLMODE_REQUEST_ID", CASE_REQUEST_ID);
	context.config = &config;
	if (!um_log_open(&log, program.name, &config, true, &err))
		return 99;
	status = um_cgi_run(&program, &context, &log);
	um_buf_free(&log.lines);
	close(log.fd);
	return status;
}

static void
ask(struct answer *got, const struct request *request)
{
	struct request copy = *request;
	struct child child;

	*got = (struct answer){ 0 };
	child_start(&child, serve_one, &copy, -1);
	if (request->body.len != 0)
		assert_int_equal(write(child.in, request->body.ptr,
					 request->body.len),
			request->body.len);
	got->status = child_end(&child, &got->out, &got->log);
}

static void
answer_free(struct answer *got)
{
	um_buf_free(&got->out);
	um_buf_free(&got->log);
}

static void
assert_says(const struct request *request, const char *expected)
{
	struct answer got;

	ask(&got, request);
	assert_int_equal(got.status, 0);
	if (!str_has(um_buf_str(&got.out), um_str(expected)))
		fail_msg("\"%s\" is not in: %.*s", expected, (int)got.out.len,
			got.out.ptr != NULL ? got.out.ptr : "");
	answer_free(&got);
}

TEST(a_get_is_answered)
{
	static const struct request request = { .method = "GET",
		.path = "/fields",
		.query = "a=b" };

	assert_says(&request, "Status: 200\r\n");
	assert_says(&request, "\r\n\r\na is 1 bytes\n");
	assert_says(&request, "X-Request-Id: " CASE_REQUEST_ID "\r\n");
}

/* As many bytes as CONTENT_LENGTH says, whatever may come after. */
TEST(a_body_ends_where_content_length_says)
{
	struct request request = { .method = "POST",
		.path = "/fields",
		.type = FORM,
		.length = "7",
		.body = STR("a=1&b=2") };

	assert_says(&request, "\r\n\r\na is 1 bytes\nb is 1 bytes\n");
	request.body = STR("a=1&b=2&c=3");
	assert_says(&request, "\r\n\r\na is 1 bytes\nb is 1 bytes\n");
	request.length = "0";
	assert_says(&request, "Content-Length: 0\r\n\r\n");
}

/* A chunked body has no length; that of a GET is not waited for. */
TEST(a_body_without_a_length_is_read_to_its_end)
{
	static char body[UM_BODY_MAX + 1];
	struct request request = { .method = "POST",
		.path = "/fields",
		.type = FORM,
		.body = STR("a=1&b=2") };

	assert_says(&request, "\r\n\r\na is 1 bytes\nb is 1 bytes\n");
	request.length = "";
	assert_says(&request, "\r\n\r\na is 1 bytes\nb is 1 bytes\n");
	memset(body, '&', sizeof(body));
	body[0] = 'a';
	body[1] = '=';
	body[2] = 'b';
	request.body = (struct um_str){ body, UM_BODY_MAX };
	assert_says(&request, "\r\n\r\na is 1 bytes\n");
	request.body.len++;
	assert_says(&request, "<code>body_too_large</code>");
	request.method = "GET";
	request.query = "c=3";
	request.body = STR("a=1");
	assert_says(&request, "\r\n\r\nc is 1 bytes\n");
}

/* A form that was cut, the code in it perhaps, is no form. */
TEST(a_body_that_ends_early_is_ignored)
{
	const struct request request = { .method = "POST",
		.path = "/fields",
		.type = FORM,
		.length = "8",
		.body = STR("a=1&b=2") };

	assert_says(&request, "Content-Length: 0\r\n\r\n");
}

TEST(a_body_over_the_limit_is_refused)
{
	static char body[UM_BODY_MAX + 1];
	struct request request = { .method = "POST",
		.path = "/fields",
		.type = FORM,
		.body = { body, UM_BODY_MAX } };
	char length[32];

	memset(body, '&', sizeof(body));
	body[0] = 'a';
	body[1] = '=';
	body[2] = 'b';
	snprintf(length, sizeof(length), "%d", UM_BODY_MAX);
	request.length = length;
	assert_says(&request, "\r\n\r\na is 1 bytes\n");
	snprintf(length, sizeof(length), "%d", UM_BODY_MAX + 1);
	request.body.len++;
	assert_says(&request, "<code>body_too_large</code>");
}

TEST(a_malformed_content_length_is_refused)
{
	static const char *const lengths[] = { "-1", "18446744073709551616",
		"99999999999999999999", "-18446744073709551609" };

	for (size_t i = 0; i < LENGTH(lengths); i++) {
		const struct request request = { .method = "POST",
			.path = "/fields",
			.type = FORM,
			.length = lengths[i] };

		row_begin("%s", lengths[i]);
		assert_says(&request, "<code>body_too_large</code>");
	}
}

TEST(one_line_is_logged_without_secrets)
{
	static const struct request request = { .method = "GET",
		.path = "/" SECRET,
		.query = "a=" SECRET };
	struct answer got;
	json_t *line;

	ask(&got, &request);
	assert_int_equal(got.status, 0);
	line = json_loadb(got.log.ptr, got.log.len, 0, NULL);
	assert_non_null(line);
	assert_string_equal(json_string_value(json_object_get(line, "outcome")),
		"refused");
	assert_false(str_has(um_buf_str(&got.log), STR(SECRET)));
	json_decref(line);
	answer_free(&got);
}

/* It waits for the database as long as an operation may, and says so. */
TEST(without_a_database_the_answer_is_unavailable)
{
	static const struct request request = { .method = "GET",
		.path = "/look" };

	assert_says(&request, "<code>unavailable</code>");
}

TEST(an_empty_environment_is_answered)
{
	static const struct request request = { 0 };

	assert_says(&request, "Status: ");
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_get_is_answered),
		cmocka_unit_test(a_body_ends_where_content_length_says),
		cmocka_unit_test(a_body_without_a_length_is_read_to_its_end),
		cmocka_unit_test(a_body_that_ends_early_is_ignored),
		cmocka_unit_test(a_body_over_the_limit_is_refused),
		cmocka_unit_test(a_malformed_content_length_is_refused),
		cmocka_unit_test(one_line_is_logged_without_secrets),
		cmocka_unit_test(without_a_database_the_answer_is_unavailable),
		cmocka_unit_test(an_empty_environment_is_answered),
	};

	return cmocka_run_group_tests(tests, program_case_set_up,
		program_case_tear_down);
}
