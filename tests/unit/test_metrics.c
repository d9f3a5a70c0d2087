/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <glob.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "server/main.h"
#include "server/metrics_page.h"
#include "support.h"

#define NOW 1000000     /* ms, monotonic */
#define WALL 1800000000 /* Unix seconds */

static char demo[] = "demo", shop[] = "shop";
static struct um_spec any_spec;
static struct um_provider providers[] = { { .name = demo },
	{ .name = shop, .kind = UM_KIND_PAYMENT, .spec = &any_spec } };

static struct um_config
config_of(char *path)
{
	return (struct um_config){ .metrics_file = path,
		.providers = providers,
		.providers_len = LENGTH(providers) };
}

static const struct um_config own = { .providers = providers,
	.providers_len = LENGTH(providers) };

static struct um_metrics *
open_own(const char *program)
{
	struct um_metrics *metrics;
	struct um_error err;

	if (!um_metrics_open_own(&metrics, &own, program, &err))
		fail_msg("%s", err.text);
	return metrics;
}

static struct um_metrics *
open_shared(const struct um_config *config, const char *program)
{
	struct um_metrics *metrics;
	struct um_error err;

	if (!um_metrics_open(&metrics, config, program, &err))
		fail_msg("%s", err.text);
	return metrics;
}

/* A folder of its own, for the file whose name ends with a number. */
static char *
folder_make(char path[static 64])
{
	static char file[96];

	snprintf(path, 64, "/tmp/urlmode-metrics-XXXXXX");
	assert_non_null(mkdtemp(path));
	snprintf(file, sizeof(file), "%s/counters", path);
	return file;
}

static void
folder_remove(const char *path)
{
	char pattern[96];
	glob_t found;

	snprintf(pattern, sizeof(pattern), "%s/*", path);
	if (glob(pattern, 0, NULL, &found) == 0)
		for (size_t i = 0; i < found.gl_pathc; i++)
			assert_int_equal(unlink(found.gl_pathv[i]), 0);
	globfree(&found);
	assert_int_equal(rmdir(path), 0);
}

static const struct um_op silence = { .status = UM_STORE_UNAVAILABLE };

static void
assert_shows_at(const struct um_metrics *metrics, const struct um_op *op,
	int64_t now, const char *line)
{
	struct um_buf out = { 0 };
	char text[256];

	snprintf(text, sizeof(text), "\n%s\n", line);
	um_metrics_write(metrics, op, INT64_C(1000) * WALL, now, &out);
	if (!str_has(um_buf_str(&out), um_str(text)))
		fail_msg("no \"%s\" in: %.*s", line, (int)out.len, out.ptr);
	um_buf_free(&out);
}

static void
assert_shows(const struct um_metrics *metrics, const char *line)
{
	assert_shows_at(metrics, &silence, NOW, line);
}

static bool
shows(const struct um_metrics *metrics, const char *text, int64_t now)
{
	struct um_buf out = { 0 };
	bool found;

	um_metrics_write(metrics, &silence, INT64_C(1000) * WALL, now, &out);
	found = str_has(um_buf_str(&out), um_str(text));
	um_buf_free(&out);
	return found;
}

static void
count(struct um_metrics *metrics, int status, int64_t took_us)
{
	struct um_exchange ex = { .response.status = status };

	um_metrics_count(metrics, &ex, took_us);
}

/* Prometheus text format 0.0.4: a bucket counts all that are below it. */
TEST(requests_are_counted_by_status_and_duration)
{
	static const char *const lines[] = {
		"urlmode_requests_total{program=\"connect\",status=\"303\"} 2",
		"urlmode_requests_total{program=\"connect\",status=\"400\"} 1",
		"urlmode_requests_total{program=\"connect\",status=\"other\"} "
		"1",
		"urlmode_requests_total{program=\"status\",status=\"303\"} 0",
		"urlmode_request_duration_seconds_bucket{program=\"connect\","
		"le=\"0.001\"} 1",
		"urlmode_request_duration_seconds_bucket{program=\"connect\","
		"le=\"0.0025\"} 2",
		"urlmode_request_duration_seconds_bucket{program=\"connect\","
		"le=\"3\"} 3",
		"urlmode_request_duration_seconds_bucket{program=\"connect\","
		"le=\"+Inf\"} 4",
		"urlmode_request_duration_seconds_sum{program=\"connect\"} "
		"6.002002",
		"urlmode_request_duration_seconds_count{program=\"connect\"} 4",
	};
	struct um_metrics *metrics = open_own("connect");

	count(metrics, 303, 1000);
	count(metrics, 303, 1001);
	count(metrics, 400, 3000000);
	count(metrics, 418, 3000001);
	for (size_t i = 0; i < LENGTH(lines); i++)
		assert_shows(metrics, lines[i]);
	um_metrics_close(metrics);
}

