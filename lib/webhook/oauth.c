/* SPDX-License-Identifier: MIT */
#include "webhook/oauth.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "core/url.h"
#include "webhook/pointer.h"

#define URL_MAX 512
#define NAME_MAX 32
#define LOWER "abcdefghijklmnopqrstuvwxyz"
#define DIGITS "0123456789"
#define NAME_CHARS LOWER DIGITS "_"
#define URL_CHARS NAME_CHARS "ABCDEFGHIJKLMNOPQRSTUVWXYZ.~:/@{}-"

/* The variables of the part, and which of them an address has used. */
struct variables {
	json_t *declared, *unused;
};

void
um_oauth_free(struct um_oauth *oauth)
{
	free(oauth->issuer);
	*oauth = (struct um_oauth){ 0 };
}

static bool
is_name(const char *name)
{
	return islower((unsigned char)name[0]) && strlen(name) <= NAME_MAX
		&& name[strspn(name, NAME_CHARS)] == '\0';
}

/* An address of which no part needs to be encoded, with {name} in it perhaps. */
static bool
is_url(const char *text)
{
	const char *path = um_url_authority_end(text);
	const char *checked = path;

	if (path == NULL || strlen(text) > URL_MAX)
		return false;
	if (strncmp(text, "https", 5) == 0) /* a loopback has brackets */
		checked = text;
	return checked[strspn(checked, URL_CHARS)] == '\0';
}

static bool
load_variables(const struct um_conf_loc *at, json_t *node)
{
	static const char *const keys[] = { "as", "default", "notes", NULL };
	static const char *const forms[] = { "label", "labels", "url", NULL };
	struct um_conf_loc here = um_conf_member(at, "variables");
	json_t *variables = json_object_get(node, "variables"), *value;
	const char *name, *text;
	unsigned form;

	if (variables == NULL)
		return true;
	if (json_object_size(variables) == 0)
		return um_conf_error(&here, "is not an object with members");
	json_object_foreach (variables, name, value) {
		struct um_conf_loc member = um_conf_member(&here, name);

		if (!is_name(name))
			return um_conf_error(&member,
				"is not a name of at most %d characters of "
				"[a-z0-9_]",
				NAME_MAX);
		if (!um_conf_check_keys(&member, value, keys)
			|| !um_conf_get_choice(&member, value, "as", forms,
				&form)
			|| !um_conf_get_text(&member, value, "default", false,
				&text)
			|| !um_conf_get_text(&member, value, "notes", false,
				&text))
			return false;
	}
	return true;
}

/* Each {name} is declared; one that is a URL is all of the address. */
static bool
check_names(const struct um_conf_loc *at, const char *text,
	struct variables *variables)
{
	const char *c = text;

	while ((c = strpbrk(c, "{}")) != NULL) {
		char name[NAME_MAX + 1] = "";
		size_t len = *c == '{' ? strspn(c + 1, NAME_CHARS) : 0;
		bool is_all = c == text && c[len + 1] == '}'
			&& c[len + 2] == '\0';
		const json_t *as;

		if (len == 0 || len > NAME_MAX || c[len + 1] != '}')
			return um_conf_error(at,
				"has a brace that is not one of {name}");
		memcpy(name, c + 1, len);
		as = json_object_get(json_object_get(variables->declared, name),
			"as");
		if (as == NULL)
			return um_conf_error(at,
				"has {%s}, which is not one of `variables`",
				name);
		if ((strcmp(json_string_value(as), "url") == 0) != is_all)
			return um_conf_error(at,
				"has {%s} as %s of it, which `as` does not "
				"allow",
				name, is_all ? "all" : "a part");
		json_object_del(variables->unused, name);
		c += len + 2;
	}
	return true;
}

static bool
load_url(const struct um_conf_loc *at, const json_t *node, const char *key,
	struct variables *variables, bool may_be_variable, const char **out)
{
	struct um_conf_loc here = um_conf_member(at, key);

	if (!um_conf_get_text(at, node, key, false, out))
		return false;
	if (*out == NULL)
		return true;
	if (!is_url(*out) && !(may_be_variable && (*out)[0] == '{'))
		return um_conf_error(&here,
			"is not an https address without query and fragment");
	return check_names(&here, *out, variables);
}

