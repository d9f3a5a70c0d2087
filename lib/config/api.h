/* SPDX-License-Identifier: MIT */
/*
 * The configuration of the api, `api.json`. It is a file of its own, which no
 * callback program can read: its login reads results.
 */
#ifndef UM_CONFIG_API_H
#define UM_CONFIG_API_H

#include <stdbool.h>

#include "config/config.h"
#include "core/str.h"

/* Where it is, unless URLMODE_CONFIG names another file. */
const char *um_config_api_file(void);

/*
 * Reads it, into a configuration without providers, pages and user_check. The
 * caller frees *out with um_config_free().
 */
bool um_config_load_api(struct um_config **out, const char *path,
	struct um_error *err);

/*
 * The description of an entry of the callback host's configuration, which may not be
 * a shipped one: its own name, unless the file says another one.
 */
const char *um_config_description(const struct um_config *config,
	const char *provider);

#endif
