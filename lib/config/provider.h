/* SPDX-License-Identifier: MIT */
/* A provider's entry in the configuration. */
#ifndef UM_CONFIG_PROVIDER_H
#define UM_CONFIG_PROVIDER_H

#include <stdbool.h>

#include <jansson.h>

#include "config/config.h"
#include "core/conf.h"

/*
 * Reads the entry `name`, whose place is `at`, and its description. What the
 * secrets' strings hold is wiped in `object`. config->base_url and
 * config->providers_dir are known. Free it in every case.
 */
bool um_provider_read(struct um_provider *provider,
	const struct um_conf_loc *at, const char *name, json_t *object,
	const struct um_config *config);
void um_provider_free(struct um_provider *provider);

/* Makes a path absolute against the folder of the configuration. */
bool um_config_resolve(const struct um_conf_loc *at, char **path);

#endif
