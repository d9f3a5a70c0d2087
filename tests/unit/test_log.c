/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include <jansson.h>

#include "child.h"
#include "server/log.h"
#include "support.h"

/* 2026-11-20T06:00:00.007Z */
#define WALL_MS INT64_C(1795154400007)

/* The one line in the buffer, as JSON; the caller decrefs it. */
static json_t *
parse_line(const struct um_log *log)
{
	struct um_str line = um_buf_str(&log->lines);
	json_error_t err;
	json_t *object;

	assert_false(log->lines.failed);
	assert_true(line.len > 0 && line.ptr[line.len - 1] == '\n');
	assert_ptr_equal(memchr(line.ptr, '\n', line.len),
		line.ptr + line.len - 1);
	object = json_loadb(line.ptr, line.len, JSON_REJECT_DUPLICATES, &err);
	if (object == NULL)
		fail_msg("%s: %.*s", err.text, (int)line.len, line.ptr);
	return object;
}

static const char *
text_of(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	if (text == NULL)
		fail_msg("no %s in the line", key);
	return text;
}

TEST(a_request_is_one_json_object)
{
	static char name[] = "demo";
	static const struct um_provider provider = { .name = name };
	struct um_log log = { .fd = -1, .program = "oauth-return" };
	struct um_exchange ex = {
		.request.id = "0123456789abcdef0123456789abcdef",
		.response.status = 303,
		.provider = &provider,
		.has_token = true,
		.outcome = "completed",
		.reason = "",
		.fault.text = "/amount: is not a whole number",
	};
	json_t *line;

	bytes_of_uuid(ex.token.id, "6f1c9a52-3f0e-4d1b-9c57-0f2f6f3b8a11");
	um_log_request(&log, &ex, WALL_MS, 12345);
	line = parse_line(&log);
	assert_string_equal(text_of(line, "time"), "2026-11-20T06:00:00.007Z");
	assert_string_equal(text_of(line, "program"), "oauth-return");
	assert_string_equal(text_of(line, "request"), ex.request.id);
	assert_string_equal(text_of(line, "provider"), "demo");
	assert_string_equal(text_of(line, "elicitation"),
		"6f1c9a52-3f0e-4d1b-9c57-0f2f6f3b8a11");
	assert_int_equal(json_integer_value(json_object_get(line, "status")),
		303);
	assert_string_equal(text_of(line, "outcome"), "completed");
	assert_string_equal(text_of(line, "reason"), "");
	assert_string_equal(text_of(line, "detail"),
		"/amount: is not a whole number");
	assert_true(json_number_value(json_object_get(line, "ms")) > 12.344);
	assert_true(json_number_value(json_object_get(line, "ms")) < 12.346);
	json_decref(line);
	um_buf_free(&log.lines);
}

TEST(unknown_fields_are_empty)
{
	struct um_log log = { .fd = -1, .program = "status" };
	struct um_exchange ex = { .response.status = 404 };
	json_t *line;

	um_log_request(&log, &ex, WALL_MS, 7);
	line = parse_line(&log);
	assert_string_equal(text_of(line, "provider"), "");
	assert_string_equal(text_of(line, "elicitation"), "");
	assert_string_equal(text_of(line, "outcome"), "");
	assert_string_equal(text_of(line, "reason"), "");
	assert_true(json_number_value(json_object_get(line, "ms")) > 0.006);
	json_decref(line);
	um_buf_free(&log.lines);
}

/* Nothing of what the request brought; the id of the token is ours. */
TEST(nothing_from_the_request_is_logged)
{
	struct um_log log = { .fd = -1, .program = "connect" };
	struct um_exchange ex = {
		.request = { .path = STR("/SECRET"),
			.query = STR("SECRET"),
			.cookie = STR("SECRET"),
			.content_type = STR("SECRET"),
			.body = STR("SECRET") },
		.response.status = 400,
		.cookie = "SECRET",
		.outcome = "refused",
		.reason = "state_invalid",
	};

	um_buf_puts(&ex.response.body, "SECRET");
	um_buf_puts(&ex.response.headers, "SECRET");
	assert_int_equal(um_form_parse(&ex.form, STR("SECRET=SECRET")),
		UM_REFUSAL_NONE);
	um_log_request(&log, &ex, WALL_MS, 0);
	assert_false(str_has(um_buf_str(&log.lines), STR("SECRET")));
	json_decref(parse_line(&log));
	um_response_free(&ex.response);
	um_form_free(&ex.form);
	um_buf_free(&log.lines);
}

