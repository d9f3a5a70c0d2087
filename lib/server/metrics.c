/* SPDX-License-Identifier: MIT */
#include "server/metrics.h"

#include <stdlib.h>
#include <string.h>

static const int statuses[] = {
#define X(status) status,
	UM_METRICS_STATUSES(X)
#undef X
};
static const int64_t buckets[] = {
#define X(us, text) us,
	UM_METRICS_BUCKETS(X)
#undef X
};

/* The file is open. Gives every provider a place, with zeros to begin with. */
static bool
begin(struct um_metrics *metrics, const struct um_config *config,
	const char *program)
{
	size_t row = 0;

	while (row < UM_METRICS_PROGRAMS_LEN - 1
		&& strcmp(um_metrics_program_name(row), program) != 0)
		row++;
	metrics->program = &metrics->file.counters->programs[row];
	metrics->config = config;
	metrics->loaded = um_config_digest(config);
	metrics->providers = calloc(config->providers_len + 1,
		sizeof(*metrics->providers));
	if (metrics->providers == NULL)
		return false;
	for (size_t i = 0; i < config->providers_len; i++)
		metrics->providers[i] = um_metrics_file_provider(&metrics->file,
			config->providers[i].name);
	return true;
}

static bool
open_metrics(struct um_metrics **out, const struct um_config *config,
	const char *path, const char *program, struct um_error *err)
{
	struct um_metrics *metrics = calloc(1, sizeof(*metrics));

	*out = NULL;
	if (metrics == NULL)
		return um_error(err, "out of memory");
	metrics->file.fd = -1;
	if (path != NULL ? !um_metrics_file_open(&metrics->file, path, err)
			 : !um_metrics_file_own(&metrics->file, err)) {
		um_metrics_close(metrics);
		return false;
	}
	if (!begin(metrics, config, program)) {
		um_metrics_close(metrics);
		return um_error(err, "out of memory");
	}
	*out = metrics;
	return true;
}

bool
um_metrics_open(struct um_metrics **out, const struct um_config *config,
	const char *program, struct um_error *err)
{
	struct um_error note = { "" };

	if (config->metrics_file != NULL)
		return open_metrics(out, config, config->metrics_file, program,
			err);
	if (open_metrics(out, config, UM_METRICS_FILE, program, &note))
		return true;
	um_metrics_open_own(out, config, program, err);
	if (*out != NULL)
		(*out)->note = note;
	return *out != NULL;
}

bool
um_metrics_open_own(struct um_metrics **out, const struct um_config *config,
	const char *program, struct um_error *err)
{
	return open_metrics(out, config, NULL, program, err);
}

void
um_metrics_close(struct um_metrics *metrics)
{
	if (metrics == NULL)
		return;
	um_metrics_file_close(&metrics->file);
	free(metrics->providers);
	free(metrics);
}

static void
add(_Atomic uint64_t *counter, uint64_t by)
{
	atomic_fetch_add_explicit(counter, by, memory_order_relaxed);
}

#define SET(gauge, to)                                                         \
	atomic_store_explicit(&(gauge), (to), memory_order_relaxed)

void
um_metrics_join(struct um_metrics *metrics)
{
	um_metrics_file_join(&metrics->file,
		(size_t)(metrics->program - metrics->file.counters->programs));
	if (metrics->file.own < UM_METRICS_PROCESSES_MAX)
		SET(metrics->file.counters->processes[metrics->file.own].loaded,
			metrics->loaded);
}

void
um_metrics_heartbeat(struct um_metrics *metrics, int64_t now, size_t requests,
	size_t queue, int64_t connected)
{
	struct um_metrics_process *process;

	SET(metrics->program->heartbeat_ms, now);
	if (metrics->file.own == UM_METRICS_PROCESSES_MAX)
		return;
	process = &metrics->file.counters->processes[metrics->file.own];
	SET(process->heartbeat_ms, now);
	SET(process->requests, requests);
	SET(process->queue, queue);
	SET(process->connected_ms, connected);
}

static void
add_duration(struct um_metrics_durations *durations, int64_t took_us)
{
	size_t i = 0;

	add(&durations->us, (uint64_t)took_us);
	while (i < UM_METRICS_BUCKETS_LEN && took_us > buckets[i])
		i++;
	add(&durations->bucket[i], 1);
}

