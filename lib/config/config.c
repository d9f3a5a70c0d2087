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

	if (!um_conf_check_keys(at, root, keys)
		|| !um_config_read_base(at, root, config, environment)
		|| !um_conf_take_path(at, root, "providers_dir", false,
			&config->providers_dir)
		|| (config->providers_dir == NULL
			&& !um_conf_copy_text(at, UM_PROVIDERS_DIR,
				&config->providers_dir)))
		return false;
	return read_providers(&providers, json_object_get(root, "providers"),
		       config)
		&& check_four_eyes(&providers, config);
}

bool
um_config_load(struct um_config **out, const char *path, struct um_error *err)
{
	return um_config_load_as(out, path, read_config, err);
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
		? um_config_load_with(&again, config->path, read_config,
			&environment, err)
		: um_error(err, "out of memory");

	um_config_free(again);
	um_environment_free(&environment);
	return ok;
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
	return um_str_is(name, UM_PROVIDER_OF_CHECK) ? um_provider_of_check()
						     : NULL;
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
	um_strlist_free(&config->described);
	um_strlist_free(&config->operators);
	um_strlist_free(&config->compared);
	free(config);
}
