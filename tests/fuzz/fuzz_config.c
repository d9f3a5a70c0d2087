/* SPDX-License-Identifier: MIT */
/* The configuration as a file. */
#include "fuzz.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "config/config.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct um_config *config;
	struct um_error err;
	char path[64];
	int fd = memfd_create("config", 0);

	HOLDS(fd >= 0);
	HOLDS(write(fd, data, size) == (ssize_t)size);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	err.text[0] = '\0';
	if (um_config_load(&config, path, &err)) {
		HOLDS(config->providers_len != 0);
		for (size_t i = 0; i < config->providers_len; i++)
			HOLDS(config->providers[i].kind == UM_KIND_OAUTH
				|| config->providers[i].spec != NULL);
	} else {
		HOLDS(config == NULL);
		HOLDS(strncmp(err.text, path, strlen(path)) == 0);
	}
	um_config_free(config);
	close(fd);
	return 0;
}
