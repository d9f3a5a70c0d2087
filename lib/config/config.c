/* SPDX-License-Identifier: MIT */
#include "config/config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <jansson.h>
#include <libpq-fe.h>

#include "config/environment.h"
#include "core/conf.h"
#include "core/file.h"
#include "core/url.h"

#define CONNECTION "a connection URI or keyword string of libpq"

/* Where the descriptions that come with urlmode are installed. */
#ifndef UM_PROVIDERS_DIR
#define UM_PROVIDERS_DIR "/usr/share/urlmode/providers"
#endif

static bool
read_providers(const struct um_conf_loc *at, json_t *object,
	struct um_config *config)
{
	const char *name;
	json_t *value;
	bool ok = true;

	if (!json_is_object(object) || json_object_size(object) == 0)
		return um_conf_error(at,
			"is not an object with at least one provider");
	config->providers = calloc(json_object_size(object),
		sizeof(config->providers[0]));
	if (config->providers == NULL)
		return um_conf_error(at, "out of memory");
	json_object_foreach (object, name, value) {
		struct um_conf_loc here = um_conf_member(at, name);

		ok = um_provider_load(&config->providers
					       [config->providers_len++],
			     &here, name, value, config->base_url,
			     config->providers_dir)
			&& ok;
	}
	return ok;
}

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

/* With `confirm`, nobody knows who decides. */
static bool
check_four_eyes(const struct um_conf_loc *at, const struct um_config *config)
{
	bool ok = true;

	for (size_t i = 0; i < config->providers_len; i++) {
		const struct um_provider *provider = &config->providers[i];
		struct um_conf_loc here = um_conf_member(at, provider->name);

		if (provider->four_eyes
			&& config->user_check == UM_USER_CONFIRM)
			ok = um_conf_member_error(&here, "four_eyes",
				"needs a `user_check` that knows the user");
	}
	return ok;
}

static bool
read_config(const struct um_conf_loc *at, json_t *root,
	struct um_config *config, struct um_environment *environment)
{
	static const char *const keys[] = { "base_url", "keys_file",
		"database_url", "log_file", "metrics_file", "providers_dir",
		"user_check", "openid", "providers", "pages", NULL };
	struct um_conf_loc providers = um_conf_member(at, "providers");
	struct um_conf_loc pages = um_conf_member(at, "pages");
	unsigned check = UM_USER_REMOTE;

	if (!um_conf_check_keys(at, root, keys)
		|| !um_conf_take_text(at, root, "base_url", true,
			&config->base_url)
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
	if (!um_conf_take_path(at, root, "log_file", false, &config->log_file)
		|| !um_conf_take_path(at, root, "metrics_file", false,
			&config->metrics_file)
		|| !um_conf_take_path(at, root, "providers_dir", false,
			&config->providers_dir)
		|| (config->providers_dir == NULL
			&& !um_conf_copy_text(at, UM_PROVIDERS_DIR,
				&config->providers_dir))
		|| !read_openid(at, root, config)
		|| !um_pages_load(&config->brand, &pages,
			json_object_get(root, "pages")))
		return false;
	return read_providers(&providers, json_object_get(root, "providers"),
		       config)
		&& check_four_eyes(&providers, config);
}

/* Takes the values of the environment. */
static bool
load(struct um_config **out, const char *path,
	struct um_environment *environment, struct um_error *err)
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
		ok = read_config(&at, root, config, environment);
	if (ok) {
		*out = config;
		config = NULL;
	}
	json_decref(root);
	um_config_free(config);
	return ok;
}

bool
um_config_load(struct um_config **out, const char *path, struct um_error *err)
{
	struct um_conf_loc at = um_conf_root(path, err);
	struct um_environment environment;
	bool ok;

	*out = NULL;
	ok = um_environment_take(&environment)
		? load(out, path, &environment, err)
		: um_conf_error(&at, "out of memory");
	um_environment_free(&environment);
	return ok;
}

bool
um_config_try(const struct um_config *config, struct um_error *err)
{
	const char *url = config->database_url_given ? config->database_url
						     : NULL;
	struct um_environment environment = {
		.keys = config->keys != NULL ? strdup(config->keys) : NULL,
		.database_url = url != NULL ? strdup(url) : NULL,
	};
	struct um_config *again = NULL;
	bool ok = (environment.keys != NULL) == (config->keys != NULL)
			&& (environment.database_url != NULL) == (url != NULL)
		? load(&again, config->path, &environment, err)
		: um_error(err, "out of memory");

	um_config_free(again);
	um_environment_free(&environment);
	return ok;
}

