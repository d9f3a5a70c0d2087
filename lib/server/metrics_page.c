/* SPDX-License-Identifier: MIT */
#include "server/metrics_page.h"

#include <stddef.h>

#include "core/file.h"
#include "server/main.h"

#define CHECK_MAX 96 /* bytes of its numbers */
#define CHECK_NUMBERS 4

static const char *const statuses[] = {
#define X(status) #status,
	UM_METRICS_STATUSES(X)
#undef X
		"other",
};
static const char *const buckets[] = {
#define X(us, text) text,
	UM_METRICS_BUCKETS(X)
#undef X
		"+Inf",
};
static const char *const reasons[] = {
#define X(name, status, code, page, advice) code,
	UM_REFUSALS(X)
#undef X
};
static const char *const outcomes[] = {
#define X(name, word) word,
	UM_EVENT_OUTCOMES(X)
#undef X
};

enum metric {
#define X(name, type, labels, help) name,
	UM_METRICS(X)
#undef X
};
static const struct {
	const char *name;
	const char *type;
	const char *help;
} table[] = {
#define X(name, type, labels, help) { "urlmode_" #name, #type, help },
	UM_METRICS(X)
#undef X
};

/* A page that is being written. */
struct page {
	const struct um_metrics *metrics;
	const struct um_metrics_counters *counters;
	int64_t wall_ms;
	int64_t now;
	struct um_buf *out;
};

static void
head(struct page *page, enum metric metric)
{
	um_buf_printf(page->out, "# HELP %s %s\n# TYPE %s %s\n",
		table[metric].name, table[metric].help, table[metric].name,
		table[metric].type);
}

/* One line; a label without a name is left out. */
static void
line(struct page *page, enum metric metric, const char *suffix,
	const char *const labels[4], double value, int decimals)
{
	um_buf_puts(page->out, table[metric].name);
	um_buf_puts(page->out, suffix);
	for (size_t i = 0; i < 4 && labels[i] != NULL; i += 2)
		um_buf_printf(page->out, "%s%s=\"%s\"", i == 0 ? "{" : ",",
			labels[i], labels[i + 1]);
	um_buf_printf(page->out, "%s %.*f\n", labels[0] != NULL ? "}" : "",
		decimals, value);
}

#define LABELS(...) ((const char *const[4]){ __VA_ARGS__ })
#define PROGRAM(p) "program", um_metrics_program_name(p)

#define OFFSET(member) offsetof(struct um_metrics_program, member)

/* The member of a program's counters that begins at this offset. */
static const void *
member_of(const struct page *page, size_t program, size_t offset)
{
	return (const char *)&page->counters->programs[program] + offset;
}

/* A counter of each program for each word, or one without a word. */
static void
write_counters(struct page *page, enum metric metric, const char *label,
	const char *const *words, size_t len, size_t offset)
{
	head(page, metric);
	for (size_t p = 0; p < UM_METRICS_PROGRAMS_LEN; p++) {
		const _Atomic uint64_t *counters = member_of(page, p, offset);

		for (size_t w = 0; w < len; w++)
			line(page, metric, "",
				LABELS(PROGRAM(p), label,
					words != NULL ? words[w] : NULL),
				(double)counters[w], 0);
	}
}

static void
write_durations(struct page *page, enum metric metric, size_t offset)
{
	head(page, metric);
	for (size_t p = 0; p < UM_METRICS_PROGRAMS_LEN; p++) {
		const struct um_metrics_durations *durations = member_of(page,
			p, offset);
		double count = 0;

		for (size_t b = 0; b <= UM_METRICS_BUCKETS_LEN; b++) {
			count += (double)durations->bucket[b];
			line(page, metric, "_bucket",
				LABELS(PROGRAM(p), "le", buckets[b]), count, 0);
		}
		line(page, metric, "_sum", LABELS(PROGRAM(p)),
			(double)durations->us / 1e6, 6);
		line(page, metric, "_count", LABELS(PROGRAM(p)), count, 0);
	}
}

/* The name of the provider with this place. NULL: it is not shown. */
static const char *
provider_name(const struct um_metrics_counters *counters, size_t place)
{
	if (place == UM_METRICS_PROVIDERS_MAX)
		/* The last place is shown only if it is used. */
		return counters->providers_len == place ? "other" : NULL;
	return place < counters->providers_len ? counters->providers[place].name
					       : NULL;
}

