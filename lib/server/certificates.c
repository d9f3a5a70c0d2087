/* SPDX-License-Identifier: MIT */
#include "server/certificates.h"

#include <string.h>

#include "core/clock.h"

void
um_signing_keys_look(const struct um_config *config, int64_t *at, int64_t now,
	void (*say)(const char *text, void *arg), void *arg)
{
	struct um_error err;

	if (*at != 0 && now - *at < UM_SIGNING_KEYS_MS)
		return;
	*at = now;
	for (size_t i = 0; i < config->providers_len; i++) {
		struct um_spec *spec = config->providers[i].spec;

		if (spec != NULL && !um_spec_read_keys(spec, &err))
			say(err.text, arg);
	}
}

void
um_certificates_look(const struct um_config *config, const char *program,
	int64_t *at, int64_t now, void (*say)(const char *text, void *arg),
	void *arg)
{
	if (strcmp(program, "webhook") != 0
		|| (*at != 0 && now - *at < UM_CERTIFICATES_MS))
		return;
	*at = now;
	um_config_check_certificates(config, um_clock_wall_ms(), say, arg);
}