/* Whatever a library says, the line stays one JSON string in ASCII. */
TEST(a_notice_is_escaped)
{
	struct um_log log = { .fd = -1, .program = "status" };
	char text[256];
	json_t *line;

	for (int c = 1; c < 256; c++)
		text[c - 1] = (char)c;
	text[255] = '\0';
	um_log_notice(&log, text, WALL_MS);
	line = parse_line(&log);
	assert_int_equal(strlen(text_of(line, "notice")), 255);
	assert_non_null(strstr(text_of(line, "notice"), "!\"#$"));
	assert_non_null(strstr(text_of(line, "notice"), "[\\]"));
	assert_string_equal(text_of(line, "program"), "status");
	json_decref(line);
	um_buf_free(&log.lines);
}

TEST(lines_are_flushed_whole_and_in_order)
{
	char *path = file_make(STR("before\n"), 0600);
	struct um_log log;
	struct um_config config = { .log_file = path };
	struct um_error err;
	struct um_buf expected = { 0 };
	char got[8192];
	ssize_t len;
	int fd;

	assert_true(um_log_open(&log, "connect", &config, false, &err));
	um_buf_puts(&expected, "before\n");
	for (int turn = 0; turn < 2; turn++) {
		for (int i = 0; i < 20; i++)
			um_log_notice(&log, "x", WALL_MS + i);
		um_buf_put(&expected, log.lines.ptr, log.lines.len);
		um_log_flush(&log);
		assert_int_equal(log.lines.len, 0);
		um_log_flush(&log);
	}
	um_log_close(&log);
	fd = open(path, O_RDONLY);
	assert_true(fd >= 0);
	len = read(fd, got, sizeof(got));
	close(fd);
	assert_int_equal(len, expected.len);
	assert_memory_equal(got, expected.ptr, expected.len);
	um_buf_free(&expected);
	file_remove(path);
}

static off_t
size_of(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 ? st.st_size : -1;
}

/* What logrotate's create does: the file is renamed, then a signal is sent. */
TEST(a_log_that_was_renamed_is_opened_again)
{
	char *path = file_make(STR(""), 0600);
	struct um_config config = { .log_file = path };
	struct um_error err;
	struct um_log log;
	char renamed[128];

	snprintf(renamed, sizeof(renamed), "%s.1", path);
	assert_true(um_log_open(&log, "connect", &config, false, &err));
	um_log_notice(&log, "before", WALL_MS);
	assert_int_equal(rename(path, renamed), 0);
	assert_true(um_log_reopen(&log, &err));
	assert_true(size_of(renamed) > 0);
	assert_int_equal(size_of(path), 0);
	um_log_notice(&log, "after", WALL_MS);
	um_log_flush(&log);
	assert_int_equal(size_of(path) + 1, size_of(renamed));

	/* Where it cannot be opened, the log goes on where it was. */
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_false(um_log_reopen(&log, &err));
	assert_error(&err, path);
	um_log_notice(&log, "nowhere", WALL_MS);
	um_log_flush(&log);
	um_log_close(&log);
	assert_int_equal(rmdir(path), 0);
	assert_int_equal(rename(renamed, path), 0);
	file_remove(path);
}

/* Standard error and syslog have no file. */
TEST(a_log_without_a_file_is_not_opened_again)
{
	struct um_config config = { 0 };
	struct um_error err;
	struct um_log log;

	for (int is_cgi = 0; is_cgi < 2; is_cgi++) {
		assert_true(
			um_log_open(&log, "connect", &config, is_cgi, &err));
		assert_true(um_log_reopen(&log, &err));
		assert_int_equal(log.fd, is_cgi ? -1 : STDERR_FILENO);
		um_log_close(&log);
	}
}

static volatile sig_atomic_t interrupts;

static void
on_alarm(int number)
{
	(void)number;
	interrupts++;
}

/* Returns 0 when exactly these bytes come from standard input. */
static int
read_slowly(void *lines)
{
	struct um_str expected = um_buf_str(lines);
	char chunk[4096];
	ssize_t n;

	usleep(100000);
	while ((n = read(STDIN_FILENO, chunk, sizeof(chunk))) > 0) {
		if ((size_t)n > expected.len
			|| memcmp(chunk, expected.ptr, (size_t)n) != 0)
			return 1;
		expected.ptr += n;
		expected.len -= (size_t)n;
	}
	return expected.len == 0 ? 0 : 1;
}

