/* SPDX-License-Identifier: MIT */
/* A description as a file, with a site that has one of everything. */
#include "fuzz.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "description/spec_load.h"

static const char *
constant(const char *name, size_t index, void *arg)
{
	(void)arg;
	return strcmp(name, "none") == 0 || index > 1 ? NULL : name;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const secrets[] = { "0123456789abcdef" };
	const struct um_provider_env env = { .secrets = secrets,
		/* Half of them verify nothing. */
		.secrets_len = size % 2,
		.constant = constant };
	struct um_spec *spec;
	struct um_error err;
	char path[64];
	int fd = memfd_create("description", 0);

	HOLDS(fd >= 0);
	HOLDS(write(fd, data, size) == (ssize_t)size);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	err.text[0] = '\0';
	if (um_spec_load(&spec, path, &env, &err)) {
		HOLDS(!spec->has_webhook || spec->answer.status >= 200);
	} else {
		HOLDS(spec == NULL);
		HOLDS(strncmp(err.text, path, strlen(path)) == 0);
		HOLDS(strstr(err.text, secrets[0]) == NULL
			|| memmem(data, size, secrets[0], strlen(secrets[0]))
				!= NULL);
	}
	um_spec_free(spec);
	close(fd);
	return 0;
}
