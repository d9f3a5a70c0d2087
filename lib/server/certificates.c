/* SPDX-License-Identifier: MIT */
#include "server/certificates.h"

#include <string.h>

#include "core/clock.h"

bool
um_signing_keys_look(const struct um_exchange *ex, struct um_error *err)
{
	return ex->refusal != UM_REFUSAL_SIGNING_KEY_MISSING
		|| um_spec_read_keys(ex->provider->spec, err);
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
