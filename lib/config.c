/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>
#include <libpq-fe.h>
#include <openssl/crypto.h>

/* Where in the file we are, for what is said of a mistake. */
struct place {
	const char *path;
	char pointer[160];
	struct um_error *err;
};

/* Of a member, or of the place itself for NULL; RFC 6901 section 3. */
static bool
mistake(const struct place *at, const char *key, const char *reason)
{
	struct um_buf pointer = { 0 };

	um_buf_puts(&pointer, at->pointer);
	if (key != NULL)
		um_buf_puts(&pointer, "/");
	for (; key != NULL && *key != '\0'; key++) {
		if (*key == '~')
			um_buf_puts(&pointer, "~0");
		else if (*key == '/')
			um_buf_puts(&pointer, "~1");
		else
			um_buf_put(&pointer, key, 1);
	}
	um_buf_put(&pointer, "", 1);
	um_error(at->err, "%s:%s%.200s: %s", at->path,
		pointer.len > 1 ? " " : "", pointer.failed ? "" : pointer.ptr,
		reason);
	um_buf_free(&pointer);
	return false;
}

/* A string; `fallback` where the key is not there, NULL makes it required. */
static bool
get_string(const struct place *at, const json_t *object, const char *key,
	const char *fallback, char **out)
{
	const json_t *value = json_object_get(object, key);
	const char *text = value != NULL ? json_string_value(value) : fallback;

	if (text == NULL)
		return mistake(at, key,
			value == NULL ? "is missing" : "is not a string");
	if (value != NULL
		&& (text[0] == '\0'
			|| strlen(text) != json_string_length(value)))
		return mistake(at, key, "is empty or holds a NUL");
	*out = strdup(text);
	return *out != NULL || mistake(at, key, "out of memory");
}

/* Refuses a key that no list names: mostly a spelling mistake. */
static bool
only_keys(const struct place *at, json_t *object, const char *const *keys)
{
	const char *key;
	json_t *value;

	json_object_foreach (object, key, value) {
		size_t i = 0;

		while (keys[i] != NULL && strcmp(keys[i], key) != 0)
			i++;
		if (keys[i] == NULL)
			return mistake(at, key, "is not known");
	}
	return true;
}

/* A string out of a list; its index goes to *out. */
static bool
get_choice(const struct place *at, const json_t *object, const char *key,
	const char *const *names, unsigned *out)
{
	const json_t *value = json_object_get(object, key);
	const char *text = json_string_value(value);

	for (unsigned i = 0; text != NULL && names[i] != NULL; i++) {
		if (strcmp(names[i], text) == 0) {
			*out = i;
			return true;
		}
	}
	return mistake(at, key,
		value == NULL ? "is missing" : "has no such choice");
}

static bool
is_name(const char *name)
{
	size_t len = strlen(name);

	if (len == 0 || len > UM_PROVIDER_MAX
		|| !isalnum((unsigned char)name[0]))
		return false;
	for (size_t i = 0; i < len; i++)
		if (!islower((unsigned char)name[i])
			&& !isdigit((unsigned char)name[i]) && name[i] != '_'
			&& name[i] != '-')
			return false;
	return true;
}

static bool
read_provider(struct place *at, const char *name, json_t *object,
	struct um_provider *provider)
{
	static const char *const keys[] = { "kind", "display_name", "issuer",
		"authorization_response_iss_parameter_supported", NULL };
	static const char *const kinds[] = { "oauth", "payment", "signature",
		NULL };
	const json_t *sends_iss = json_object_get(object, keys[3]);
	unsigned kind;

	if (!is_name(name))
		return mistake(at, name,
			"is not a name of [a-z0-9_-], at most 64");
	snprintf(at->pointer, sizeof(at->pointer), "/providers/%s", name);
	if (!json_is_object(object))
		return mistake(at, NULL, "is not an object");
	provider->name = strdup(name);
	if (provider->name == NULL || !only_keys(at, object, keys)
		|| !get_choice(at, object, "kind", kinds, &kind)
		|| !get_string(at, object, "display_name", name,
			&provider->display_name))
		return false;
	provider->kind = (enum um_kind)kind;
	if (json_object_get(object, "issuer") != NULL
		&& !get_string(at, object, "issuer", NULL, &provider->issuer))
		return false;
	if (sends_iss != NULL && !json_is_boolean(sends_iss))
		return mistake(at, keys[3], "is not true or false");
	if (sends_iss != NULL && provider->issuer == NULL)
		return mistake(at, keys[3], "needs an issuer beside it");
	provider->sends_iss = provider->issuer != NULL
		&& !json_is_false(sends_iss);
	return true;
}

static bool
read_providers(struct place *at, json_t *object, struct um_config *config)
{
	const char *name;
	json_t *value;

	if (!json_is_object(object) || json_object_size(object) == 0)
		return mistake(at, "providers",
			"is not an object with a provider in it");
	config->providers = calloc(json_object_size(object),
		sizeof(config->providers[0]));
	if (config->providers == NULL)
		return mistake(at, "providers", "out of memory");
	json_object_foreach (object, name, value) {
		snprintf(at->pointer, sizeof(at->pointer), "/providers");
		if (!read_provider(at, name, value,
			    &config->providers[config->providers_len++]))
			return false;
	}
	at->pointer[0] = '\0';
	return true;
}

