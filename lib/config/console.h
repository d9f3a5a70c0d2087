/* SPDX-License-Identifier: MIT */
/*
 * The configuration of the console, `console.json`: as config.json, without
 * providers and with `console`. It is a file of its own, which no callback program
 * can read: its login lists rows. Its keys are its own, and open nothing of the
 * callback host.
 */
#ifndef UM_CONFIG_CONSOLE_H
#define UM_CONFIG_CONSOLE_H

#include <stdbool.h>

#include "config/config.h"
#include "core/str.h"

/* Where it is, unless URLMODE_CONFIG names another file. */
const char *um_config_console_file(void);

/*
 * Reads it. The configuration has no providers, and a user_check by which each
 * user is known. The caller frees *out with um_config_free().
 */
bool um_config_load_console(struct um_config **out, const char *path,
	struct um_error *err);

/*
 * The day on which the description of this name was compared with its source, as
 * YYYY-MM-DD, or NULL: providers_dir has no such description.
 */
const char *um_config_compared(const struct um_config *config,
	struct um_str name);

/* Whether `console.operators` names the user. */
bool um_config_is_operator(const struct um_config *config, const char *user);

#endif
