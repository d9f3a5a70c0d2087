/* SPDX-License-Identifier: MIT */
#include "server/config_watch.h"

#include <stdio.h>
#include <string.h>

#include "core/clock.h"
#include "server/metrics.h"

static void
say(struct um_log *log, bool refused, const char *why)
{
	char text[512] = "the configuration is accepted again";

	/* One reason of several: --check says all of them. */
	if (refused)
		snprintf(text, sizeof(text),
			"the next start will be refused: %.*s",
			(int)strcspn(why, "\n"), why);
	um_log_notice(log, text, um_clock_wall_ms());
}

void
um_config_watch(struct um_config_watch *seen, struct um_context *context,
	struct um_log *log, int64_t now)
{
	bool was_refused = context->metrics->config_refused;
	struct um_error err = { "" };
	uint64_t version;
	bool refused;

	if (now - seen->at < UM_CONFIG_WATCH_MS)
		return;
	seen->at = now;
	version = um_config_version(context->config);
	if (version == seen->version)
		return;
	seen->version = version;
	refused = !um_config_try(context->config, &err);
	context->metrics->config_refused = refused;
	if (refused || was_refused)
		say(log, refused, err.text);
}
