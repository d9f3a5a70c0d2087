/* SPDX-License-Identifier: MIT */
#include "server/watch.h"

#include <stdio.h>
#include <string.h>

#include "core/clock.h"
#include "server/metrics.h"

static void
say(const char *text, void *arg)
{
	struct um_watch *watch = arg;

	um_log_notice(watch->log, text, um_clock_wall_ms());
}

/* Whether `every` milliseconds have passed since *at, which becomes `now`. */
static bool
is_due(int64_t *at, int64_t now, int64_t every)
{
	if (*at != 0 && now - *at < every)
		return false;
	*at = now;
	return true;
}

void
um_watch_begin(struct um_watch *watch)
{
	watch->keys = um_keys_version(watch->context->keys);
	watch->config = um_config_version(watch->context->config);
}

void
um_watch_reload_keys(struct um_watch *watch)
{
	struct um_context *context = watch->context;
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
	say(ok ? "the keys were read again" : err.text, watch);
}

static void
look_at_keys(struct um_watch *watch)
{
	const char *file = watch->context->config->keys_file;

	if (file != NULL && um_file_changed_or_gone(&watch->keys, file))
		um_watch_reload_keys(watch);
}

static void
look_at_signing_keys(struct um_watch *watch)
{
	const struct um_config *config = watch->context->config;
	struct um_error err;

	for (size_t i = 0; i < config->providers_len; i++) {
		struct um_spec *spec = config->providers[i].spec;

		if (spec != NULL && !um_spec_read_keys(spec, &err))
			say(err.text, watch);
	}
}

void
um_watch_for_request(struct um_watch *watch, int64_t now)
{
	if (is_due(&watch->keys_at, now, UM_WATCH_KEYS_MS))
		look_at_keys(watch);
	if (is_due(&watch->signing_keys_at, now, UM_WATCH_KEYS_MS))
		look_at_signing_keys(watch);
}

static void
look_at_config(struct um_watch *watch)
{
	const struct um_config *config = watch->context->config;
	bool *refused = &watch->context->metrics->config_refused;
	bool was_refused = *refused;
	uint64_t version = um_config_version(config);
	struct um_error err = { "" };
	char text[512];

	if (version == watch->config)
		return;
	watch->config = version;
	*refused = !um_config_try(config, &err);
	/* One reason of several: --check says all of them. */
	snprintf(text, sizeof(text), "the next start will be refused: %.*s",
		(int)strcspn(err.text, "\n"), err.text);
	if (*refused)
		say(text, watch);
	else if (was_refused)
		say("the configuration is accepted again", watch);
}

void
um_watch_turn(struct um_watch *watch, int64_t now)
{
	if (now - watch->keys_at >= UM_WATCH_KEYS_MS
		&& is_due(&watch->keys_idle_at, now, UM_WATCH_KEYS_MS))
		look_at_keys(watch);
	if (strcmp(watch->program->name, "webhook") == 0
		&& is_due(&watch->certificates_at, now,
			UM_WATCH_CERTIFICATES_MS))
		um_config_check_certificates(watch->context->config,
			um_clock_wall_ms(), say, watch);
	/* One program looks for all. */
	if (watch->program->measures != UM_OP_NONE
		&& is_due(&watch->config_at, now, UM_WATCH_CONFIG_MS))
		look_at_config(watch);
}
