/* SPDX-License-Identifier: MIT */
#include "config/api.h"

#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "config/environment.h"
#include "contract/descriptions.h"
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
is_shipped(const char *name)
{
	static const char *const names[] = {
#define X(name, payment, signature, checkout, as, exponents, places) name,
		UM_DESCRIPTIONS(X)
#undef X
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(names[i], name) == 0)
			return true;
	return false;
}

static bool
take_descriptions(const struct um_conf_loc *root_at, json_t *root,
	struct um_strlist *list)
{
	const struct um_conf_loc at = um_conf_member(root_at, "descriptions");
	json_t *object = json_object_get(root, "descriptions"), *value;
	const char *entry, *name;
	char **item;

	if (object == NULL)
		return true;
	if (!json_is_object(object))
		return um_conf_error(&at, "is not an object");
	list->item = calloc(2 * json_object_size(object) + 1,
		sizeof(*list->item));
	if (list->item == NULL)
		return um_conf_error(&at, "out of memory");
	json_object_foreach (object, entry, value) {
		if (!um_conf_get_text(&at, object, entry, true, &name))
			return false;
		if (!is_shipped(name))
			return um_conf_member_error(&at, entry,
				"is not the name of a shipped description");
		item = &list->item[list->len];
		list->len += 2;
		if (!um_conf_copy_text(&at, entry, &item[0])
			|| !um_conf_copy_text(&at, name, &item[1]))
			return false;
	}
	return true;
}

const char *
um_config_description(const struct um_config *config, const char *provider)
{
	for (size_t i = 0; i + 1 < config->described.len; i += 2)
		if (strcmp(config->described.item[i], provider) == 0)
			return config->described.item[i + 1];
	return provider;
}

static bool
read_api(const struct um_conf_loc *at, json_t *root, struct um_config *config)
{
	static const char *const keys[] = { "base_url", "database_url",
		"listen_url", "keys_file", "api_keys_file", "name", "log_file",
		"descriptions", NULL };

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
		|| !take_descriptions(at, root, &config->described)
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
