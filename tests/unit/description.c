/* SPDX-License-Identifier: MIT */
#include "description.h"

#include <string.h>

struct um_spec *
describe_with(const char *text, const struct um_provider_env *env,
	struct um_error *err)
{
	char *path = file_make(um_str(text), 0600);
	struct um_spec *spec;

	um_spec_load(&spec, path, env, err);
	file_remove(path);
	return spec;
}

struct um_spec *
describe(const char *text)
{
	static const char *const secrets[] = { SECRET };
	const struct um_provider_env env = { .secrets = secrets,
		.secrets_len = 1 };
	struct um_error err;
	struct um_spec *spec = describe_with(text, &env, &err);

	if (spec == NULL)
		fail_msg("%s", err.text);
	return spec;
}

const char *
signature_header(const char *name, void *arg)
{
	return strcmp(name, "x-signature") == 0 ? arg : NULL;
}

enum um_verdict
read_signed(const struct um_spec *spec, struct um_str body,
	struct um_event events[static UM_EVENTS_MAX], size_t *len)
{
	char signature[65];
	const struct um_delivery delivery = { .body = body,
		.header = signature_header,
		.arg = signature };

	hmac_hex(signature, SECRET, body);
	return um_spec_read(&spec->webhook, &delivery, events, len);
}