/* Adds the version of the file, if there is one, to the FNV-1a hash. */
static uint64_t
add_version(uint64_t sum, const char *path)
{
	struct um_file_version file = { 0 };

	if (path == NULL)
		return sum;
	um_file_changed(&file, path);
	for (size_t i = 0; i < 5; i++) {
		const uint64_t parts[] = { file.dev, file.ino,
			(uint64_t)file.size, (uint64_t)file.changed.tv_sec,
			(uint64_t)file.changed.tv_nsec };

		sum = (sum ^ parts[i]) * UINT64_C(0x100000001b3);
	}
	return sum;
}

uint64_t
um_config_version(const struct um_config *config)
{
	uint64_t sum = add_version(UINT64_C(0xcbf29ce484222325), config->path);

	for (size_t i = 0; i < config->providers_len; i++)
		sum = add_version(sum, config->providers[i].description);
	return sum;
}

bool
um_config_load_keys(struct um_keys **out, const struct um_config *config,
	struct um_error *err)
{
	return config->keys_file != NULL
		? um_keys_load(out, config->keys_file, err)
		: um_keys_parse(out, config->keys, UM_ENVIRONMENT_KEYS, err);
}

bool
um_config_is_private(const char *path, struct um_error *err)
{
	struct stat st;

	if (stat(path, &st) != 0)
		return um_error(err, "%s: %s", path, strerror(errno));
	return um_file_is_private(&st, path, err);
}

const struct um_provider *
um_config_provider(const struct um_config *config, struct um_str name)
{
	for (size_t i = 0; i < config->providers_len; i++)
		if (um_str_is(name, config->providers[i].name))
			return &config->providers[i];
	return NULL;
}

bool
um_config_needs(const struct um_config *config, const char *program)
{
	bool returns = strcmp(program, "oauth-return") == 0;
	bool pays = strcmp(program, "payment-return") == 0;
	bool is_called = strcmp(program, "webhook") == 0;
	bool asks = strcmp(program, "form") == 0;
	bool signs_in = strcmp(program, "signin-return") == 0;
	bool needed = signs_in ? config->user_check == UM_USER_OPENID
			       : !returns && !pays && !is_called && !asks;

	for (size_t i = 0; i < config->providers_len && !needed; i++) {
		const struct um_provider *provider = &config->providers[i];
		bool oauth = provider->kind == UM_KIND_OAUTH;
		bool form = um_provider_has_form(provider);

		needed = (returns && oauth) || (pays && !oauth && !form)
			|| (asks && form)
			|| (is_called && provider->spec != NULL);
	}
	return needed;
}

bool
um_config_check_certificates(const struct um_config *config, int64_t now_ms,
	void (*say)(const char *text, void *arg), void *arg)
{
	bool ok = true;

	for (size_t i = 0; i < config->providers_len; i++) {
		const struct um_provider *provider = &config->providers[i];
		char text[256], day[16];
		int64_t end;
		time_t seconds;
		struct tm tm;

		if (provider->spec == NULL
			|| !um_spec_certificates_end(provider->spec, &end)
			|| end - now_ms
				> UM_CERTIFICATE_SOON_DAYS * INT64_C(86400000))
			continue;
		ok &= end >= now_ms;
		seconds = (time_t)(end / 1000);
		gmtime_r(&seconds, &tm);
		strftime(day, sizeof(day), "%Y-%m-%d", &tm);
		snprintf(text, sizeof(text),
			"provider %s: the certificate for its signatures %s on "
			"%s: add the provider's new one to the file, and start "
			"the programs again",
			provider->name, end < now_ms ? "expired" : "expires",
			day);
		say(text, arg);
	}
	return ok;
}

void
um_config_free(struct um_config *config)
{
	if (config == NULL)
		return;
	for (size_t i = 0; i < config->providers_len; i++)
		um_provider_free(&config->providers[i]);
	free(config->providers);
	free(config->providers_dir);
	free(config->path);
	um_environment_free(
		&(struct um_environment){ config->keys, config->database_url });
	free(config->base_url);
	free(config->keys_file);
	free(config->log_file);
	um_openid_free(&config->openid);
	um_pages_free(&config->brand);
	free(config->metrics_file);
	um_wipe_free_text(config->listen_url);
	free(config->api_keys_file);
	free(config->server_name);
	free(config);
}