static bool
load_endpoints(struct um_oauth *oauth, const struct um_conf_loc *at,
	const json_t *node, struct variables *variables, bool *is_discovered)
{
	static const char iss[] =
		"authorization_response_iss_parameter_supported";
	const json_t *sends_iss = json_object_get(node, iss);
	const char *issuer, *authorization, *token, *revocation;

	if (!load_url(at, node, "issuer", variables, true, &issuer)
		|| !load_url(at, node, "authorization_endpoint", variables,
			false, &authorization)
		|| !load_url(at, node, "token_endpoint", variables, false,
			&token)
		|| !load_url(at, node, "revocation_endpoint", variables, false,
			&revocation))
		return false;
	*is_discovered = token == NULL;
	if ((authorization == NULL) != (token == NULL)
		|| (token == NULL && (issuer == NULL || revocation != NULL)))
		return um_conf_error(at,
			"needs an `issuer`, or both `authorization_endpoint` "
			"and `token_endpoint`");
	if (sends_iss != NULL && !json_is_boolean(sends_iss))
		return um_conf_member_error(at, iss, "is not true or false");
	if (sends_iss != NULL && issuer == NULL)
		return um_conf_member_error(at, iss,
			"needs an `issuer` beside it");
	oauth->sends_iss = json_is_true(sends_iss);
	return issuer == NULL || strchr(issuer, '{') != NULL
		|| um_conf_copy_text(at, issuer, &oauth->issuer);
}

static bool
load_client(const struct um_conf_loc *at, const json_t *node,
	bool is_discovered)
{
	static const char *const pkces[] = { "S256", "none", NULL };
	static const char *const methods[] = { "client_secret_basic",
		"client_secret_post", "none", NULL };
	unsigned pkce, method;

	if (!um_conf_get_choice(at, node, "pkce", pkces, &pkce)
		|| !um_conf_get_choice(at, node, "token_endpoint_auth_method",
			methods, &method))
		return false;
	return pkce == 0 || !is_discovered
		|| um_conf_member_error(at, "pkce",
			"is `none`, which needs a `token_endpoint` beside it: "
			"a provider with discovery may ignore a challenge");
}

/* An object of texts, if it is there. */
static bool
check_texts(const struct um_conf_loc *at, json_t *object, const char *chars,
	size_t max)
{
	const char *name, *text;
	json_t *value;

	if (object == NULL)
		return true;
	if (json_object_size(object) == 0)
		return um_conf_error(at, "is not an object with members");
	json_object_foreach (object, name, value) {
		if (chars != NULL
			&& (name[0] == '\0' || strlen(name) > max
				|| name[strspn(name, chars)] != '\0'))
			return um_conf_member_error(at, name,
				"is not a name in lower case");
		if (!um_conf_get_text(at, object, name, true, &text))
			return false;
	}
	return true;
}

/* Further parameters, none of which is one of those that come from elsewhere. */
static bool
check_parameters(const struct um_conf_loc *at, const json_t *node,
	const char *key, const char *const *taken)
{
	struct um_conf_loc here = um_conf_member(at, key);
	json_t *parameters = json_object_get(node, key);

	for (size_t i = 0; taken[i] != NULL; i++)
		if (json_object_get(parameters, taken[i]) != NULL)
			return um_conf_member_error(&here, taken[i],
				"is not a further parameter: it comes from "
				"elsewhere");
	return check_texts(&here, parameters, NULL, 0);
}

static bool
load_request(const struct um_conf_loc *at, const json_t *node)
{
	static const char *const scope_keys[] = { "parameter", "separator",
		NULL };
	static const char *const separators[] = { " ", ",", NULL };
	static const char *const modes[] = { "query", "form_post", NULL };
	static const char *const taken[] = { "client_id", "client_secret",
		"code_challenge", "code_challenge_method", "nonce",
		"redirect_uri", "response_mode", "response_type", "scope",
		"state", NULL };
	static const char *const token_taken[] = { "client_id", "client_secret",
		"code", "code_verifier", "grant_type", "redirect_uri", NULL };
	struct um_conf_loc here = um_conf_member(at, "scope");
	json_t *scope = json_object_get(node, "scope");
	const char *text;
	unsigned choice;

	if (scope != NULL
		&& (!um_conf_check_keys(&here, scope, scope_keys)
			|| !um_conf_get_text(&here, scope, "parameter", false,
				&text)
			|| (json_object_get(scope, "separator") != NULL
				&& !um_conf_get_choice(&here, scope,
					"separator", separators, &choice))))
		return false;
	if (scope != NULL && json_object_size(scope) == 0)
		return um_conf_error(&here, "is empty");
	return check_parameters(at, node, "parameters", taken)
		&& check_parameters(at, node, "token_parameters", token_taken)
		&& (json_object_get(node, "response_mode") == NULL
			|| um_conf_get_choice(at, node, "response_mode", modes,
				&choice));
}

static bool
check_pointer(const struct um_conf_loc *at, const json_t *node, const char *key,
	bool required)
{
	const json_t *value = json_object_get(node, key);
	const char *text = json_string_value(value);
	struct um_pointer pointer = { 0 };
	bool ok;

	if (value == NULL)
		return !required || um_conf_member_error(at, key, "is missing");
	ok = text != NULL && strlen(text) == json_string_length(value)
		&& um_pointer_compile(&pointer, text);
	um_pointer_free(&pointer);
	return ok || um_conf_member_error(at, key, "is not a JSON pointer");
}

