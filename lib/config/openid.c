/* SPDX-License-Identifier: MIT */
#include "config/openid.h"

#include <stdlib.h>
#include <string.h>

#include "core/encode.h"
#include "core/url.h"
#include "core/uuid.h"

#define ENTRA "https://login.microsoftonline.com/"
#define SESSION_DEFAULT 3600
#define SESSION_MAX 86400
#define MAX_AGE_MAX 31536000

/* A text that may be left out, of at most UM_OPENID_TEXT_MAX bytes. */
static bool
get_text(const struct um_conf_loc *at, const json_t *node, const char *key,
	bool required, char **out)
{
	return um_conf_take_text(at, node, key, required, out)
		&& (*out == NULL || strlen(*out) <= UM_OPENID_TEXT_MAX
			|| um_conf_member_error(at, key, "is too long"));
}

static bool
get_url(const struct um_conf_loc *at, const json_t *node, const char *key,
	bool required, char **out)
{
	if (!get_text(at, node, key, required, out))
		return false;
	return *out == NULL
		|| (um_url_authority_end(*out) != NULL
			&& strchr(*out, '#') == NULL)
		|| um_conf_member_error(at, key,
			"is not https://HOST, or http:// with a loopback host");
}

static bool
get_seconds(const struct um_conf_loc *at, const json_t *node, const char *key,
	int64_t max, int64_t *out)
{
	long long value;

	if (json_object_get(node, key) == NULL)
		return true;
	if (!um_conf_get_integer(at, node, key, 1, max, &value))
		return false;
	*out = value;
	return true;
}

/* Words with one space between them, one of them `openid`. */
static bool
is_scope(const char *scope)
{
	struct um_str rest = um_str(scope);
	bool openid = false;

	while (rest.ptr != NULL) {
		struct um_str word = um_str_cut(&rest, " ");

		for (size_t i = 0; i < word.len; i++)
			if (word.ptr[i] <= ' ' || word.ptr[i] > '~')
				return false;
		if (word.len == 0)
			return false;
		openid = openid || um_str_is(word, "openid");
	}
	return openid;
}

static bool
get_scope(const struct um_conf_loc *at, const json_t *node, char **out)
{
	if (!get_text(at, node, "scope", false, out))
		return false;
	if (*out == NULL)
		return um_conf_copy_text(at, "openid", out);
	return is_scope(*out)
		|| um_conf_member_error(at, "scope",
			"is not words with one space between them, with "
			"`openid` among them");
}

static bool
get_claim(const struct um_conf_loc *at, const json_t *node,
	char out[static UM_ID_TOKEN_CLAIM_MAX + 1])
{
	const char *text;

	if (!um_conf_get_text(at, node, "claim", false, &text))
		return false;
	if (text == NULL)
		text = "sub";
	if (strlen(text) > UM_ID_TOKEN_CLAIM_MAX)
		return um_conf_member_error(at, "claim", "is too long");
	memcpy(out, text, strlen(text) + 1);
	return true;
}

static bool
begins_with_tenant(const char *text)
{
	uint8_t id[UM_UUID_LEN];

	return strlen(text) >= UM_UUID_TEXT_LEN
		&& um_uuid_parse(id, (struct um_str){ text, UM_UUID_TEXT_LEN });
}

/* `common` and `organizations` stand for every tenant that there is. */
static bool
check_entra(const struct um_conf_loc *at, const struct um_openid *openid)
{
	static const char *const mutable[] = { "email", "preferred_username",
		"upn", "unique_name", "name" };

	if (strncmp(openid->issuer, ENTRA, strlen(ENTRA)) != 0)
		return true;
	if (!begins_with_tenant(openid->issuer + strlen(ENTRA)))
		return um_conf_member_error(at, "issuer",
			"does not name one tenant by its id");
	for (size_t i = 0; i < sizeof(mutable) / sizeof(mutable[0]); i++)
		if (strcmp(openid->claim, mutable[i]) == 0)
			return um_conf_member_error(at, "claim",
				"can be set to anything there by an "
				"administrator of the tenant; take `oid`");
	return true;
}

bool
um_openid_load(struct um_openid *openid, const struct um_conf_loc *at,
	json_t *node)
{
	static const char *const keys[] = { "issuer", "client_id",
		"authorization_endpoint", "end_session_endpoint", "jwks_file",
		"refresh_file", "scope", "claim", "prompt", "login_hint",
		"max_age", "session", NULL };

	openid->session = SESSION_DEFAULT;
	return um_conf_check_keys(at, node, keys)
		&& get_url(at, node, "issuer", true, &openid->issuer)
		&& get_text(at, node, "client_id", true, &openid->client_id)
		&& get_url(at, node, "authorization_endpoint", true,
			&openid->authorization_endpoint)
		&& get_url(at, node, "end_session_endpoint", false,
			&openid->end_session_endpoint)
		&& um_conf_take_path(at, node, "jwks_file", true,
			&openid->jwks_file)
		&& um_conf_take_path(at, node, "refresh_file", false,
			&openid->refresh_file)
		&& get_scope(at, node, &openid->scope)
		&& get_claim(at, node, openid->claim)
		&& get_text(at, node, "prompt", false, &openid->prompt)
		&& get_text(at, node, "login_hint", false, &openid->login_hint)
		&& get_seconds(at, node, "max_age", MAX_AGE_MAX,
			&openid->max_age)
		&& get_seconds(at, node, "session", SESSION_MAX,
			&openid->session)
		&& check_entra(at, openid);
}

void
um_openid_free(struct um_openid *openid)
{
	free(openid->issuer);
	free(openid->client_id);
	free(openid->authorization_endpoint);
	free(openid->end_session_endpoint);
	free(openid->jwks_file);
	free(openid->refresh_file);
	free(openid->scope);
	free(openid->prompt);
	free(openid->login_hint);
	*openid = (struct um_openid){ 0 };
}
