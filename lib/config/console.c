/* SPDX-License-Identifier: MIT */
#include "config/console.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "core/conf.h"

#define DECIDED_BY_MAX 200 /* bytes, as urlmode.decision has it */

#ifndef UM_PROVIDERS_DIR
#define UM_PROVIDERS_DIR "/usr/share/urlmode/providers"
#endif
#ifndef UM_CONSOLE_CONFIG_FILE
#define UM_CONSOLE_CONFIG_FILE "/etc/urlmode-console/console.json"
#endif

const char *
um_config_console_file(void)
{
	return UM_CONSOLE_CONFIG_FILE;
}

static bool
add(struct um_strlist *list, const char *text, size_t len)
{
	char **item = realloc(list->item,
		(list->len + 1) * sizeof(list->item[0]));

	if (item == NULL)
		return false;
	list->item = item;
	item[list->len] = strndup(text, len);
	if (item[list->len] == NULL)
		return false;
	list->len++;
	return true;
}

/* A description that cannot be read is for `urlmode check` to find. */
static bool
read_compared(struct um_strlist *list, const char *folder, const char *file)
{
	struct um_str name = um_str(file);
	struct um_buf path = { 0 };
	const char *day;
	json_t *root;
	bool ok = true;

	if (!um_str_take_suffix(&name, ".json")
		|| strcmp(file, "schema.json") == 0)
		return true;
	um_buf_cat(&path, folder, "/", file);
	um_buf_put(&path, "", 1);
	root = path.failed ? NULL : json_load_file(path.ptr, 0, NULL);
	um_buf_free(&path);
	day = json_string_value(json_object_get(root, "compared"));
	if (day != NULL)
		ok = add(list, name.ptr, name.len)
			&& add(list, day, strlen(day));
	json_decref(root);
	return ok;
}

static bool
read_descriptions(const struct um_conf_loc *at, struct um_config *config)
{
	DIR *dir = opendir(config->providers_dir);
	const struct dirent *entry;
	bool ok = true;

	while (dir != NULL && ok && (entry = readdir(dir)) != NULL)
		ok = read_compared(&config->compared, config->providers_dir,
			entry->d_name);
	if (dir != NULL)
		closedir(dir);
	return ok || um_conf_error(at, "out of memory");
}

const char *
um_config_compared(const struct um_config *config, struct um_str name)
{
	for (size_t i = 0; i + 1 < config->compared.len; i += 2)
		if (um_str_is(name, config->compared.item[i]))
			return config->compared.item[i + 1];
	return NULL;
}

static bool
read_operators(const struct um_conf_loc *console, json_t *node,
	struct um_config *config)
{
	static const char *const keys[] = { "operators", NULL };
	const struct um_conf_loc at = um_conf_member(console, "operators");

	if (!um_conf_check_keys(console, node, keys)
		|| !um_conf_get_strlist(&config->operators, &at,
			json_object_get(node, "operators"), false))
		return false;
	for (size_t i = 0; i < config->operators.len; i++) {
		const struct um_conf_loc here = um_conf_element(&at, i);

		if (strlen(config->operators.item[i]) > DECIDED_BY_MAX)
			return um_conf_error(&here, "is too long");
	}
	return true;
}

static bool
read_console(const struct um_conf_loc *at, json_t *root,
	struct um_config *config, struct um_environment *environment)
{
	static const char *const keys[] = { "base_url", "keys_file",
		"database_url", "log_file", "metrics_file", "providers_dir",
		"user_check", "openid", "pages", "console", NULL };
	const struct um_conf_loc console = um_conf_member(at, "console");
	json_t *node = json_object_get(root, "console");

	if (!um_conf_check_keys(at, root, keys)
		|| !um_config_read_base(at, root, config, environment))
		return false;
	if (config->user_check != UM_USER_REMOTE
		&& config->user_check != UM_USER_OPENID)
		return um_conf_member_error(at, "user_check",
			"is not remote-user or openid: the console has to know "
			"each user");
	if (node == NULL)
		return um_conf_error(&console, "is missing");
	return read_operators(&console, node, config)
		&& um_conf_take_path(at, root, "providers_dir", false,
			&config->providers_dir)
		&& (config->providers_dir != NULL
			|| um_conf_copy_text(at, UM_PROVIDERS_DIR,
				&config->providers_dir))
		&& read_descriptions(at, config);
}

bool
um_config_load_console(struct um_config **out, const char *path,
	struct um_error *err)
{
	return um_config_load_as(out, path, read_console, err);
}

bool
um_config_is_operator(const struct um_config *config, const char *user)
{
	return user[0] != '\0'
		&& um_strlist_has(&config->operators, um_str(user));
}
