/* SPDX-License-Identifier: MIT */
#include "config/provider.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SECRETS_MAX 16
#define NOTIFICATION_URL "notification_url"

/* What an entry gives to its description. */
struct gift {
	const char *secrets[SECRETS_MAX];
	const char *return_secrets[SECRETS_MAX];
	json_t *constants;
	json_t *unused; /* those of them that were not asked for yet */
	char *notification_url;
	char *certificate;
	struct um_provider_env site;
};

void
um_provider_free(struct um_provider *provider)
{
	um_spec_free(provider->spec);
	free(provider->name);
	free(provider->display_name);
	free(provider->issuer);
	*provider = (struct um_provider){ 0 };
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

/* A list of secrets, which stay the list's. */
static bool
read_secrets(const struct um_conf_loc *at, json_t *object, const char *key,
	const char *out[static SECRETS_MAX], size_t *len)
{
	struct um_conf_loc list = um_conf_member(at, key);
	const json_t *secrets = json_object_get(object, key);

	*len = json_array_size(secrets);
	if (secrets == NULL)
		return true;
	if (*len == 0 || *len > SECRETS_MAX)
		return um_conf_error(&list, "is not a list of 1 to %d strings",
			SECRETS_MAX);
	for (size_t i = 0; i < *len; i++) {
		struct um_conf_loc here = um_conf_element(&list, i);
		const json_t *secret = json_array_get(secrets, i);

		out[i] = json_string_value(secret);
		if (out[i] == NULL || out[i][0] == '\0'
			|| strlen(out[i]) != json_string_length(secret))
			return um_conf_error(&here,
				"is no string, is empty, or holds a NUL");
	}
	return true;
}

static void
wipe_secrets(const json_t *object, const char *key)
{
	const json_t *secrets = json_object_get(object, key);

	for (size_t i = 0; i < json_array_size(secrets); i++) {
		const json_t *secret = json_array_get(secrets, i);

		if (json_is_string(secret))
			explicit_bzero((void *)json_string_value(secret),
				json_string_length(secret));
	}
}

static bool
read_constants(const struct um_conf_loc *at, json_t *object, struct gift *gift)
{
	struct um_conf_loc here = um_conf_member(at, "constants");
	json_t *constants = json_object_get(object, "constants");
	const char *key, *text;
	json_t *value;

	if (constants == NULL)
		return true;
	if (!json_is_object(constants))
		return um_conf_error(&here, "is not an object");
	json_object_foreach (constants, key, value)
		if (!um_conf_get_text(&here, constants, key, true, &text))
			return false;
	gift->constants = constants;
	gift->unused = json_copy(constants);
	return gift->unused != NULL || um_conf_error(&here, "out of memory");
}

/* The address that a provider was given needs saying only where it differs. */
static const char *
constant(const char *name, void *arg)
{
	const struct gift *gift = arg;
	const char *text = json_string_value(
		json_object_get(gift->constants, name));

	if (text == NULL && strcmp(name, NOTIFICATION_URL) == 0)
		return gift->notification_url;
	if (text != NULL)
		json_object_del(gift->unused, name);
	return text;
}

/* A name is a file in providers_dir, a path is one of the site's own. */
static bool
description_path(char **out, const struct um_conf_loc *at, const char *text,
	const struct um_config *config)
{
	int len;

	*out = NULL;
	if (strchr(text, '/') != NULL)
		return um_conf_copy_text(at, text, out)
			&& um_config_resolve(at, out);
	if (!is_name(text))
		return um_conf_error(at, "is not a name, and no path with a /");
	len = asprintf(out, "%s/%s.json", config->providers_dir, text);
	if (len < 0)
		*out = NULL;
	return len >= 0 || um_conf_error(at, "out of memory");
}

static bool
load_description(struct um_provider *provider, const struct um_conf_loc *at,
	const char *text, struct gift *gift, const struct um_config *config)
{
	struct um_conf_loc here = um_conf_member(at, "description");
	struct um_conf_loc constants = um_conf_member(at, "constants");
	struct um_error reason;
	const char *key;
	json_t *value;
	char *path;
	bool ok;

	if (!description_path(&path, &here, text, config))
		return false;
	ok = um_spec_load(&provider->spec, path, &gift->site, &reason);
	free(path);
	if (!ok)
		return um_conf_error(&here, "%s", reason.text);
	json_object_foreach (gift->unused, key, value)
		return um_conf_member_error(&constants, key,
			"the description has no use for it");
	return true;
}

static bool
read_gift(const struct um_conf_loc *at, json_t *object, const char *name,
	struct gift *gift, const struct um_config *config)
{
	const char *certificate;

	gift->site.secrets = gift->secrets;
	gift->site.return_secrets = gift->return_secrets;
	gift->site.constant = constant;
	gift->site.arg = gift;
	if (asprintf(&gift->notification_url, "%s/webhook/%s", config->base_url,
		    name)
		< 0) {
		gift->notification_url = NULL;
		return um_conf_error(at, "out of memory");
	}
	if (!read_secrets(at, object, "secrets", gift->secrets,
		    &gift->site.secrets_len)
		|| !read_secrets(at, object, "return_secrets",
			gift->return_secrets, &gift->site.return_secrets_len)
		|| !read_constants(at, object, gift)
		|| !um_conf_get_text(at, object, "certificate", false,
			&certificate))
		return false;
	if (certificate != NULL
		&& (!um_conf_copy_text(at, certificate, &gift->certificate)
			|| !um_config_resolve(at, &gift->certificate)))
		return false;
	gift->site.certificate = gift->certificate;
	return true;
}

/* A provider that calls here has a description; of an oauth one it may. */
static bool
read_description(struct um_provider *provider, const struct um_conf_loc *at,
	json_t *object, const struct um_config *config)
{
	static const char *const gifts[] = { "secrets", "return_secrets",
		"certificate", "constants" };
	struct gift gift = { 0 };
	const char *text;
	bool ok;

	if (!um_conf_get_text(at, object, "description", false, &text))
		return false;
	if (text == NULL && provider->kind == UM_KIND_OAUTH) {
		for (size_t i = 0; i < sizeof(gifts) / sizeof(gifts[0]); i++)
			if (json_object_get(object, gifts[i]) != NULL)
				return um_conf_member_error(at, gifts[i],
					"needs a description beside it");
		return true;
	}
	ok = read_gift(at, object, provider->name, &gift, config)
		&& load_description(provider, at,
			text != NULL ? text : provider->name, &gift, config);
	json_decref(gift.unused);
	free(gift.notification_url);
	free(gift.certificate);
	return ok;
}

static bool
read_issuer(struct um_provider *provider, const struct um_conf_loc *at,
	const json_t *object)
{
	static const char key[] =
		"authorization_response_iss_parameter_supported";
	const json_t *sends_iss = json_object_get(object, key);
	const char *issuer;

	if (!um_conf_get_text(at, object, "issuer", false, &issuer)
		|| (issuer != NULL
			&& !um_conf_copy_text(at, issuer, &provider->issuer)))
		return false;
	if (sends_iss != NULL && !json_is_boolean(sends_iss))
		return um_conf_member_error(at, key, "is not true or false");
	if (sends_iss != NULL && issuer == NULL)
		return um_conf_member_error(at, key,
			"needs an issuer beside it");
	provider->sends_iss = issuer != NULL && !json_is_false(sends_iss);
	return true;
}

bool
um_provider_read(struct um_provider *provider, const struct um_conf_loc *at,
	const char *name, json_t *object, const struct um_config *config)
{
	static const char *const keys[] = { "kind", "display_name", "issuer",
		"authorization_response_iss_parameter_supported", "description",
		"secrets", "return_secrets", "certificate", "constants", NULL };
	static const char *const kinds[] = { "oauth", "payment", "signature",
		NULL };
	const char *display_name;
	unsigned kind;
	bool ok;

	if (!is_name(name))
		return um_conf_error(at,
			"is not a name of [a-z0-9_-], at most 64");
	if (!um_conf_check_keys(at, object, keys)
		|| !um_conf_get_choice(at, object, "kind", kinds, &kind)
		|| !um_conf_get_text(at, object, "display_name", false,
			&display_name)
		|| !um_conf_copy_text(at, name, &provider->name)
		|| !um_conf_copy_text(at,
			display_name != NULL ? display_name : name,
			&provider->display_name)
		|| !read_issuer(provider, at, object))
		return false;
	provider->kind = (enum um_kind)kind;
	ok = read_description(provider, at, object, config);
	wipe_secrets(object, "secrets");
	wipe_secrets(object, "return_secrets");
	return ok;
}
