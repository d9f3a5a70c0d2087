/* SPDX-License-Identifier: MIT */
#include "server/metrics.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const programs[] = {
#define X(name) name,
	UM_METRICS_PROGRAMS(X)
#undef X
};
static const int statuses[] = {
#define X(status) status,
	UM_METRICS_STATUSES(X)
#undef X
};
static const struct {
	int64_t us;
	const char *text;
} buckets[] = {
#define X(us, text) { us, text },
	UM_METRICS_BUCKETS(X)
#undef X
};

#define LEN(array) (sizeof(array) / sizeof((array)[0]))

struct row {
	_Atomic uint64_t status[LEN(statuses) + 1]; /* the last: all others */
	_Atomic uint64_t bucket[LEN(buckets)];
	_Atomic uint64_t us;
	_Atomic uint64_t batches;
	_Atomic uint64_t operations;
};

struct um_metrics {
	struct row *rows; /* one for each program */
	struct row *own;
};

#define FILE_LEN (LEN(programs) * sizeof(struct row))

static struct row *
map_file(const char *path, struct um_error *err)
{
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0660);
	void *rows = MAP_FAILED;
	struct stat st;

	err->text[0] = '\0';
	if (fd < 0 || fstat(fd, &st) != 0
		|| (st.st_size == 0 && ftruncate(fd, FILE_LEN) != 0))
		um_error(err, "%s: %s", path, strerror(errno));
	else if (st.st_size != 0 && st.st_size != (off_t)FILE_LEN)
		um_error(err, "%s: not the counters of this version", path);
	else
		rows = mmap(NULL, FILE_LEN, PROT_READ | PROT_WRITE, MAP_SHARED,
			fd, 0);
	if (rows == MAP_FAILED && err->text[0] == '\0')
		um_error(err, "%s: %s", path, strerror(errno));
	if (fd >= 0)
		close(fd);
	return rows != MAP_FAILED ? rows : NULL;
}

bool
um_metrics_open(struct um_metrics **out, const char *path, const char *program,
	struct um_error *err)
{
	struct um_metrics *metrics = calloc(1, sizeof(*metrics));
	size_t i = 0;

	*out = NULL;
	while (i < LEN(programs) - 1 && strcmp(programs[i], program) != 0)
		i++;
	if (metrics == NULL)
		return um_error(err, "out of memory");
	if (path != NULL) {
		metrics->rows = map_file(path, err);
	} else {
		void *rows = mmap(NULL, FILE_LEN, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		metrics->rows = rows != MAP_FAILED ? rows : NULL;
		um_error(err, "out of memory");
	}
	if (metrics->rows == NULL) {
		free(metrics);
		return false;
	}
	metrics->own = &metrics->rows[i];
	*out = metrics;
	return true;
}

void
um_metrics_close(struct um_metrics *metrics)
{
	if (metrics == NULL)
		return;
	munmap(metrics->rows, FILE_LEN);
	free(metrics);
}

static void
add(_Atomic uint64_t *counter, uint64_t by)
{
	atomic_fetch_add_explicit(counter, by, memory_order_relaxed);
}

void
um_metrics_count(struct um_metrics *metrics, int status, int64_t took_us)
{
	struct row *row = metrics->own;
	size_t i = 0;

	while (i < LEN(statuses) && statuses[i] != status)
		i++;
	add(&row->status[i], 1);
	add(&row->us, (uint64_t)took_us);
	for (i = 0; i < LEN(buckets); i++) {
		if (took_us <= buckets[i].us) {
			add(&row->bucket[i], 1);
			break;
		}
	}
}

void
um_metrics_batch(struct um_metrics *metrics, uint64_t operations)
{
	add(&metrics->own->batches, 1);
	add(&metrics->own->operations, operations);
}

static unsigned long long
value(const _Atomic uint64_t *counter)
{
	return atomic_load_explicit(counter, memory_order_relaxed);
}

static void
write_requests(const struct um_metrics *metrics, struct um_buf *out)
{
	um_buf_puts(out,
		"# HELP urlmode_requests_total Requests, by program and HTTP "
		"status.\n# TYPE urlmode_requests_total counter\n");
	for (size_t p = 0; p < LEN(programs); p++) {
		const struct row *row = &metrics->rows[p];

		for (size_t s = 0; s < LEN(statuses); s++)
			um_buf_printf(out,
				"urlmode_requests_total{program=\"%s\","
				"status=\"%d\"} %llu\n",
				programs[p], statuses[s],
				value(&row->status[s]));
		um_buf_printf(out,
			"urlmode_requests_total{program=\"%s\","
			"status=\"other\"} %llu\n",
			programs[p], value(&row->status[LEN(statuses)]));
	}
}

static void
write_seconds(const struct um_metrics *metrics, struct um_buf *out)
{
	um_buf_puts(out,
		"# HELP urlmode_request_seconds From a whole request to its "
		"answer.\n# TYPE urlmode_request_seconds histogram\n");
	for (size_t p = 0; p < LEN(programs); p++) {
		const struct row *row = &metrics->rows[p];
		unsigned long long sum = 0;
		unsigned long long count = 0;

		for (size_t b = 0; b < LEN(buckets); b++) {
			sum += value(&row->bucket[b]);
			um_buf_printf(out,
				"urlmode_request_seconds_bucket{program=\"%s\","
				"le=\"%s\"} %llu\n",
				programs[p], buckets[b].text, sum);
		}
		for (size_t s = 0; s <= LEN(statuses); s++)
			count += value(&row->status[s]);
		um_buf_printf(out,
			"urlmode_request_seconds_bucket{program=\"%s\","
			"le=\"+Inf\"} %llu\n"
			"urlmode_request_seconds_sum{program=\"%s\"} %.6f\n"
			"urlmode_request_seconds_count{program=\"%s\"} %llu\n",
			programs[p], count, programs[p],
			(double)value(&row->us) / 1e6, programs[p], count);
	}
}

void
um_metrics_write(const struct um_metrics *metrics, struct um_buf *out)
{
	write_requests(metrics, out);
	write_seconds(metrics, out);
	um_buf_puts(out,
		"# HELP urlmode_batches_total Transactions.\n"
		"# TYPE urlmode_batches_total counter\n");
	for (size_t p = 0; p < LEN(programs); p++)
		um_buf_printf(out,
			"urlmode_batches_total{program=\"%s\"} %llu\n",
			programs[p], value(&metrics->rows[p].batches));
	um_buf_puts(out,
		"# HELP urlmode_operations_total What was carried out in "
		"them.\n# TYPE urlmode_operations_total counter\n");
	for (size_t p = 0; p < LEN(programs); p++)
		um_buf_printf(out,
			"urlmode_operations_total{program=\"%s\"} %llu\n",
			programs[p], value(&metrics->rows[p].operations));
}

void
um_metrics_write_unclaimed(int64_t payments, struct um_buf *out)
{
	um_buf_printf(out,
		"# HELP urlmode_unclaimed_payments Proven payments that no "
		"call has claimed.\n"
		"# TYPE urlmode_unclaimed_payments gauge\n"
		"urlmode_unclaimed_payments %lld\n",
		(long long)payments);
}
