/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "server/metrics.h"
#include "support.h"

static struct um_metrics *
open_metrics(const char *path, const char *program)
{
	struct um_metrics *metrics;
	struct um_error err;

	if (!um_metrics_open(&metrics, path, program, &err))
		fail_msg("%s", err.text);
	return metrics;
}

static void
assert_shows(const struct um_metrics *metrics, const char *line)
{
	struct um_buf out = { 0 };

	um_metrics_write(metrics, &out);
	if (!str_has(um_buf_str(&out), um_str(line)))
		fail_msg("no \"%s\"in: %.*s", line, (int)out.len, out.ptr);
	um_buf_free(&out);
}

/* Prometheus text format 0.0.4: a bucket counts all that are below it. */
TEST(requests_are_counted_by_status_and_duration)
{
	struct um_metrics *metrics = open_metrics(NULL, "connect");

	um_metrics_count(metrics, 303, 1000);
	um_metrics_count(metrics, 303, 1001);
	um_metrics_count(metrics, 400, 3000000);
	um_metrics_count(metrics, 418, 3000001);
	assert_shows(metrics,
		"urlmode_requests_total{program=\"connect\","
		"status=\"303\"} 2\n");
	assert_shows(metrics,
		"urlmode_requests_total{program=\"connect\","
		"status=\"400\"} 1\n");
	assert_shows(metrics,
		"urlmode_requests_total{program=\"connect\","
		"status=\"other\"} 1\n");
	assert_shows(metrics,
		"urlmode_request_seconds_bucket{program="
		"\"connect\",le=\"0.001\"} 1\n");
	assert_shows(metrics,
		"urlmode_request_seconds_bucket{program="
		"\"connect\",le=\"0.0025\"} 2\n");
	assert_shows(metrics,
		"urlmode_request_seconds_bucket{program="
		"\"connect\",le=\"3\"} 3\n");
	assert_shows(metrics,
		"urlmode_request_seconds_bucket{program="
		"\"connect\",le=\"+Inf\"} 4\n");
	assert_shows(metrics,
		"urlmode_request_seconds_sum{program=\"connect\""
		"} 6.002002\n");
	assert_shows(metrics,
		"urlmode_request_seconds_count{program="
		"\"connect\"} 4\n");
	assert_shows(metrics,
		"urlmode_requests_total{program=\"status\","
		"status=\"303\"} 0\n");
	um_metrics_close(metrics);
}

TEST(batches_and_operations_are_counted)
{
	struct um_metrics *metrics = open_metrics(NULL, "webhook");

	um_metrics_batch(metrics, 5);
	um_metrics_batch(metrics, 1);
	assert_shows(metrics, "urlmode_batches_total{program=\"webhook\"} 2\n");
	assert_shows(metrics,
		"urlmode_operations_total{program=\"webhook\"} 6\n");
	um_metrics_close(metrics);
}

TEST(unclaimed_payments_are_a_gauge)
{
	struct um_buf out = { 0 };

	um_metrics_write_unclaimed(3, &out);
	assert_true(str_has(um_buf_str(&out),
		STR("\n# TYPE urlmode_unclaimed_payments gauge\n"
		    "urlmode_unclaimed_payments 3\n")));
	um_buf_free(&out);
}

/* What one program counts another shows, and a restart keeps. */
TEST(programs_share_their_counters_in_a_file)
{
	char *path = file_make(STR(""), 0600);
	struct um_metrics *connect = open_metrics(path, "connect");
	struct um_metrics *status = open_metrics(path, "status");

	um_metrics_count(connect, 200, 1);
	um_metrics_count(status, 404, 1);
	um_metrics_close(connect);
	connect = open_metrics(path, "connect");
	um_metrics_count(connect, 200, 1);
	assert_shows(status,
		"urlmode_requests_total{program=\"connect\","
		"status=\"200\"} 2\n");
	assert_shows(connect,
		"urlmode_requests_total{program=\"status\","
		"status=\"404\"} 1\n");
	um_metrics_close(connect);
	um_metrics_close(status);
	file_remove(path);
}

TEST(another_kind_of_file_is_refused)
{
	char *path = file_make(STR("something else"), 0600);
	char *link = file_make(STR(""), 0600);
	struct um_metrics *metrics;
	struct um_error err;

	assert_false(um_metrics_open(&metrics, path, "connect", &err));
	assert_null(metrics);
	assert_error(&err, path);
	assert_error(&err, "not the counters of this version");
	assert_false(
		um_metrics_open(&metrics, "/nonexistent/x", "connect", &err));
	assert_error(&err, "/nonexistent/x: No such file or directory");
	unlink(link);
	assert_int_equal(symlink(path, link), 0);
	assert_false(um_metrics_open(&metrics, link, "connect", &err));
	assert_null(metrics);
	assert_error(&err, link);
	um_metrics_close(NULL);
	file_remove(link);
	file_remove(path);
}

/* Every line is a comment or `name{labels} number`. */
TEST(every_line_is_in_the_prometheus_format)
{
	struct um_metrics *metrics = open_metrics(NULL, "connect");
	struct um_buf out = { 0 };
	char *save;

	um_metrics_write(metrics, &out);
	um_buf_put(&out, "", 1);
	for (char *line = strtok_r(out.ptr, "\n", &save); line != NULL;
		line = strtok_r(NULL, "\n", &save)) {
		const char *space = strrchr(line, ' ');
		char *end;

		if (strncmp(line, "# HELP ", 7) == 0
			|| strncmp(line, "# TYPE ", 7) == 0)
			continue;
		assert_int_equal(strncmp(line, "urlmode_", 8), 0);
		assert_true(space != NULL && space > line && space[-1] == '}');
		strtod(space + 1, &end);
		assert_row(line, *end == '\0' && end != space + 1);
	}
	um_buf_free(&out);
	um_metrics_close(metrics);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(requests_are_counted_by_status_and_duration),
		cmocka_unit_test(batches_and_operations_are_counted),
		cmocka_unit_test(unclaimed_payments_are_a_gauge),
		cmocka_unit_test(programs_share_their_counters_in_a_file),
		cmocka_unit_test(another_kind_of_file_is_refused),
		cmocka_unit_test(every_line_is_in_the_prometheus_format),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
