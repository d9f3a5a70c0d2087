/* SPDX-License-Identifier: MIT */
/* How a program starts, and what it says when it cannot. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app/exchange.h"
#include "child.h"
#include "server/main.h"

#define PASSWORD "hunter2"

struct start {
	char *args[3];
	const char *config;
	const char *cgi; /* the variable that says so, and its value */
	const char *value;
};

static void
plan(const struct um_context *context, struct um_exchange *ex)
{
	(void)context;
	ex->response.status = 200;
	um_buf_puts(&ex->response.body, "planned");
}

static int
run(void *arg)
{
	static const struct um_program program = { "connect", UM_BODY_MAX,
		plan };
	struct start *start = arg;
	int argc = 0;

	while (start->args[argc] != NULL)
		argc++;
	unsetenv("GATEWAY_INTERFACE");
	unsetenv("REQUEST_METHOD");
	if (start->cgi != NULL)
		setenv(start->cgi, start->value, 1);
	setenv("URLMODE_CONFIG",
		start->config != NULL ? start->config : "/nonexistent/config",
		1);
	return um_program_main(&program, argc, start->args);
}

/* Starts it; the exit status, and that both texts are in what it says. */
static void
assert_start(struct start *start, int status, const char *in_out,
	const char *in_err)
{
	struct um_buf out = { 0 };
	struct um_buf err = { 0 };
	struct child child;

	child_start(&child, run, start, -1);
	assert_int_equal(child_end(&child, &out, &err), status);
	if (!str_has(um_buf_str(&out), um_str(in_out)))
		fail_msg("\"%s\" is not in: %.*s", in_out, (int)out.len,
			out.ptr != NULL ? out.ptr : "");
	if (!str_has(um_buf_str(&err), um_str(in_err))
		|| (in_err[0] == '\0' && err.len != 0))
		fail_msg("\"%s\" is not: %.*s", in_err, (int)err.len,
			err.ptr != NULL ? err.ptr : "");
	assert_false(str_has(um_buf_str(&out), STR(PASSWORD)));
	assert_false(str_has(um_buf_str(&err), STR(PASSWORD)));
	um_buf_free(&out);
	um_buf_free(&err);
}

static char name[] = "connect", check[] = "--check", help[] = "--help",
	    other[] = "state=x";

/* A configuration that is good, and its keys. */
struct files {
	char *keys;
	char *config;
};

static struct files
files_make(const char *more)
{
	struct files files = {
		.keys = file_make(
			STR("1 ERERERERERERERERERERERERERERERERERERERERERE\n"),
			0600)
	};
	struct um_buf text = { 0 };

	um_buf_printf(&text,
		"{\"base_url\": \"https://a.example\", \"keys_file\": \"%s\","
		" \"database_url\": \"host=/nonexistent password=" PASSWORD
		"\", \"user_check\": \"confirm\","
		" \"providers\": {\"demo\": {\"kind\": \"oauth\"}}%s}",
		files.keys, more);
	files.config = file_make(um_buf_str(&text), 0600);
	um_buf_free(&text);
	return files;
}

static void
files_remove(struct files *files)
{
	file_remove(files->keys);
	file_remove(files->config);
}

TEST(help_and_wrong_arguments_print_the_usage)
{
	struct start start = { .args = { name, help } };

	assert_start(&start, 0, "usage: connect", "");
	start.args[1] = other;
	assert_start(&start, 2, "usage: connect", "");
}

TEST(a_good_configuration_passes_the_check)
{
	struct files files = files_make("");
	struct start start = { .args = { name, check },
		.config = files.config };

	assert_start(&start, 0, "", "");
	files_remove(&files);
}

TEST(a_bad_configuration_is_reported)
{
	struct files files = files_make(", \"other\": 1");
	struct start start = { .args = { name, check },
		.config = files.config };

	assert_start(&start, 1, "", "/other: is not known");
	start.args[1] = NULL;
	assert_start(&start, 1, "", "/other: is not known");
	files_remove(&files);
	start.config = NULL;
	assert_start(&start, 1, "",
		"/nonexistent/config: No such file or directory");
	files = files_make(", \"log_file\": \"/nonexistent/log\"");
	start.config = files.config;
	assert_start(&start, 1, "", "/nonexistent/log: No such file");
	files_remove(&files);
}

/* Its web server's log, and its browser, are not told what is wrong. */
TEST(a_browser_does_not_learn_what_is_wrong)
{
	struct start start = { .args = { name },
		.cgi = "GATEWAY_INTERFACE",
		.value = "CGI/1.1" };

	assert_start(&start, 0, "Status: 500\r\n", "");
	assert_start(&start, 0, "urlmode is not set up", "");
}

/* Neither a listening socket nor CGI: nobody would ever ask. */
TEST(started_by_hand_it_prints_the_usage)
{
	struct files files = files_make("");
	struct start start = { .args = { name }, .config = files.config };

	assert_start(&start, 2, "usage: connect", "");
	files_remove(&files);
}

/* RFC 3875 section 4.4: a query without `=` comes as arguments, too. */
TEST(a_query_is_not_taken_for_an_argument)
{
	struct files files = files_make(", \"log_file\": \"/dev/null\"");
	struct start start = { .args = { name, check },
		.config = files.config,
		.cgi = "GATEWAY_INTERFACE",
		.value = "CGI/1.1" };

	assert_start(&start, 0, "\r\n\r\nplanned", "");
	start.args[1] = other;
	assert_start(&start, 0, "\r\n\r\nplanned", "");
	/* fcgiwrap sets no GATEWAY_INTERFACE of its own. */
	start.cgi = "REQUEST_METHOD";
	start.value = "GET";
	assert_start(&start, 0, "\r\n\r\nplanned", "");
	start.args[1] = check;
	assert_start(&start, 0, "\r\n\r\nplanned", "");
	files_remove(&files);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(help_and_wrong_arguments_print_the_usage),
		cmocka_unit_test(a_good_configuration_passes_the_check),
		cmocka_unit_test(a_bad_configuration_is_reported),
		cmocka_unit_test(a_browser_does_not_learn_what_is_wrong),
		cmocka_unit_test(started_by_hand_it_prints_the_usage),
		cmocka_unit_test(a_query_is_not_taken_for_an_argument),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