TEST(refusals_are_counted_by_reason)
{
	struct um_metrics *metrics = open_own("oauth-return");
	struct um_exchange ex = { .plain = true };

	ex.refusal = UM_REFUSAL_UNKNOWN_KEY;
	um_metrics_count(metrics, &ex, 1);
	um_exchange_free(&ex);
	count(metrics, 200, 1);
	assert_shows(metrics,
		"urlmode_refusals_total{program=\"oauth-return\","
		"reason=\"unknown_key\"} 1");
	assert_shows(metrics,
		"urlmode_refusals_total{program=\"oauth-return\","
		"reason=\"unknown_route\"} 0");
	um_metrics_close(metrics);
}

TEST(events_are_counted_by_provider_and_outcome)
{
	struct um_metrics *metrics = open_own("webhook");
	struct um_op op = { .kind = UM_OP_EVENT,
		.provider = "shop",
		.status = UM_STORE_DONE,
		.event_outcome = UM_EVENT_LATE };

	um_metrics_event(metrics, &op);
	op.status = UM_STORE_UNAVAILABLE;
	um_metrics_event(metrics, &op);
	op.status = UM_STORE_DONE;
	op.provider = "nobody";
	um_metrics_event(metrics, &op);
	op.kind = UM_OP_COMPLETE;
	op.provider = "shop";
	um_metrics_event(metrics, &op);
	assert_shows(metrics,
		"urlmode_events_total{provider=\"shop\",outcome=\"late\"} 1");
	assert_shows(metrics,
		"urlmode_events_total{provider=\"demo\",outcome=\"late\"} 0");
	assert_false(shows(metrics, "nobody", NOW));
	assert_false(shows(metrics, "provider=\"other\"", NOW));
	um_metrics_close(metrics);
}

/* Whether the database could record it or not. */
TEST(deliveries_that_cannot_be_read_are_counted_by_provider)
{
	static const enum um_store_status statuses[] = { UM_STORE_DONE,
		UM_STORE_FAILED, UM_STORE_UNAVAILABLE };
	struct um_metrics *metrics = open_own("webhook");
	struct um_op op = { .kind = UM_OP_UNREADABLE, .provider = "shop" };

	for (size_t i = 0; i < LENGTH(statuses); i++) {
		op.status = statuses[i];
		um_metrics_event(metrics, &op);
	}
	assert_shows(metrics,
		"urlmode_unreadable_deliveries_total{provider=\"shop\"} 3");
	assert_shows(metrics,
		"urlmode_unreadable_deliveries_total{provider=\"demo\"} 0");
	assert_shows(metrics,
		"urlmode_events_total{provider=\"shop\",outcome=\"unknown\"} "
		"0");
	um_metrics_close(metrics);
}

/* The labels are bounded, whatever many configurations have named. */
TEST(providers_without_a_place_are_other)
{
	static char names[UM_METRICS_PROVIDERS_MAX + 2][8];
	static struct um_provider many[UM_METRICS_PROVIDERS_MAX + 2];
	struct um_config config = { .providers = many,
		.providers_len = LENGTH(many) };
	struct um_op op = { .kind = UM_OP_EVENT,
		.provider = names[UM_METRICS_PROVIDERS_MAX + 1],
		.status = UM_STORE_DONE,
		.event_outcome = UM_EVENT_ACCEPT };
	struct um_metrics *metrics;
	struct um_error err;

	for (size_t i = 0; i < LENGTH(many); i++) {
		snprintf(names[i], sizeof(names[i]), "p%zu", i);
		many[i].name = names[i];
	}
	assert_true(um_metrics_open_own(&metrics, &config, "webhook", &err));
	um_metrics_event(metrics, &op);
	op.provider = names[0];
	um_metrics_event(metrics, &op);
	assert_shows(metrics,
		"urlmode_events_total{provider=\"other\",outcome=\"accept\"} "
		"1");
	assert_shows(metrics,
		"urlmode_events_total{provider=\"p0\",outcome=\"accept\"} 1");
	op.kind = UM_OP_UNREADABLE;
	op.provider = names[UM_METRICS_PROVIDERS_MAX + 1];
	um_metrics_event(metrics, &op);
	assert_shows(metrics,
		"urlmode_unreadable_deliveries_total{provider=\"other\"} 1");
	um_metrics_close(metrics);
}

