/* SPDX-License-Identifier: MIT */
#include "config/api.h"

#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "config/environment.h"
#include "contract/limits.h"
#include "core/conf.h"

#ifndef UM_API_CONFIG_FILE
#define UM_API_CONFIG_FILE "/etc/urlmode-api/api.json"
#endif
#define API_KEYS "api-keys" /* beside the configuration */

const char *
um_config_api_file(void)
{
	return UM_API_CONFIG_FILE;
}

static bool
take_path(const struct um_conf_loc *at, const json_t *root, const char *key,
	const char *otherwise, char **out)
{
	if (!um_conf_take_path(at, root, key, false, out))
		return false;
	return *out != NULL
		|| (um_conf_copy_text(at, otherwise, out)
			&& um_conf_resolve_path(at, out));
}

/* The keys of the environment stand in the place of `keys_file`. */
static bool
take_keys(const struct um_conf_loc *at, const json_t *root,
	struct um_config *config)
{
	struct um_environment environment;

	if (!um_environment_take(&environment))
		return um_conf_error(at, "out of memory");
	config->keys = environment.keys;
	environment.keys = NULL;
	um_environment_free(&environment);
	if (config->keys != NULL && json_object_get(root, "keys_file") != NULL)
		return um_conf_member_error(at, "keys_file",
			"is beside " UM_ENVIRONMENT_KEYS
			" in the environment: remove one of them");
	return um_conf_take_path(at, root, "keys_file", config->keys == NULL,
		&config->keys_file);
}

static bool
check_database_url(const struct um_conf_loc *at, const char *key,
	const char *text)
{
	return text == NULL || um_config_is_database_url(text)
		|| um_conf_member_error(at, key,
			"is not a connection URI or keyword string of libpq");
}

/* Who asks, for people to read: the host of base_url, unless it has a name. */
static bool
take_name(const struct um_conf_loc *at, const json_t *root,
	struct um_config *config)
{
	if (!um_conf_take_text(at, root, "name", false, &config->server_name))
		return false;
	if (config->server_name == NULL)
		return um_conf_copy_text(at,
			strstr(config->base_url, "://") + 3,
			&config->server_name);
	return strlen(config->server_name) <= UM_NAME_MAX
		|| um_conf_member_error(at, "name", "is too long");
}

static bool
read_api(const struct um_conf_loc *at, json_t *root, struct um_config *config)
{
	static const char *const keys[] = { "base_url", "database_url",
		"listen_url", "keys_file", "api_keys_file", "name", "log_file",
		NULL };

	if (!um_conf_check_keys(at, root, keys)
		|| !um_conf_take_text(at, root, "base_url", true,
			&config->base_url)
		|| !um_conf_take_text(at, root, "database_url", true,
			&config->database_url)
		|| !um_conf_take_text(at, root, "listen_url", false,
			&config->listen_url)
		|| !take_keys(at, root, config)
		|| !um_conf_take_path(at, root, "log_file", false,
			&config->log_file)
		|| !take_path(at, root, "api_keys_file", API_KEYS,
			&config->api_keys_file))
		return false;
	if (!um_config_is_base_url(config->base_url))
		return um_conf_member_error(at, "base_url",
			"is not https://HOST, or http:// with a loopback host, "
			"without a path");
	return take_name(at, root, config)
		&& check_database_url(at, "database_url", config->database_url)
		&& check_database_url(at, "listen_url", config->listen_url);
}

bool
um_config_load_api(struct um_config **out, const char *path,
	struct um_error *err)
{
	struct um_conf_loc at = um_conf_root(path, err);
	json_t *root = um_conf_read_file(path, err);
	struct um_config *config;
	bool ok;

	*out = NULL;
	if (root == NULL)
		return false;
	config = calloc(1, sizeof(*config));
	if (config == NULL || (config->path = strdup(path)) == NULL)
		ok = um_conf_error(&at, "out of memory");
	else
		ok = read_api(&at, root, config);
	json_decref(root);
	if (ok)
		*out = config;
	else
		um_config_free(config);
	return ok;
}
