/* SPDX-License-Identifier: MIT */
#include "config/provider.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/tenants.h"
#include "contract/limits.h"
#include "contract/words.h"
#include "description/spec_load.h"

#define SECRETS_MAX 16
#define ACCOUNTS_MAX 256
#define DEFAULT_GRACE_S 86400

/* In the order of enum um_kind. */
const char *const um_kind_words[] = { UM_KIND_WORDS, NULL };

/* What `env` consists of. The texts and constants belong to the entry. */
struct env_source {
	const char *secrets[SECRETS_MAX];
	const char *return_secrets[SECRETS_MAX];
	const char *accounts[ACCOUNTS_MAX];
	json_t *constants;
	json_t *unused; /* the constants that no description asked for */
	char *notification_url; /* where it is not a constant */
	char *certificate, *jwks_file;
	struct um_provider_env env;
};

void
um_provider_free(struct um_provider *provider)
{
	um_spec_free(provider->spec);
	free(provider->description);
	free(provider->name);
	free(provider->display_name);
	free(provider->issuer);
	free(provider->tenants);
	json_decref(provider->response);
	*provider = (struct um_provider){ 0 };
}

const struct um_provider *
um_provider_of_check(void)
{
	static char name[] = UM_PROVIDER_OF_CHECK;
	static const struct um_provider provider = {
		.name = name,
		.kind = UM_KIND_APPROVAL,
		.display_name = name,
		.tenants = name,
	};

	return &provider;
}