#define DURATION "urlmode_transaction_duration_seconds_"

TEST(batches_and_operations_are_counted)
{
	static const char *const durations[] = {
		DURATION "bucket{program=\"webhook\",le=\"0.001\"} 1",
		DURATION "bucket{program=\"webhook\",le=\"3\"} 1",
		DURATION "bucket{program=\"webhook\",le=\"+Inf\"} 2",
		DURATION "sum{program=\"webhook\"} 4.001000",
		DURATION "count{program=\"webhook\"} 2",
		DURATION "count{program=\"connect\"} 0",
		"urlmode_request_duration_seconds_count{program=\"webhook\"} 0",
	};
	struct um_metrics *metrics = open_own("webhook");

	um_metrics_batch(metrics, 5, 900);
	um_metrics_batch(metrics, 1, 4000100);
	assert_shows(metrics, "urlmode_batches_total{program=\"webhook\"} 2");
	assert_shows(metrics,
		"urlmode_operations_total{program=\"webhook\"} 6");
	for (size_t i = 0; i < LENGTH(durations); i++)
		assert_shows(metrics, durations[i]);
	um_metrics_close(metrics);
}

TEST(what_the_database_says)
{
	struct um_metrics *metrics = open_own("status");
	const struct um_op answer = { .status = UM_STORE_DONE,
		.row = { .unclaimed = 3,
			.unclaimed_age_s = 90,
			.undelivered = 2,
			.undelivered_age_s = 60,
			.failing = 1,
			.queue_usage = 0.25,
			.database_ms = INT64_C(1000) * WALL - 1500 } };

	assert_shows_at(metrics, &answer, NOW, "urlmode_database_up 1");
	assert_shows_at(metrics, &answer, NOW, "urlmode_unclaimed_payments 3");
	assert_shows_at(metrics, &answer, NOW,
		"urlmode_oldest_unclaimed_payment_age_seconds 90");
	assert_shows_at(metrics, &answer, NOW, "urlmode_undelivered_claims 2");
	assert_shows_at(metrics, &answer, NOW,
		"urlmode_oldest_undelivered_claim_age_seconds 60");
	assert_shows_at(metrics, &answer, NOW,
		"urlmode_database_clock_difference_seconds -1.500");
	assert_shows_at(metrics, &answer, NOW,
		"urlmode_notification_queue_usage_ratio 0.250000");
	assert_shows_at(metrics, &answer, NOW, "urlmode_failing_accounts 1");
	assert_shows(metrics, "urlmode_database_up 0");
	assert_false(shows(metrics, "urlmode_unclaimed_payments", NOW));
	assert_false(shows(metrics, "clock_difference", NOW));
	um_metrics_close(metrics);
}