static bool
load_token_response(const struct um_conf_loc *at, const json_t *node)
{
	static const char *const keys[] = { "member", "token_type", NULL };
	static const char *const types[] = { "bearer", NULL };
	struct um_conf_loc here = um_conf_member(at, "token_response");
	json_t *answer = json_object_get(node, "token_response");
	unsigned type;

	if (answer == NULL)
		return true;
	if (!um_conf_check_keys(&here, answer, keys)
		|| !check_pointer(&here, answer, "member", false))
		return false;
	if (json_object_size(answer) == 0)
		return um_conf_error(&here, "is empty");
	return json_object_get(answer, "token_type") == NULL
		|| um_conf_get_choice(&here, answer, "token_type", types,
			&type);
}

static bool
load_account(const struct um_conf_loc *at, const json_t *node,
	struct variables *variables, bool is_discovered)
{
	static const char *const keys[] = { "from", "endpoint", "headers",
		"body", "id", "name", NULL };
	static const char *const sources[] = { "token_response", "id_token",
		"userinfo", NULL };
	struct um_conf_loc here = um_conf_member(at, "account");
	struct um_conf_loc headers = um_conf_member(&here, "headers");
	json_t *account = json_object_get(node, "account");
	const json_t *body = json_object_get(account, "body");
	const char *endpoint;
	unsigned source = 0;

	if (account == NULL)
		return true;
	if (!um_conf_check_keys(&here, account, keys)
		|| !check_pointer(&here, account, "id", true)
		|| !check_pointer(&here, account, "name", false)
		|| !load_url(&here, account, "endpoint", variables, false,
			&endpoint)
		|| !check_texts(&headers, json_object_get(account, "headers"),
			LOWER DIGITS "-", 60))
		return false;
	if ((endpoint == NULL) == (json_object_get(account, "from") == NULL))
		return um_conf_error(&here,
			"needs one of `from` and `endpoint`");
	if (endpoint == NULL
		&& (body != NULL
			|| json_object_get(account, "headers") != NULL))
		return um_conf_error(&here,
			"has `headers` or `body`, which need an `endpoint`");
	if (body != NULL && !json_is_object(body))
		return um_conf_member_error(&here, "body", "is not an object");
	if (endpoint == NULL
		&& !um_conf_get_choice(&here, account, "from", sources,
			&source))
		return false;
	return source == 0 || is_discovered
		|| um_conf_member_error(&here, "from",
			"can only be `token_response` beside a "
			"`token_endpoint`");
}

/* A variable that is in no address would have no effect. */
static bool
check_unused(const struct um_conf_loc *at, json_t *unused)
{
	struct um_conf_loc here = um_conf_member(at, "variables");
	bool ok = true;
	const char *name;
	json_t *value;

	json_object_foreach (unused, name, value)
		ok = um_conf_member_error(&here, name, "is in no address");
	return ok;
}

static bool
load(struct um_oauth *oauth, const struct um_conf_loc *at, json_t *node,
	struct variables *variables)
{
	bool is_discovered, ok;
	const char *text;

	if (!load_variables(at, node)
		|| !load_endpoints(oauth, at, node, variables, &is_discovered))
		return false;
	/* Each is tried, so that all that is wrong is said at once. */
	ok = um_conf_get_text(at, node, "documentation", false, &text);
	ok = um_conf_get_text(at, node, "notes", false, &text) && ok;
	ok = load_client(at, node, is_discovered) && ok;
	ok = load_request(at, node) && ok;
	ok = load_token_response(at, node) && ok;
	ok = load_account(at, node, variables, is_discovered) && ok;
	return ok && check_unused(at, variables->unused);
}

bool
um_oauth_load(struct um_oauth *oauth, const struct um_conf_loc *at,
	json_t *node)
{
	static const char *const keys[] = { "documentation", "notes", "issuer",
		"authorization_response_iss_parameter_supported",
		"authorization_endpoint", "token_endpoint",
		"revocation_endpoint", "pkce", "token_endpoint_auth_method",
		"scope", "parameters", "token_parameters", "response_mode",
		"variables", "token_response", "account", NULL };
	struct variables variables;
	bool ok;

	*oauth = (struct um_oauth){ 0 };
	if (!um_conf_check_keys(at, node, keys))
		return false;
	variables.declared = json_object_get(node, "variables");
	variables.unused = json_is_object(variables.declared)
		? json_copy(variables.declared)
		: NULL;
	ok = load(oauth, at, node, &variables);
	json_decref(variables.unused);
	return ok;
}