/* https, or http on loopback; a host, perhaps a port, and nothing after it. */
static bool
is_base_url(const char *url)
{
	static const char *const loopback[] = { "127.0.0.1", "localhost",
		"[::1]" };
	size_t host;

	if (strncmp(url, "https://", 8) == 0) {
		host = strcspn(url + 8, "/?#@\\ \r\n\t");
		return host != 0 && url[8 + host] == '\0';
	}
	if (strncmp(url, "http://", 7) != 0)
		return false;
	for (size_t i = 0; i < sizeof(loopback) / sizeof(loopback[0]); i++) {
		const char *rest = url + 7 + strlen(loopback[i]);

		if (strncmp(url + 7, loopback[i], strlen(loopback[i])) == 0
			&& (rest[0] == '\0'
				|| (rest[0] == ':' && rest[1] != '\0'
					&& strspn(rest + 1, "0123456789")
						== strlen(rest + 1))))
			return true;
	}
	return false;
}

/* One that libpq can read; what it says of others may quote a password. */
static bool
is_database_url(const char *text)
{
	PQconninfoOption *options = PQconninfoParse(text, NULL);

	PQconninfoFree(options);
	return options != NULL;
}

/* Makes a path absolute against the folder of the configuration. */
static bool
resolve(const struct place *at, char **path)
{
	const char *slash = strrchr(at->path, '/');
	char *joined;

	if ((*path)[0] == '/' || slash == NULL)
		return true;
	if (asprintf(&joined, "%.*s/%s", (int)(slash - at->path), at->path,
		    *path)
		< 0)
		return um_error(at->err, "%s: out of memory", at->path);
	free(*path);
	*path = joined;
	return true;
}

/* A path that may be left out. */
static bool
get_path(const struct place *at, const json_t *object, const char *key,
	char **out)
{
	return json_object_get(object, key) == NULL
		|| (get_string(at, object, key, NULL, out) && resolve(at, out));
}

static bool
read_config(struct place *at, json_t *root, struct um_config *config)
{
	static const char *const keys[] = { "base_url", "keys_file",
		"database_url", "log_file", "metrics_file", "user_check",
		"providers", NULL };
	static const char *const checks[] = { "remote-user", "confirm",
		"session-ticket", NULL };
	unsigned check = UM_USER_REMOTE;

	if (!json_is_object(root))
		return mistake(at, NULL, "is not an object");
	if (!only_keys(at, root, keys)
		|| !get_string(at, root, "base_url", NULL, &config->base_url)
		|| !get_string(at, root, "keys_file", NULL, &config->keys_file)
		|| !get_string(at, root, "database_url", NULL,
			&config->database_url)
		|| (json_object_get(root, "user_check") != NULL
			&& !get_choice(at, root, "user_check", checks, &check))
		|| !read_providers(at, json_object_get(root, "providers"),
			config))
		return false;
	config->user_check = (enum um_user_check)check;
	if (!is_base_url(config->base_url))
		return mistake(at, "base_url",
			"is not https://host, or http:// on "
			"loopback, without a path");
	if (!is_database_url(config->database_url))
		return mistake(at, "database_url",
			"is not a connection URI or keywords of libpq");
	if (!get_path(at, root, "log_file", &config->log_file)
		|| !get_path(at, root, "metrics_file", &config->metrics_file))
		return false;
	return resolve(at, &config->keys_file);
}

bool
um_config_load(struct um_config **out, const char *path, struct um_error *err)
{
	struct place at = { .path = path, .err = err };
	struct um_config *config = calloc(1, sizeof(*config));
	json_error_t where;
	json_t *root = json_load_file(path, JSON_REJECT_DUPLICATES, &where);
	bool ok = false;

	*out = NULL;
	/* What the parser quotes after "near" may be a password. */
	if (root == NULL)
		um_error(err, "%s:%d: %.*s", path, where.line,
			(int)(strstr(where.text, " near ") != NULL
					? strstr(where.text, " near ")
						- where.text
					: (ptrdiff_t)strlen(where.text)),
			where.text);
	else if (config == NULL)
		um_error(err, "%s: out of memory", path);
	else
		ok = read_config(&at, root, config);
	if (ok) {
		*out = config;
		config = NULL;
	}
	json_decref(root);
	um_config_free(config);
	return ok;
}

const struct um_provider *
um_config_provider(const struct um_config *config, struct um_str name)
{
	for (size_t i = 0; i < config->providers_len; i++)
		if (um_str_is(name, config->providers[i].name))
			return &config->providers[i];
	return NULL;
}

void
um_config_free(struct um_config *config)
{
	if (config == NULL)
		return;
	for (size_t i = 0; i < config->providers_len; i++) {
		free(config->providers[i].name);
		free(config->providers[i].display_name);
		free(config->providers[i].issuer);
	}
	free(config->providers);
	if (config->database_url != NULL)
		OPENSSL_cleanse(config->database_url,
			strlen(config->database_url));
	free(config->database_url);
	free(config->base_url);
	free(config->keys_file);
	free(config->log_file);
	free(config->metrics_file);
	free(config);
}