static void
write_text(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

/* What `urlmode check --record` leaves, and `urlmode jwks refresh`. */
TEST(what_commands_have_left_on_this_host)
{
	static const struct {
		const char *text;
		bool counts, ends;
	} rows[] = {
		{ "1700000000 2 3\n", true, false },
		{ "1700000000 2 3 0\n", true, false },
		{ "1700000000 2 3 1800000000\n", true, true },
		{ "1700000000 2 3 1800000000 5\n", false, false },
		{ "1700000000 2 3", false, false },
		{ "1700000000 2\n", false, false },
		{ "1700000000 2 -3\n", false, false },
		{ "1700000000 2 \n", false, false },
		{ "\n", false, false },
		{ "", false, false },
	};
	char folder[64], check[128], keys[128];
	struct um_config config = config_of(folder_make(folder));
	const struct timespec times[2] = { { .tv_sec = WALL },
		{ .tv_sec = WALL - 90 } };
	struct um_metrics *metrics = open_shared(&config, "status");

	snprintf(check, sizeof(check), "%s.check", config.metrics_file);
	for (size_t i = 0; i < LENGTH(rows); i++) {
		write_text(check, rows[i].text);
		assert_row(rows[i].text,
			shows(metrics,
				"urlmode_check_findings{severity=\"error\"} "
				"2\n",
				NOW)
				== rows[i].counts);
		assert_row(rows[i].text,
			shows(metrics,
				"urlmode_tls_certificate_expiry_timestamp_"
				"seconds 1800000000\n",
				NOW)
				== rows[i].ends);
	}

	assert_false(shows(metrics, "issuer_keys_age", NOW));
	snprintf(keys, sizeof(keys), "%s.jwks", config.metrics_file);
	config.openid.jwks_file = keys;
	assert_false(shows(metrics, "issuer_keys_age", NOW));
	write_text(keys, "{}");
	assert_int_equal(utimensat(AT_FDCWD, keys, times, 0), 0);
	assert_shows(metrics, "urlmode_issuer_keys_age_seconds 90");
	um_metrics_close(metrics);
	folder_remove(folder);
}

TEST(a_process_says_how_it_is)
{
	char version[128];
	struct um_metrics *metrics = open_own("connect");

	assert_shows(metrics, "urlmode_processes{program=\"connect\"} 0");
	um_metrics_join(metrics);
	um_metrics_heartbeat(metrics, NOW, 3, 2, NOW - 1500);
	assert_shows(metrics, "urlmode_processes{program=\"connect\"} 1");
	assert_shows(metrics, "urlmode_processes{program=\"webhook\"} 0");
	assert_shows(metrics,
		"urlmode_requests_in_progress{program=\"connect\"} 3");
	assert_shows(metrics,
		"urlmode_queue_operations{program=\"connect\"} 2");
	assert_shows(metrics,
		"urlmode_database_connections{program=\"connect\"} 1");
	assert_shows(metrics,
		"urlmode_database_connection_age_seconds{program=\"connect\"} "
		"1.500");
	um_metrics_heartbeat(metrics, NOW, 0, 0, -1);
	assert_shows(metrics,
		"urlmode_database_connections{program=\"connect\"} 0");
	assert_false(shows(metrics, "age_seconds{", NOW));
	snprintf(version, sizeof(version),
		"urlmode_build_info{version=\"%s\"} 1", um_version());
	assert_shows(metrics, version);
	assert_shows(metrics, "urlmode_keys_refused{program=\"connect\"} 0");
	um_metrics_set_keys(metrics, true);
	assert_shows(metrics, "urlmode_keys_refused{program=\"connect\"} 1");
	um_metrics_set_keys(metrics, false);
	assert_shows(metrics, "urlmode_keys_refused{program=\"connect\"} 0");
	assert_shows(metrics, "urlmode_configuration_refused 0");
	metrics->config_refused = true;
	assert_shows(metrics, "urlmode_configuration_refused 1");
	um_metrics_close(metrics);
}

/* What one program counts another shows, and a restart keeps. */
TEST(programs_share_their_counters_in_a_file)
{
	char folder[64];
	struct um_config config = config_of(folder_make(folder));
	struct um_metrics *connect = open_shared(&config, "connect");
	struct um_metrics *status = open_shared(&config, "status");
	struct um_config other = config;

	count(connect, 200, 1);
	count(status, 404, 1);
	um_metrics_close(connect);
	/* Another configuration has the providers at other places. */
	other.providers = &providers[1];
	other.providers_len = 1;
	connect = open_shared(&other, "connect");
	count(connect, 200, 1);
	um_metrics_event(connect,
		&(struct um_op){ .kind = UM_OP_EVENT,
			.provider = "shop",
			.status = UM_STORE_DONE,
			.event_outcome = UM_EVENT_SEEN });
	assert_shows(status,
		"urlmode_requests_total{program=\"connect\",status=\"200\"} 2");
	assert_shows(status,
		"urlmode_events_total{provider=\"shop\",outcome=\"seen\"} 1");
	assert_shows(connect,
		"urlmode_requests_total{program=\"status\",status=\"404\"} 1");
	assert_true(shows(status, "urlmode_metrics_shared 1\n", NOW));
	um_metrics_close(connect);
	um_metrics_close(status);
	folder_remove(folder);
}

/*
 * Lives as another process until it is killed: `webhook`, which has shown at
 * this time that it runs.
 */
static pid_t
start_webhook(const struct um_config *config, int64_t heartbeat)
{
	int ready[2];
	char byte;
	pid_t pid;

	assert_int_equal(pipe(ready), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		struct um_metrics *metrics = open_shared(config, "webhook");

		um_metrics_join(metrics);
		um_metrics_heartbeat(metrics, heartbeat, 0, 0, -1);
		(void)!write(ready[1], "", 1);
		for (;;)
			pause();
	}
	close(ready[1]);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	return pid;
}

static void
end(pid_t pid)
{
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

#define WEBHOOK 3 /* its row */
#define SILENT UM_METRICS_SILENT_MS

TEST(a_program_that_hangs_or_ends_is_noticed)
{
	char folder[64];
	struct um_config config = config_of(folder_make(folder));
	struct um_metrics *status = open_shared(&config, "status");
	pid_t first, second;

	assert_int_equal(um_metrics_health(status, WEBHOOK, NOW),
		UM_METRICS_UNKNOWN);
	assert_false(shows(status, "urlmode_program_up{", NOW));
	first = start_webhook(&config, NOW);
	assert_int_equal(um_metrics_health(status, WEBHOOK, NOW + SILENT),
		UM_METRICS_OK);
	assert_true(shows(status, "urlmode_program_up{program=\"webhook\"} 1",
		NOW + SILENT));
	assert_int_equal(um_metrics_health(status, WEBHOOK, NOW + SILENT + 1),
		UM_METRICS_SILENT);
	assert_true(shows(status, "urlmode_program_up{program=\"webhook\"} 0",
		NOW + SILENT + 1));

	/* One that answers does not hide one that hangs. */
	second = start_webhook(&config, NOW + SILENT);
	assert_int_equal(um_metrics_health(status, WEBHOOK, NOW + SILENT + 1),
		UM_METRICS_SILENT);
	end(first);
	assert_int_equal(um_metrics_health(status, WEBHOOK, NOW + SILENT + 1),
		UM_METRICS_OK);
	end(second);
	assert_int_equal(um_metrics_health(status, WEBHOOK, NOW + 2 * SILENT),
		UM_METRICS_OK);
	assert_int_equal(um_metrics_health(status, WEBHOOK,
				 NOW + 2 * SILENT + 1),
		UM_METRICS_GONE);
	/* No provider needs it. */
	providers[1].spec = NULL;
	assert_int_equal(um_metrics_health(status, WEBHOOK,
				 NOW + 2 * SILENT + 1),
		UM_METRICS_UNKNOWN);
	assert_false(shows(status, "urlmode_program_up{program=\"webhook\"",
		NOW + 2 * SILENT + 1));
	providers[1].spec = &any_spec;

	/* The place of one that has ended is free. */
	first = start_webhook(&config, NOW);
	assert_int_equal(status->file.counters->processes[0].program, WEBHOOK);
	assert_int_equal(status->file.counters->processes[2].heartbeat_ms, 0);
	end(first);
	/* A file that has outlived the machine's start. */
	assert_int_equal(um_metrics_health(status, WEBHOOK, NOW - SILENT - 1),
		UM_METRICS_UNKNOWN);
	um_metrics_close(status);
	folder_remove(folder);
}

/* Without a file in the configuration the program runs all the same. */
TEST(counters_of_one_process)
{
	struct um_metrics *metrics = open_own("connect");

	assert_true(shows(metrics, "urlmode_metrics_shared 0\n", NOW));
	um_metrics_join(metrics);
	um_metrics_heartbeat(metrics, NOW, 0, 0, -1);
	assert_int_equal(um_metrics_health(metrics, 0, NOW), UM_METRICS_OK);
	assert_int_equal(um_metrics_health(metrics, WEBHOOK, NOW),
		UM_METRICS_UNKNOWN);
	um_error(&metrics->note, "/run/x: not there");
	assert_true(shows(metrics,
		"# Of one process alone: /run/x: not there\n", NOW));
	um_metrics_close(metrics);
}

/* Otherwise a full file system would end each program that counts something. */
TEST(the_file_has_its_blocks_before_it_is_mapped)
{
	char folder[64], pattern[128];
	struct um_config config = config_of(folder_make(folder));
	struct stat st;
	glob_t found;

	for (int time = 0; time < 2; time++) {
		struct um_metrics *metrics = open_shared(&config, "connect");

		snprintf(pattern, sizeof(pattern), "%s/*", folder);
		assert_int_equal(glob(pattern, 0, NULL, &found), 0);
		assert_int_equal(stat(found.gl_pathv[0], &st), 0);
		assert_true(st.st_size > 0);
		assert_true(st.st_blocks * 512 >= st.st_size);
		um_metrics_close(metrics);
		/* The second time, one that a program of before has left. */
		assert_int_equal(truncate(found.gl_pathv[0], 0), 0);
		assert_int_equal(truncate(found.gl_pathv[0], st.st_size), 0);
		globfree(&found);
	}
	folder_remove(folder);
}

TEST(another_kind_of_file_is_refused)
{
	static char nowhere[] = "/nonexistent/x";
	char folder[64], name[128], target[128];
	struct um_config config = config_of(folder_make(folder));
	struct um_metrics *metrics = open_shared(&config, "connect");
	struct um_error err;
	glob_t found;

	um_metrics_close(metrics);
	snprintf(target, sizeof(target), "%s/*", folder);
	assert_int_equal(glob(target, 0, NULL, &found), 0);
	assert_int_equal(found.gl_pathc, 1);
	snprintf(name, sizeof(name), "%s", found.gl_pathv[0]);
	globfree(&found);
	/* The number of the layout, so that two versions share nothing. */
	assert_int_equal(strspn(name + strlen(config.metrics_file),
				 ".0123456789abcdef"),
		9);

	assert_int_equal(truncate(name, 10), 0);
	assert_false(um_metrics_open(&metrics, &config, "connect", &err));
	assert_null(metrics);
	assert_error(&err, name);
	assert_error(&err, "not a file of counters");

	snprintf(target, sizeof(target), "%s/target", folder);
	assert_int_equal(rename(name, target), 0);
	assert_int_equal(symlink(target, name), 0);
	assert_false(um_metrics_open(&metrics, &config, "connect", &err));
	assert_error(&err, name);

	config.metrics_file = nowhere;
	assert_false(um_metrics_open(&metrics, &config, "connect", &err));
	assert_error(&err, "/nonexistent/x.");
	assert_error(&err, "No such file or directory");
	um_metrics_close(NULL);
	folder_remove(folder);
}

/* Every line is a comment or `name{labels} number`. */
TEST(every_line_is_in_the_prometheus_format)
{
	struct um_metrics *metrics = open_own("connect");
	struct um_buf out = { 0 };
	char *save;

	um_metrics_write(metrics, &silence, 0, NOW, &out);
	um_buf_put(&out, "", 1);
	for (char *line = strtok_r(out.ptr, "\n", &save); line != NULL;
		line = strtok_r(NULL, "\n", &save)) {
		const char *space = strrchr(line, ' ');
		char *after;

		if (strncmp(line, "# HELP ", 7) == 0
			|| strncmp(line, "# TYPE ", 7) == 0)
			continue;
		assert_int_equal(strncmp(line, "urlmode_", 8), 0);
		assert_non_null(space);
		strtod(space + 1, &after);
		assert_row(line, *after == '\0' && after != space + 1);
	}
	um_buf_free(&out);
	um_metrics_close(metrics);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(requests_are_counted_by_status_and_duration),
		cmocka_unit_test(refusals_are_counted_by_reason),
		cmocka_unit_test(events_are_counted_by_provider_and_outcome),
		cmocka_unit_test(
			deliveries_that_cannot_be_read_are_counted_by_provider),
		cmocka_unit_test(providers_without_a_place_are_other),
		cmocka_unit_test(batches_and_operations_are_counted),
		cmocka_unit_test(what_the_database_says),
		cmocka_unit_test(what_commands_have_left_on_this_host),
		cmocka_unit_test(a_process_says_how_it_is),
		cmocka_unit_test(programs_share_their_counters_in_a_file),
		cmocka_unit_test(a_program_that_hangs_or_ends_is_noticed),
		cmocka_unit_test(counters_of_one_process),
		cmocka_unit_test(the_file_has_its_blocks_before_it_is_mapped),
		cmocka_unit_test(another_kind_of_file_is_refused),
		cmocka_unit_test(every_line_is_in_the_prometheus_format),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