static void
write_events(struct page *page)
{
	const struct um_metrics_counters *counters = page->counters;

	head(page, events_total);
	for (size_t i = 0; i <= UM_METRICS_PROVIDERS_MAX; i++) {
		const char *name = provider_name(counters, i);

		for (size_t o = 0; name != NULL && o < UM_METRICS_OUTCOMES_LEN;
			o++)
			line(page, events_total, "",
				LABELS("provider", name, "outcome",
					outcomes[o]),
				(double)counters->providers[i].outcome[o], 0);
	}
}

static void
write_unreadable(struct page *page)
{
	const struct um_metrics_counters *counters = page->counters;

	head(page, unreadable_deliveries_total);
	for (size_t i = 0; i <= UM_METRICS_PROVIDERS_MAX; i++) {
		const char *name = provider_name(counters, i);

		if (name != NULL)
			line(page, unreadable_deliveries_total, "",
				LABELS("provider", name),
				(double)counters->providers[i].unreadable, 0);
	}
}

/* The gauges of processes, which are added up for each program. */
static const enum metric gauges[] = { processes, requests_in_progress,
	queue_operations, database_connections };

#define GAUGES_LEN (sizeof(gauges) / sizeof(gauges[0]))

struct together {
	double sums[GAUGES_LEN];
	int64_t connected; /* ms, the latest; 0: none is connected */
	double outdated;   /* processes */
};

static void
add_up(const struct page *page, struct together all[])
{
	uint64_t on_disk = um_config_digest(page->metrics->config);

	for (size_t i = 0; i < UM_METRICS_PROCESSES_MAX; i++) {
		const struct um_metrics_process *process =
			&page->counters->processes[i];
		struct together *one;

		if (process->heartbeat_ms == 0
			|| process->program >= UM_METRICS_PROGRAMS_LEN
			|| !um_metrics_file_lives(&page->metrics->file, i))
			continue;
		one = &all[process->program];
		one->sums[0]++;
		one->sums[1] += (double)process->requests;
		one->sums[2] += (double)process->queue;
		one->sums[3] += process->connected_ms >= 0;
		one->outdated += process->loaded != on_disk;
		if (process->connected_ms > one->connected)
			one->connected = process->connected_ms;
	}
}

static void
write_processes(struct page *page)
{
	struct together all[UM_METRICS_PROGRAMS_LEN] = { 0 };

	add_up(page, all);
	for (size_t g = 0; g < GAUGES_LEN; g++) {
		head(page, gauges[g]);
		for (size_t p = 0; p < UM_METRICS_PROGRAMS_LEN; p++)
			line(page, gauges[g], "", LABELS(PROGRAM(p)),
				all[p].sums[g], 0);
	}
	head(page, database_connection_age_seconds);
	for (size_t p = 0; p < UM_METRICS_PROGRAMS_LEN; p++)
		if (all[p].connected != 0)
			line(page, database_connection_age_seconds, "",
				LABELS(PROGRAM(p)),
				(double)(page->now - all[p].connected) / 1e3,
				3);
	head(page, keys_refused);
	for (size_t p = 0; p < UM_METRICS_PROGRAMS_LEN; p++)
		line(page, keys_refused, "", LABELS(PROGRAM(p)),
			(double)um_metrics_keys_refused(page->metrics, p), 0);
	head(page, configuration_outdated);
	for (size_t p = 0; p < UM_METRICS_PROGRAMS_LEN; p++)
		line(page, configuration_outdated, "", LABELS(PROGRAM(p)),
			all[p].outdated, 0);
	head(page, program_up);
	for (size_t p = 0; p < UM_METRICS_PROGRAMS_LEN; p++) {
		enum um_metrics_health health = um_metrics_health(page->metrics,
			p, page->now);

		if (health != UM_METRICS_UNKNOWN)
			line(page, program_up, "", LABELS(PROGRAM(p)),
				health == UM_METRICS_OK, 0);
	}
}

static void
write_certificates(struct page *page)
{
	const struct um_config *config = page->metrics->config;
	int64_t end;

	head(page, certificate_expiry_timestamp_seconds);
	for (size_t i = 0; i < config->providers_len; i++) {
		if (config->providers[i].spec == NULL
			|| !um_spec_certificates_end(config->providers[i].spec,
				&end))
			continue;
		end /= 1000;
		line(page, certificate_expiry_timestamp_seconds, "",
			LABELS("provider", config->providers[i].name),
			(double)end, 0);
	}
}

static void
write_one(struct page *page, enum metric metric, double value, int decimals)
{
	head(page, metric);
	line(page, metric, "", LABELS(NULL), value, decimals);
}

static bool
read_number(uint64_t *number, struct um_str digits)
{
	for (size_t i = 0; i < digits.len; i++) {
		if (digits.ptr[i] < '0' || digits.ptr[i] > '9')
			return false;
		*number = *number * 10 + (uint64_t)(digits.ptr[i] - '0');
	}
	return digits.len != 0;
}

