/* SPDX-License-Identifier: MIT */
/*
 * Loads descriptions for the tests of the schema: each line of standard input
 * is the site, {"secrets", "return_secrets", "certificate", "constants", "mode",
 * "accounts"}, a tab, and the description; each line of output is `ok`, or why
 * it was refused, with a tab between several reasons.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <jansson.h>

#include "description/spec_load.h"

#define SECRETS_MAX 8

static const char *
constant(const char *name, size_t index, void *arg)
{
	const json_t *value = json_object_get(arg, name);

	if (json_is_array(value))
		return json_string_value(json_array_get(value, index));
	return index == 0 ? json_string_value(value) : NULL;
}

static size_t
texts_of(const char *out[static SECRETS_MAX], const json_t *list)
{
	size_t len = json_array_size(list);

	if (len > SECRETS_MAX)
		len = SECRETS_MAX;
	for (size_t i = 0; i < len; i++)
		out[i] = json_string_value(json_array_get(list, i));
	return len;
}

/* Loads it from a file without a name. */
static bool
load(const char *description, const json_t *of_site, struct um_error *err)
{
	const char *secrets[SECRETS_MAX], *return_secrets[SECRETS_MAX];
	const char *accounts[SECRETS_MAX];
	struct um_provider_env env = { .secrets = secrets,
		.return_secrets = return_secrets,
		.accounts = accounts,
		.certificate = json_string_value(
			json_object_get(of_site, "certificate")),
		.jwks_file = json_string_value(
			json_object_get(of_site, "jwks_file")),
		.constant = constant,
		.arg = json_object_get(of_site, "constants") };
	struct um_spec *loaded = NULL;
	const char *mode = json_string_value(json_object_get(of_site, "mode"));
	int fd = memfd_create("description", 0);
	bool ok = false;

	if (mode != NULL)
		env.mode = strcmp(mode, "test") == 0 ? UM_MODE_TEST
						     : UM_MODE_LIVE;
	env.secrets_len = texts_of(secrets,
		json_object_get(of_site, "secrets"));
	env.return_secrets_len = texts_of(return_secrets,
		json_object_get(of_site, "return_secrets"));
	env.accounts_len = texts_of(accounts,
		json_object_get(of_site, "accounts"));
	um_error(err, "memfd");
	if (fd >= 0 && dprintf(fd, "%s", description) > 0) {
		char path[32];

		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		ok = um_spec_load(&loaded, path, &env, err);
	}
	for (char *c = err->text; *c != '\0'; c++)
		if (*c == '\n')
			*c = '\t';
	um_spec_free(loaded);
	if (fd >= 0)
		close(fd);
	return ok;
}

int
main(void)
{
	char *line = NULL, *site_text = strdup("");
	size_t size = 0;
	json_t *site = NULL;

	while (site_text != NULL && getline(&line, &size, stdin) > 0) {
		char *tab = strchr(line, '\t');
		struct um_error err;

		if (tab == NULL)
			break;
		*tab = '\0';
		/* Thousands of lines in a row have the same site. */
		if (strcmp(line, site_text) != 0) {
			free(site_text);
			json_decref(site);
			site_text = strdup(line);
			site = json_loads(line, 0, NULL);
		}
		puts(load(tab + 1, site, &err) ? "ok" : err.text);
	}
	json_decref(site);
	free(site_text);
	free(line);
	return 0;
}
