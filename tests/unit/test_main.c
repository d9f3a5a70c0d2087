/* SPDX-License-Identifier: MIT */
/* How a program starts, and what it says when it cannot. */
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "app/exchange.h"
#include "child.h"
#include "server/main.h"

#define PASSWORD "hunter2"

struct start {
	char *args[5];
	const char *config;
	const char *keys; /* URLMODE_KEYS, or NULL */
	const char *cgi;  /* the variable that says so, and its value */
	const char *value;
	bool spawned; /* as by spawn-fcgi: a socket, and no standard error */
	bool limited; /* the hard limit of core dumps is 0 */
};

/* With ld --wrap (see the Makefile), syslog() comes here. */
/* NOLINTBEGIN(clang-diagnostic-reserved-identifier) */
void __wrap_syslog(int priority, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void __wrap___syslog_chk(int priority, int flag, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

void
__wrap_syslog(int priority, const char *fmt, ...)
{
	va_list ap;

	(void)priority;
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
}

void
__wrap___syslog_chk(int priority, int flag, const char *fmt, ...)
{
	va_list ap;

	(void)priority;
	(void)flag;
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
}
/* NOLINTEND(clang-diagnostic-reserved-identifier) */

/* A listening socket as standard input, and /dev/null as standard error. */
static void
be_spawned(void)
{
	int listening = socket(AF_UNIX, SOCK_STREAM, 0);
	int null = open("/dev/null", O_WRONLY);
	const struct sockaddr_un any = { .sun_family = AF_UNIX };

	/* Without a path, the kernel chooses an address. */
	if (bind(listening, (const void *)&any, sizeof(sa_family_t)) != 0
		|| listen(listening, 1) != 0)
		_exit(99);
	dup2(listening, STDIN_FILENO);
	dup2(null, STDERR_FILENO);
}

static enum um_refusal
plan(const struct um_context *context, struct um_exchange *ex)
{
	struct rlimit core;

	(void)context;
	getrlimit(RLIMIT_CORE, &core);
	ex->response.status = 200;
	um_buf_printf(&ex->response.body,
		"planned; core limit %d, dumpable %d\n", (int)core.rlim_cur,
		prctl(PR_GET_DUMPABLE));
	return UM_REFUSAL_NONE;
}

static const struct um_route routes[] = {
	{ .prefix = "/planned", .methods = "GET", .plan = plan },
	{ 0 },
};

static int
run(void *arg)
{
	static const struct um_program program = { .name = "connect",
		.routes = routes,
		.measures = UM_OP_NONE };
	struct start *start = arg;
	int argc = 0;

	while (start->args[argc] != NULL)
		argc++;
	unsetenv("GATEWAY_INTERFACE");
	unsetenv("REQUEST_METHOD");
	if (start->cgi != NULL)
		setenv(start->cgi, start->value, 1);
	setenv("SCRIPT_NAME", "/planned", 1);
	if (start->keys != NULL)
		setenv("URLMODE_KEYS", start->keys, 1);
	if (start->spawned)
		be_spawned();
	if (start->limited)
		child_limit_cores();
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
	    version[] = "--version", other[] = "state=x",
	    to_listen[] = "--listen", to_remote[] = "--remote",
	    nowhere[] = "/nonexistent/connect.sock",
	    everywhere[] = "0.0.0.0:9000", foreign[] = "192.0.2.1:9000";

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

/* nginx/dist/version says it, which has tests of its own. */
TEST(the_version_begins_with_that_of_the_changelog)
{
	struct start start = { .args = { name, version } };
	FILE *changelog = fopen("nginx/debian/changelog", "r");
	char expected[64] = "connect (urlmode) ";
	char number[32];

	assert_non_null(changelog);
	assert_int_equal(fscanf(changelog, "urlmode (%31[^)])", number), 1);
	fclose(changelog);
	assert_start(&start, 0, strcat(expected, number), "");
}

/* core(5): a core handler behind a pipe ignores a limit of 0, but not of 1. */
TEST(no_core_is_dumped_whatever_the_hard_limit_is)
{
	struct files files = files_make("");
	struct start start = { .args = { name },
		.config = files.config,
		.cgi = "REQUEST_METHOD",
		.value = "GET" };

	if (child_may_set_cores())
		assert_start(&start, 0, "core limit 1, dumpable ", "");
	start.limited = true;
	assert_start(&start, 0, "core limit 0, dumpable 0\n", "");
	files_remove(&files);
}

TEST(a_good_configuration_passes_the_check)
{
	struct files files = files_make("");
	struct start start = { .args = { name, check },
		.config = files.config };

	assert_start(&start, 0, "", "");
	files_remove(&files);
}

/* Whoever checks may be another user than the one that the programs are. */
TEST(the_check_writes_nothing)
{
	char folder[] = "/tmp/urlmode-check-XXXXXX";
	struct um_buf more = { 0 };
	struct files files;
	struct start start = { .args = { name, check } };

	assert_non_null(mkdtemp(folder));
	um_buf_printf(&more,
		", \"log_file\": \"%s/log\", \"metrics_file\": \"%s/metrics\"",
		folder, folder);
	um_buf_put(&more, "", 1);
	files = files_make(more.ptr);
	start.config = files.config;
	assert_start(&start, 0, "", "");
	assert_int_equal(rmdir(folder), 0);
	assert_start(&start, 1, "", "/log: No such file or directory");
	um_buf_free(&more);
	files_remove(&files);
}

TEST(the_check_refuses_a_configuration_that_others_can_read)
{
	struct files files = files_make("");
	struct start start = { .args = { name, check },
		.config = files.config };

	for (unsigned mode = 1; mode <= 4; mode *= 2) {
		assert_int_equal(chmod(files.config, 0640 | mode), 0);
		assert_start(&start, 1, "", "others may read or write it");
	}
	assert_int_equal(chmod(files.config, 0640), 0);
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
	start.args[1] = check;
	assert_start(&start, 1, "", "/nonexistent/log: No such file");
	files_remove(&files);
}

/* Neither spawn-fcgi nor multiwatch says why a program ends at once. */
TEST(without_standard_error_the_system_log_says_what_is_wrong)
{
	struct start start = { .args = { name }, .spawned = true };

	assert_start(&start, 1,
		"connect: /nonexistent/config: No such file or directory", "");
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

/* A container keeps standard error: each line of it is JSON. */
TEST(with_listen_a_line_of_the_log_says_what_is_wrong)
{
	struct files files = files_make("");
	struct start start = { .args = { name, to_listen, nowhere },
		.config = files.config };

	assert_start(&start, 1, "",
		"\"program\":\"connect\",\"notice\":\"--listen "
		"/nonexistent/connect.sock: No such file or directory\"}\n");
	start.args[2] = everywhere;
	assert_start(&start, 1, "", "0.0.0.0:9000: not a loopback address");
	start.args[2] = foreign;
	start.args[3] = to_remote;
	assert_start(&start, 1, "", "Cannot assign requested address");
	start.args[2] = nowhere;
	files_remove(&files);
	files = files_make(", \"other\": 1, \"another\": 2");
	start.config = files.config;
	assert_start(&start, 1, "", "/other: is not known");
	assert_start(&start, 1, "", "/another: is not known");
	assert_start(&start, 1, "", "\"}\n{\"time\":");
	files_remove(&files);
}

TEST(listen_needs_one_address)
{
	struct start start = { .args = { name, to_listen } };

	assert_start(&start, 2, "usage: connect", "");
	start.args[2] = nowhere;
	start.args[3] = check;
	assert_start(&start, 2, "usage: connect", "");
	start.args[1] = to_remote;
	start.args[2] = start.args[3] = NULL;
	assert_start(&start, 2, "usage: connect", "");
}

TEST(keys_of_the_environment_pass_the_check)
{
	struct files files = files_make("");
	struct start start = { .args = { name, check },
		.config = files.config,
		.keys = "1 ERERERERERERERERERERERERERERERERERERERERERE" };
	struct um_buf text = { 0 };

	assert_start(&start, 1, "", "/keys_file: is beside URLMODE_KEYS");
	files_remove(&files);
	um_buf_printf(&text,
		"{\"base_url\": \"https://a.example\","
		" \"database_url\": \"host=/nonexistent\","
		" \"user_check\": \"confirm\","
		" \"providers\": {\"demo\": {\"kind\": \"oauth\"}}}");
	files.config = file_make(um_buf_str(&text), 0600);
	start.config = files.config;
	assert_start(&start, 0, "", "");
	start.keys = PASSWORD;
	assert_start(&start, 1, "", "URLMODE_KEYS:1: not `<kid> <base64");
	file_remove(files.config);
	um_buf_free(&text);
}

/* The environment of plain CGI is the web server's. */
TEST(plain_cgi_refuses_secrets_in_the_environment)
{
	struct files files = files_make(", \"log_file\": \"/dev/null\"");
	struct start start = { .args = { name },
		.config = files.config,
		.cgi = "REQUEST_METHOD",
		.value = "GET",
		.keys = PASSWORD };

	assert_start(&start, 0, "Status: 500\r\n", "");
	assert_start(&start, 0,
		"URLMODE_KEYS and URLMODE_CGI_DATABASE_URL are "
		"not for plain CGI",
		"");
	start.keys = NULL;
	assert_start(&start, 0, "\r\n\r\nplanned", "");
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

	/* A request, of which nothing says the method. */
	assert_start(&start, 0, "Status: 405\r\n", "");
	start.args[1] = other;
	assert_start(&start, 0, "Status: 405\r\n", "");
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
		cmocka_unit_test(the_version_begins_with_that_of_the_changelog),
		cmocka_unit_test(no_core_is_dumped_whatever_the_hard_limit_is),
		cmocka_unit_test(a_good_configuration_passes_the_check),
		cmocka_unit_test(the_check_writes_nothing),
		cmocka_unit_test(
			the_check_refuses_a_configuration_that_others_can_read),
		cmocka_unit_test(a_bad_configuration_is_reported),
		cmocka_unit_test(
			without_standard_error_the_system_log_says_what_is_wrong),
		cmocka_unit_test(a_browser_does_not_learn_what_is_wrong),
		cmocka_unit_test(started_by_hand_it_prints_the_usage),
		cmocka_unit_test(
			with_listen_a_line_of_the_log_says_what_is_wrong),
		cmocka_unit_test(listen_needs_one_address),
		cmocka_unit_test(keys_of_the_environment_pass_the_check),
		cmocka_unit_test(plain_cgi_refuses_secrets_in_the_environment),
		cmocka_unit_test(a_query_is_not_taken_for_an_argument),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