static bool
is_name(const char *name)
{
	size_t len = strspn(name, UM_CONF_WORD);

	return len != 0 && len <= UM_PROVIDER_MAX && name[len] == '\0'
		&& name[0] != '-' && name[0] != '_';
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
read_constants(const struct um_conf_loc *at, json_t *entry,
	struct env_source *source)
{
	struct um_conf_loc here = um_conf_member(at, "constants");
	json_t *constants = json_object_get(entry, "constants");
	const char *key, *text;
	json_t *value;

	if (constants == NULL)
		return true;
	if (!json_is_object(constants))
		return um_conf_error(&here, "is not an object");
	json_object_foreach (constants, key, value) {
		struct um_conf_loc list = um_conf_member(&here, key);
		struct um_strlist texts;
		bool ok = json_is_array(value)
			? um_conf_get_strlist(&texts, &list, value, false)
			: um_conf_get_text(&here, constants, key, true, &text);

		if (json_is_array(value))
			um_strlist_free(&texts);
		if (!ok)
			return false;
	}
	source->constants = constants;
	source->unused = json_copy(constants);
	return source->unused != NULL || um_conf_error(&here, "out of memory");
}

static bool
read_mode(const struct um_conf_loc *at, const json_t *entry, enum um_mode *mode)
{
	static const char *const modes[] = { "live", "test", NULL };
	unsigned choice;

	if (json_object_get(entry, "mode") == NULL)
		return true;
	if (!um_conf_get_choice(at, entry, "mode", modes, &choice))
		return false;
	*mode = choice == 0 ? UM_MODE_LIVE : UM_MODE_TEST;
	return true;
}

/* The webhook's address needs no entry where it is the usual one. */
static const char *
get_constant(const char *name, size_t index, void *arg)
{
	const struct env_source *source = arg;
	const json_t *value = json_object_get(source->constants, name);

	if (value == NULL && index == 0
		&& strcmp(name, "notification_url") == 0)
		return source->notification_url;
	json_object_del(source->unused, name);
	if (json_is_array(value))
		return json_string_value(json_array_get(value, index));
	return index == 0 ? json_string_value(value) : NULL;
}

static bool
read_env(const struct um_conf_loc *at, json_t *entry,
	const struct um_provider *provider, const char *base_url,
	struct env_source *source)
{
	struct um_provider_env *env = &source->env;

	env->secrets = source->secrets;
	env->return_secrets = source->return_secrets;
	env->accounts = source->accounts;
	env->takes_no_payments = provider->kind != UM_KIND_PAYMENT;
	env->constant = get_constant;
	env->arg = source;
	if (asprintf(&source->notification_url, "%s/webhook/%s", base_url,
		    provider->name)
		< 0) {
		source->notification_url = NULL;
		return um_conf_error(at, "out of memory");
	}
	if (!um_conf_get_texts(at, entry, "secrets", source->secrets,
		    SECRETS_MAX, &env->secrets_len)
		|| !um_conf_get_texts(at, entry, "return_secrets",
			source->return_secrets, SECRETS_MAX,
			&env->return_secrets_len)
		|| !um_conf_get_texts(at, entry, "accounts", source->accounts,
			ACCOUNTS_MAX, &env->accounts_len)
		|| !read_mode(at, entry, &env->mode)
		|| !read_constants(at, entry, source)
		|| !um_conf_take_path(at, entry, "certificate", false,
			&source->certificate)
		|| !um_conf_take_path(at, entry, "jwks_file", false,
			&source->jwks_file))
		return false;
	env->certificate = source->certificate;
	env->jwks_file = source->jwks_file;
	return true;
}

static void
free_env(struct env_source *source)
{
	json_decref(source->unused);
	free(source->notification_url);
	free(source->certificate);
	free(source->jwks_file);
}

/* A name stands for a file in providers_dir, a path for a file of the site. */
static bool
find_description(char **out, const struct um_conf_loc *at, const char *text,
	const char *providers_dir)
{
	int len;

	*out = NULL;
	if (strchr(text, '/') != NULL)
		return um_conf_copy_text(at, text, out)
			&& um_conf_resolve_path(at, out);
	if (!is_name(text))
		return um_conf_error(at,
			"is neither a name nor a path with a slash");
	len = asprintf(out, "%s/%s.json", providers_dir, text);
	if (len < 0)
		*out = NULL;
	return len >= 0 || um_conf_error(at, "out of memory");
}

static bool
load_spec(struct um_provider *provider, const struct um_conf_loc *at,
	const char *text, const char *providers_dir,
	const struct env_source *source)
{
	struct um_conf_loc here = um_conf_member(at, "description");
	struct um_conf_loc constants = um_conf_member(at, "constants");
	struct um_error reason;
	const char *key;
	json_t *value;
	bool ok;

	if (!find_description(&provider->description, &here, text,
		    providers_dir))
		return false;
	ok = um_spec_load(&provider->spec, provider->description, &source->env,
		&reason);
	for (char *line = reason.text, *end; !ok && *line != '\0'; line = end) {
		end = line + strcspn(line, "\n");
		um_conf_error(&here, "%.*s", (int)(end - line), line);
		end += *end == '\n';
	}
	if (!ok)
		return false;
	json_object_foreach (source->unused, key, value) {
		return um_conf_member_error(&constants, key,
			"is not used by the description");
	}
	return true;
}

/*
 * Takes from the description what the return of a browser is read with, unless
 * the entry says it. One without a webhook is needed no longer than that.
 */
static bool
take_oauth(struct um_provider *provider, const struct um_conf_loc *at)
{
	const char *issuer = provider->spec->issuer;

	provider->response = json_incref(provider->spec->response);
	if (provider->kind == UM_KIND_OAUTH && provider->issuer == NULL
		&& issuer != NULL) {
		if (!um_conf_copy_text(at, issuer, &provider->issuer))
			return false;
		provider->sends_iss = provider->spec->sends_iss;
	}
	if (provider->spec->has_webhook)
		return true;
	um_spec_free(provider->spec);
	provider->spec = NULL;
	return provider->kind == UM_KIND_OAUTH
		|| um_conf_member_error(at, "description",
			"has no webhook, which the kinds `payment` and "
			"`signature` need");
}

static bool
has_none_of(const struct um_conf_loc *at, const json_t *entry,
	const char *const *keys, const char *reason)
{
	for (; *keys != NULL; keys++)
		if (json_object_get(entry, *keys) != NULL)
			return um_conf_member_error(at, *keys, reason);
	return true;
}

static bool
has_any_of(const json_t *entry, const char *const *keys)
{
	while (*keys != NULL && json_object_get(entry, *keys) == NULL)
		keys++;
	return *keys != NULL;
}

/*
 * Providers that send webhooks have a description; those of OAuth may. A webhook
 * of OAuth for which the entry sets nothing up is not served.
 */
static bool
load_description(struct um_provider *provider, const struct um_conf_loc *at,
	json_t *entry, const char *base_url, const char *providers_dir)
{
	static const char *const keys[] = { "secrets", "return_secrets",
		"certificate", "jwks_file", "constants", "mode", "accounts",
		NULL };
	static const char *const others[] = { "description", "secrets",
		"return_secrets", "certificate", "jwks_file", "constants",
		"mode", "accounts", "grace", "issuer", NULL };
	struct env_source source = { 0 };
	const char *text;
	bool ok;

	if (um_provider_has_form(provider))
		return has_none_of(at, entry, others,
			"is not for the kinds `input` and `approval`");
	if (!um_conf_get_text(at, entry, "description", false, &text))
		return false;
	if (text == NULL && provider->kind == UM_KIND_OAUTH)
		return has_none_of(at, entry, keys,
			"needs a `description` beside it");
	source.env.has_no_webhook = provider->kind == UM_KIND_OAUTH
		&& !has_any_of(entry, keys);
	ok = read_env(at, entry, provider, base_url, &source)
		&& load_spec(provider, at, text != NULL ? text : provider->name,
			providers_dir, &source)
		&& take_oauth(provider, at);
	free_env(&source);
	return ok;
}

/* The configuration's grace, otherwise the description's. */
static bool
read_grace(struct um_provider *provider, const struct um_conf_loc *at,
	const json_t *entry)
{
	long long seconds = DEFAULT_GRACE_S;
	bool is_configured = json_object_get(entry, "grace") != NULL;

	if (um_provider_has_form(provider))
		return true;
	if (provider->kind == UM_KIND_OAUTH)
		return !is_configured
			|| um_conf_member_error(at, "grace",
				"is only for the kinds `payment` and "
				"`signature`");
	if (is_configured
		&& !um_conf_get_integer(at, entry, "grace", 1, UM_GRACE_MAX_S,
			&seconds))
		return false;
	provider->grace_ms = seconds * 1000;
	if (!is_configured && provider->spec->grace_ms != 0)
		provider->grace_ms = provider->spec->grace_ms;
	return true;
}

static bool
read_issuer(struct um_provider *provider, const struct um_conf_loc *at,
	const json_t *entry)
{
	static const char key[] =
		"authorization_response_iss_parameter_supported";
	bool sends_iss = true;

	if (!um_conf_take_text(at, entry, "issuer", false, &provider->issuer)
		|| !um_conf_get_bool(at, entry, key, &sends_iss))
		return false;
	if (json_object_get(entry, key) != NULL && provider->issuer == NULL)
		return um_conf_member_error(at, key,
			"needs an `issuer` beside it");
	provider->sends_iss = provider->issuer != NULL && sends_iss;
	return true;
}

bool
um_provider_has_form(const struct um_provider *provider)
{
	return provider->kind == UM_KIND_INPUT
		|| provider->kind == UM_KIND_APPROVAL;
}

static bool
read_entry(struct um_provider *provider, const struct um_conf_loc *at,
	const char *name, json_t *entry)
{
	static const char *const keys[] = { "kind", "display_name", "issuer",
		"authorization_response_iss_parameter_supported", "description",
		"secrets", "return_secrets", "certificate", "jwks_file",
		"constants", "mode", "accounts", "grace", "four_eyes",
		"tenants", NULL };
	const char *display_name;
	unsigned kind;

	if (!is_name(name))
		return um_conf_error(at,
			"is not a name of at most 64 characters of [a-z0-9_-]");
	if (strcmp(name, UM_PROVIDER_OF_CHECK) == 0)
		return um_conf_error(at, "is a name of `urlmode check`");
	if (!um_conf_check_keys(at, entry, keys)
		|| !um_conf_get_choice(at, entry, "kind", um_kind_words, &kind)
		|| !um_conf_get_bool(at, entry, "four_eyes",
			&provider->four_eyes)
		|| !um_conf_get_text(at, entry, "display_name", false,
			&display_name))
		return false;
	provider->kind = (enum um_kind)kind;
	if (provider->kind != UM_KIND_APPROVAL
		&& json_object_get(entry, "four_eyes") != NULL)
		return um_conf_member_error(at, "four_eyes",
			"is only for the kind `approval`");
	return um_conf_copy_text(at, name, &provider->name)
		&& um_conf_copy_text(at,
			display_name != NULL ? display_name : name,
			&provider->display_name)
		&& read_issuer(provider, at, entry)
		&& um_tenants_read(&provider->tenants, at, entry,
			provider->kind == UM_KIND_PAYMENT);
}

bool
um_provider_load(struct um_provider *provider, const struct um_conf_loc *at,
	const char *name, json_t *entry, const char *base_url,
	const char *providers_dir)
{
	bool ok = read_entry(provider, at, name, entry)
		&& load_description(provider, at, entry, base_url,
			providers_dir)
		&& read_grace(provider, at, entry);

	wipe_secrets(entry, "secrets");
	wipe_secrets(entry, "return_secrets");
	return ok;
}
