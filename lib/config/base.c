/* SPDX-License-Identifier: MIT */
/* What the configurations have in common, and how their files are read. */
#include "config/config.h"

#include <stdlib.h>
#include <string.h>

#include <libpq-fe.h>

#include "config/environment.h"
#include "core/conf.h"
#include "core/url.h"

#define CONNECTION "a connection URI or keyword string of libpq"

bool
um_config_is_base_url(const char *url)
{
	const char *end = um_url_authority_end(url);

	return end != NULL && end[0] == '\0';
}

bool
um_config_is_database_url(const char *text)
{
	/* Its error message is not used: it may quote a password. */
	PQconninfoOption *options = PQconninfoParse(text, NULL);

	PQconninfoFree(options);
	return options != NULL;
}

/* In the order of enum um_user_check. */
static const char *const user_checks[] = { "remote-user", "confirm",
	"session-ticket", "openid", NULL };

const char *
um_user_check_name(enum um_user_check check)
{
	return user_checks[check];
}

/* The entry `openid` is there where it is used, and nowhere else. */
static bool
read_openid(const struct um_conf_loc *at, const json_t *root,
	struct um_config *config)
{
	json_t *node = json_object_get(root, "openid");
	const struct um_conf_loc here = um_conf_member(at, "openid");

	if (config->user_check == UM_USER_OPENID)
		return node != NULL
			? um_openid_load(&config->openid, &here, node)
			: um_conf_error(&here, "is missing");
	return node == NULL
		|| um_conf_error(&here, "is for `user_check` `openid` only");
}

/* The key is not beside the variable that stands in its place. */
static bool
is_in_one_place(const struct um_conf_loc *at, const json_t *root,
	const char *key, const char *variable, const char *value)
{
	const struct um_conf_loc here = um_conf_member(at, key);

	return value == NULL || json_object_get(root, key) == NULL
		|| um_conf_error(&here,
			"is beside %s in the environment: remove one of them",
			variable);
}

/* The keys and the connection, which the environment may have instead. */
static bool
read_secrets(const struct um_conf_loc *at, const json_t *root,
	struct um_config *config, struct um_environment *environment)
{
	bool given = environment->database_url != NULL;

	config->database_url_given = given;
	if (!is_in_one_place(at, root, "keys_file", UM_ENVIRONMENT_KEYS,
		    environment->keys)
		|| !is_in_one_place(at, root, "database_url",
			UM_ENVIRONMENT_DATABASE, environment->database_url))
		return false;
	config->keys = environment->keys;
	config->database_url = environment->database_url;
	*environment = (struct um_environment){ 0 };
	if (!um_conf_take_path(at, root, "keys_file", config->keys == NULL,
		    &config->keys_file)
		|| !um_conf_take_text(at, root, "database_url", !given,
			&config->database_url))
		return false;
	if (um_config_is_database_url(config->database_url))
		return true;
	return given ? um_error(at->err, "%s is not %s",
		       UM_ENVIRONMENT_DATABASE, CONNECTION)
		     : um_conf_member_error(at, "database_url",
			     "is not " CONNECTION);
}

/* At the others nobody is signed in, or the pages have a link of their own. */
static bool
check_switch_user(const struct um_conf_loc *pages,
	const struct um_config *config)
{
	return config->brand.switch_user == NULL
		|| config->user_check == UM_USER_REMOTE
		|| config->user_check == UM_USER_TICKET
		|| um_conf_member_error(pages, "switch_user",
			"is for user_check remote-user and session-ticket "
			"alone");
}

bool
um_config_read_base(const struct um_conf_loc *at, json_t *root,
	struct um_config *config, struct um_environment *environment)
{
	struct um_conf_loc pages = um_conf_member(at, "pages");
	unsigned check = UM_USER_REMOTE;

	if (!um_conf_take_text(at, root, "base_url", true, &config->base_url)
		|| !read_secrets(at, root, config, environment)
		|| (json_object_get(root, "user_check") != NULL
			&& !um_conf_get_choice(at, root, "user_check",
				user_checks, &check)))
		return false;
	config->user_check = (enum um_user_check)check;
	if (!um_config_is_base_url(config->base_url))
		return um_conf_member_error(at, "base_url",
			"is not https://HOST, or http:// with a loopback host, "
			"without a path");
	return um_conf_take_path(at, root, "log_file", false, &config->log_file)
		&& um_conf_take_path(at, root, "metrics_file", false,
			&config->metrics_file)
		&& read_openid(at, root, config)
		&& um_pages_load(&config->brand, &pages,
			json_object_get(root, "pages"))
		&& check_switch_user(&pages, config);
}

bool
um_config_load_with(struct um_config **out, const char *path,
	um_config_reader *read, struct um_environment *environment,
	struct um_error *err)
{
	struct um_conf_loc at = um_conf_root(path, err);
	struct um_config *config = NULL;
	json_t *root = um_conf_read_file(path, err);
	bool ok = false;

	if (root == NULL)
		return false;
	config = calloc(1, sizeof(*config));
	if (config == NULL || (config->path = strdup(path)) == NULL)
		um_conf_error(&at, "out of memory");
	else
		ok = read(&at, root, config, environment);
	if (ok) {
		*out = config;
		config = NULL;
	}
	json_decref(root);
	um_config_free(config);
	return ok;
}

bool
um_config_load_as(struct um_config **out, const char *path,
	um_config_reader *read, struct um_error *err)
{
	struct um_conf_loc at = um_conf_root(path, err);
	struct um_environment environment;
	bool ok;

	*out = NULL;
	ok = um_environment_take(&environment)
		? um_config_load_with(out, path, read, &environment, err)
		: um_conf_error(&at, "out of memory");
	um_environment_free(&environment);
	return ok;
}