/* A line of numbers, with a blank between two. Returns how many; 0: it is none. */
static size_t
read_numbers(uint64_t numbers[static CHECK_NUMBERS], struct um_str text)
{
	struct um_str rest = um_str_cut(&text, "\n");
	size_t count = 0;

	if (text.ptr == NULL)
		return 0;
	while (rest.ptr != NULL) {
		struct um_str digits = um_str_cut(&rest, " ");

		if (count == CHECK_NUMBERS
			|| !read_number(&numbers[count++], digits))
			return 0;
	}
	return count;
}

/*
 * What `urlmode check --record` has left beside the counters, if it runs: when,
 * how many errors and warnings, and when the certificate expires, if it knows.
 */
static void
write_check(struct page *page)
{
	const char *file = page->metrics->config->metrics_file;
	uint64_t numbers[CHECK_NUMBERS] = { 0 };
	struct um_buf path = { 0 }, text = { 0 };
	struct um_error err;

	um_buf_cat(&path, file != NULL ? file : UM_METRICS_FILE, ".check");
	um_buf_put(&path, "", 1);
	if (!path.failed && um_file_read(&text, path.ptr, CHECK_MAX, &err)
		&& read_numbers(numbers, um_buf_str(&text)) >= 3) {
		head(page, check_findings);
		line(page, check_findings, "", LABELS("severity", "error"),
			(double)numbers[1], 0);
		line(page, check_findings, "", LABELS("severity", "warning"),
			(double)numbers[2], 0);
		write_one(page, check_timestamp_seconds, (double)numbers[0], 0);
		if (numbers[3] != 0)
			write_one(page,
				tls_certificate_expiry_timestamp_seconds,
				(double)numbers[3], 0);
	}
	um_buf_free(&path);
	um_buf_free(&text);
}

static void
write_issuer_keys(struct page *page)
{
	const char *file = page->metrics->config->openid.jwks_file;
	struct stat st;
	int64_t age;

	if (file == NULL || stat(file, &st) != 0)
		return;
	age = page->wall_ms / 1000 - st.st_mtim.tv_sec;
	write_one(page, issuer_keys_age_seconds, (double)age, 0);
}

void
um_metrics_write(const struct um_metrics *metrics, const struct um_op *asked,
	int64_t wall_ms, int64_t now, struct um_buf *out)
{
	struct page page = { metrics, metrics->file.counters, wall_ms, now,
		out };
	bool up = asked->status == UM_STORE_DONE;

	if (metrics->note.text[0] != '\0')
		um_buf_printf(out, "# Of one process alone: %s\n",
			metrics->note.text);
	write_one(&page, metrics_shared, metrics->file.fd >= 0, 0);
	head(&page, build_info);
	line(&page, build_info, "", LABELS("version", um_version()), 1, 0);
	write_counters(&page, requests_total, "status", statuses,
		UM_METRICS_STATUSES_LEN + 1, OFFSET(status));
	write_durations(&page, request_duration_seconds, OFFSET(requests));
	write_durations(&page, transaction_duration_seconds,
		OFFSET(transactions));
	write_counters(&page, refusals_total, "reason", reasons,
		UM_METRICS_REFUSALS_LEN, OFFSET(refusal));
	write_events(&page);
	write_unreadable(&page);
	write_counters(&page, batches_total, NULL, NULL, 1, OFFSET(batches));
	write_counters(&page, operations_total, NULL, NULL, 1,
		OFFSET(operations));
	write_processes(&page);
	write_one(&page, configuration_refused, metrics->config_refused, 0);
	write_certificates(&page);
	write_check(&page);
	write_issuer_keys(&page);
	if (metrics->committed_ms != 0)
		write_one(&page, commit_age_seconds,
			(double)(now - metrics->committed_ms) / 1e3, 3);
	write_one(&page, database_up, up, 0);
	if (!up)
		return;
	write_one(&page, database_clock_difference_seconds,
		(double)(asked->row.database_ms - wall_ms) / 1e3, 3);
	write_one(&page, notification_queue_usage_ratio, asked->row.queue_usage,
		6);
	write_one(&page, unclaimed_payments, (double)asked->row.unclaimed, 0);
	write_one(&page, oldest_unclaimed_payment_age_seconds,
		(double)asked->row.unclaimed_age_s, 0);
	write_one(&page, undelivered_claims, (double)asked->row.undelivered, 0);
	write_one(&page, oldest_undelivered_claim_age_seconds,
		(double)asked->row.undelivered_age_s, 0);
	write_one(&page, failing_accounts, (double)asked->row.failing, 0);
}