void
um_metrics_count(struct um_metrics *metrics, const struct um_exchange *ex,
	int64_t took_us)
{
	struct um_metrics_program *program = metrics->program;
	size_t i = 0;

	while (i < UM_METRICS_STATUSES_LEN
		&& statuses[i] != ex->response.status)
		i++;
	add(&program->status[i], 1);
	if (ex->refusal != UM_REFUSAL_NONE)
		add(&program->refusal[ex->refusal - 1], 1);
	add_duration(&program->requests, took_us);
}

void
um_metrics_batch(struct um_metrics *metrics, uint64_t operations,
	int64_t took_us)
{
	add(&metrics->program->batches, 1);
	add(&metrics->program->operations, operations);
	add_duration(&metrics->program->transactions, took_us);
}

void
um_metrics_event(struct um_metrics *metrics, const struct um_op *op)
{
	const struct um_config *config = metrics->config;
	struct um_metrics_provider *provider;
	size_t i = 0;

	if (op->kind != UM_OP_UNREADABLE
		&& (op->kind != UM_OP_EVENT || op->status != UM_STORE_DONE))
		return;
	while (i < config->providers_len
		&& strcmp(config->providers[i].name, op->provider) != 0)
		i++;
	if (i == config->providers_len)
		return;
	provider = &metrics->file.counters->providers[metrics->providers[i]];
	add(op->kind == UM_OP_EVENT ? &provider->outcome[op->event_outcome]
				    : &provider->unreadable,
		1);
}

void
um_metrics_set_queue_usage(struct um_metrics *metrics, double usage)
{
	SET(metrics->file.counters->queue_usage_ppm, (uint64_t)(usage * 1e6));
}

bool
um_metrics_commits(const struct um_metrics *metrics, int64_t now)
{
	return metrics->committed_ms == 0
		|| now - metrics->committed_ms <= UM_METRICS_COMMIT_MS;
}

bool
um_metrics_queue_is_filling(const struct um_metrics *metrics)
{
	return (double)metrics->file.counters->queue_usage_ppm
		> UM_METRICS_QUEUE_FILLING * 1e6;
}

void
um_metrics_set_keys(struct um_metrics *metrics, bool refused)
{
	if (metrics->file.own != UM_METRICS_PROCESSES_MAX)
		metrics->file.counters->processes[metrics->file.own]
			.keys_refused = refused;
}

size_t
um_metrics_keys_refused(const struct um_metrics *metrics, size_t program)
{
	size_t count = 0;

	for (size_t i = 0; i < UM_METRICS_PROCESSES_MAX; i++) {
		const struct um_metrics_process *process =
			&metrics->file.counters->processes[i];

		count += process->program == program
			&& process->heartbeat_ms != 0
			&& process->keys_refused != 0
			&& um_metrics_file_lives(&metrics->file, i);
	}
	return count;
}

enum um_metrics_health
um_metrics_health(const struct um_metrics *metrics, size_t program, int64_t now)
{
	const struct um_metrics_counters *counters = metrics->file.counters;
	int64_t heartbeat = counters->programs[program].heartbeat_ms;
	bool lives = false;

	for (size_t i = 0; i < UM_METRICS_PROCESSES_MAX; i++) {
		const struct um_metrics_process *process =
			&counters->processes[i];

		/* A process counts from its first heartbeat on. */
		if (process->program != program || process->heartbeat_ms == 0
			|| !um_metrics_file_lives(&metrics->file, i))
			continue;
		if (now - process->heartbeat_ms > UM_METRICS_SILENT_MS)
			return UM_METRICS_SILENT;
		lives = true;
	}
	/* A time in the future is from before the machine's last start. */
	if (heartbeat == 0 || heartbeat - now > UM_METRICS_SILENT_MS)
		return UM_METRICS_UNKNOWN;
	/* Its supervisor has some time to start it again. */
	if (lives || now - heartbeat <= UM_METRICS_SILENT_MS)
		return UM_METRICS_OK;
	return um_config_needs(metrics->config,
		       um_metrics_program_name(program))
		? UM_METRICS_GONE
		: UM_METRICS_UNKNOWN;
}