/*
 * A pipe that is full, and a signal every few milliseconds: write(2) ends with
 * EINTR, or after a part of the bytes.
 */
TEST(lines_are_written_whole_despite_signals)
{
	struct sigaction action = { .sa_handler = on_alarm };
	const struct itimerval often = { { 0, 5000 }, { 0, 5000 } };
	const struct itimerval never = { 0 };
	struct um_log log = { .program = "connect" };
	struct um_buf out = { 0 }, err = { 0 };
	struct child child;

	for (int i = 0; i < 5000; i++)
		um_log_notice(&log, "x", WALL_MS + i);
	child_start(&child, read_slowly, &log.lines, -1);
	log.fd = child.in;
	assert_int_equal(sigaction(SIGALRM, &action, NULL), 0);
	assert_int_equal(setitimer(ITIMER_REAL, &often, NULL), 0);
	um_log_flush(&log);
	assert_int_equal(setitimer(ITIMER_REAL, &never, NULL), 0);
	assert_int_equal(child_end(&child, &out, &err), 0);
	assert_true(interrupts > 0);
	um_buf_free(&log.lines);
	um_buf_free(&out);
	um_buf_free(&err);
}

/* A full disk stops no request and keeps no line forever. */
TEST(a_full_disk_loses_lines_and_nothing_else)
{
	struct um_log log = { .fd = open("/dev/full", O_WRONLY),
		.program = "connect" };

	assert_true(log.fd >= 0);
	um_log_notice(&log, "x", WALL_MS);
	um_log_flush(&log);
	assert_int_equal(log.lines.len, 0);
	log.lines.failed = true;
	um_log_flush(&log);
	assert_false(log.lines.failed);
	close(log.fd);
	um_buf_free(&log.lines);
}

TEST(the_log_goes_where_the_configuration_says)
{
	static char nowhere[] = "/nonexistent/log";
	struct um_config config = { 0 };
	struct um_error err;
	struct um_log log;
	int kept = dup(STDERR_FILENO);
	int null = open("/dev/null", O_WRONLY);

	assert_true(um_log_open(&log, "connect", &config, false, &err));
	assert_int_equal(log.fd, STDERR_FILENO);
	assert_int_equal(dup2(null, STDERR_FILENO), STDERR_FILENO);
	assert_true(um_log_open(&log, "connect", &config, false, &err));
	assert_int_equal(log.fd, -1);
	close(STDERR_FILENO);
	assert_true(um_log_open(&log, "connect", &config, false, &err));
	assert_int_equal(log.fd, -1);
	assert_int_equal(dup2(kept, STDERR_FILENO), STDERR_FILENO);
	/* A web server puts a CGI program's standard error into its own log. */
	assert_true(um_log_open(&log, "connect", &config, true, &err));
	assert_int_equal(log.fd, -1);
	config.log_file = nowhere;
	assert_false(um_log_open(&log, "connect", &config, false, &err));
	assert_error(&err, "/nonexistent/log: No such file or directory");
	close(kept);
	close(null);
}

/* What is opened has the number of what is closed. */
TEST(a_program_without_standard_input_has_a_log)
{
	static char file[] = "/tmp/test_log-XXXXXX";
	struct um_config config = { .log_file = file };
	struct um_error err;
	struct um_log log;
	int made = mkstemp(file);
	int kept = dup(STDIN_FILENO);
	bool ok;

	assert_true(made >= 0);
	close(STDIN_FILENO);
	ok = um_log_open(&log, "connect", &config, false, &err);
	if (kept >= 0)
		dup2(kept, STDIN_FILENO);
	else if (ok)
		close(log.fd);
	close(kept);
	close(made);
	unlink(file);
	assert_true(ok);
	assert_int_equal(log.fd, STDIN_FILENO);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_request_is_one_json_object),
		cmocka_unit_test(unknown_fields_are_empty),
		cmocka_unit_test(nothing_from_the_request_is_logged),
		cmocka_unit_test(a_notice_is_escaped),
		cmocka_unit_test(lines_are_flushed_whole_and_in_order),
		cmocka_unit_test(a_log_that_was_renamed_is_opened_again),
		cmocka_unit_test(a_log_without_a_file_is_not_opened_again),
		cmocka_unit_test(lines_are_written_whole_despite_signals),
		cmocka_unit_test(a_full_disk_loses_lines_and_nothing_else),
		cmocka_unit_test(the_log_goes_where_the_configuration_says),
		cmocka_unit_test(a_program_without_standard_input_has_a_log),
	};

	signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
