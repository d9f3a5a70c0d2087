/* SPDX-License-Identifier: MIT */
#include "server/keys_reload.h"

#include "core/clock.h"
#include "server/metrics.h"

void
um_keys_reload(struct um_context *context, struct um_log *log)
{
	const char *file = context->config->keys_file;
	struct um_error err = { "" };
	struct um_keys *keys;
	bool ok;

	if (file == NULL)
		return;
	ok = um_keys_load(&keys, file, &err);
	if (ok) {
		um_keys_free(context->keys);
		context->keys = keys;
	}
	um_metrics_set_keys(context->metrics, !ok);
	um_log_notice(log, ok ? "the keys were read again" : err.text,
		um_clock_wall_ms());
}

static void
look(struct um_keys_reload *seen, struct um_context *context,
	struct um_log *log)
{
	const char *file = context->config->keys_file;

	if (file != NULL && um_file_changed_or_gone(&seen->version, file))
		um_keys_reload(context, log);
}

void
um_keys_reload_changed(struct um_keys_reload *seen, struct um_context *context,
	struct um_log *log, int64_t now)
{
	if (now - seen->at < UM_KEYS_RELOAD_MS)
		return;
	seen->at = now;
	look(seen, context, log);
}

void
um_keys_reload_idle(struct um_keys_reload *seen, struct um_context *context,
	struct um_log *log, int64_t now)
{
	if (now - seen->at < UM_KEYS_RELOAD_MS
		|| now - seen->idle_at < UM_KEYS_RELOAD_MS)
		return;
	seen->idle_at = now;
	look(seen, context, log);
}
