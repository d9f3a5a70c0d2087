/* SPDX-License-Identifier: MIT */
#include "server/beat.h"

#include <stdlib.h>
#include <unistd.h>

#include "core/clock.h"
#include "postgres/store.h"

struct um_beat {
	struct um_store *store;
	struct um_metrics *metrics;
	struct um_op op;
	bool is_under_way;
	int64_t due_at;
	char host[256];
};

static void
done(struct um_op *op, void *arg)
{
	struct um_beat *beat = arg;

	beat->is_under_way = false;
	if (op->status == UM_STORE_DONE)
		beat->metrics->committed_ms = um_monotonic_ms();
}

/* The store of the requests says it. */
static void
be_silent(const char *text, void *arg)
{
	(void)text;
	(void)arg;
}

struct um_beat *
um_beat_new(const char *conninfo, struct um_metrics *metrics, int64_t now)
{
	struct um_beat *beat = calloc(1, sizeof(*beat));
	const struct um_store_events events = { .done = done,
		.notice = be_silent,
		.clock_us = um_monotonic_us,
		.arg = beat };

	if (beat == NULL)
		return NULL;
	if (gethostname(beat->host, sizeof(beat->host) - 1) != 0
		|| beat->host[0] == '\0')
		beat->host[0] = '?';
	beat->metrics = metrics;
	beat->due_at = now;
	metrics->committed_ms = now;
	beat->store = um_store_new(conninfo, "beat", UM_LOGIN_CALLBACK, NULL,
		&events);
	if (beat->store == NULL) {
		free(beat);
		return NULL;
	}
	return beat;
}

void
um_beat_run(struct um_beat *beat, bool ready, int64_t now)
{
	int64_t deadline = um_store_deadline(beat->store);
	bool is_due = !beat->is_under_way && now >= beat->due_at;

	if (is_due) {
		beat->due_at = now + UM_BEAT_EVERY_MS;
		beat->is_under_way = true;
		beat->op = (struct um_op){ .kind = UM_OP_BEAT,
			.subject = beat->host };
		um_store_submit(beat->store, &beat->op, now);
	}
	if (ready || is_due || (deadline >= 0 && deadline <= now))
		um_store_run(beat->store, ready, now);
}

int
um_beat_watch(const struct um_beat *beat, bool *want_write,
	unsigned *connection)
{
	return um_store_watch(beat->store, want_write, connection);
}

int64_t
um_beat_deadline(const struct um_beat *beat)
{
	int64_t deadline = um_store_deadline(beat->store);

	return beat->is_under_way ? deadline
				  : um_deadline_earlier(deadline, beat->due_at);
}

void
um_beat_free(struct um_beat *beat)
{
	if (beat == NULL)
		return;
	um_store_free(beat->store);
	free(beat);
}
