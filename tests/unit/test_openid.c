/* SPDX-License-Identifier: MIT */
/* The entry `openid` of the configuration. */
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "config/config.h"
#include "support.h"

#define TENANT "https://login.microsoftonline.com/"
#define ID "6f1c9a52-3f0e-4d1b-9c57-0f2f6f3b8a11"

/* The configuration with this user_check, and these members in `openid`. */
static struct um_config *
load(const char *check, const char *more, struct um_error *err)
{
	json_t *root = json_pack("{s:s, s:s, s:s, s:s, s:{s:{s:s}}}",
		"base_url", "https://callback.example.com", "keys_file", "keys",
		"database_url", "dbname=urlmode", "user_check", check,
		"providers", "demo", "kind", "oauth");
	json_t *openid = json_pack("{s:s, s:s, s:s, s:s}", "issuer",
		"https://id.example", "client_id", "client",
		"authorization_endpoint", "https://id.example/authorize",
		"jwks_file", "jwks.json");
	json_t *changes = more != NULL ? json_loads(more, 0, NULL) : NULL;
	struct um_config *config = NULL;
	char *text, *path;

	assert_non_null(root);
	if (more != NULL) {
		assert_non_null(changes);
		assert_int_equal(json_object_update(openid, changes), 0);
		json_object_set(root, "openid", openid);
	}
	text = json_dumps(root, 0);
	path = file_make(um_str(text), 0600);
	um_config_load(&config, path, err);
	file_remove(path);
	free(text);
	json_decref(changes);
	json_decref(openid);
	json_decref(root);
	return config;
}

TEST(all_and_nothing)
{
	struct um_error err;
	struct um_config *config = load("openid", "{}", &err);
	const struct um_openid *openid;

	assert_non_null(config);
	openid = &config->openid;
	assert_int_equal(config->user_check, UM_USER_OPENID);
	assert_string_equal(openid->issuer, "https://id.example");
	assert_string_equal(openid->scope, "openid");
	assert_string_equal(openid->claim, "sub");
	assert_null(openid->end_session_endpoint);
	assert_null(openid->refresh_file);
	assert_null(openid->prompt);
	assert_int_equal(openid->max_age, 0);
	assert_int_equal(openid->session, 3600);
	assert_int_equal(openid->jwks_file[0], '/');
	assert_true(um_config_needs(config, "signin-return"));
	um_config_free(config);
	config = load("openid",
		"{\"scope\": \"openid email\", \"claim\": \"email\","
		" \"prompt\": \"login\", \"login_hint\": \"@example.com\","
		" \"max_age\": 900, \"session\": 60,"
		" \"end_session_endpoint\": \"https://id.example/out\","
		" \"refresh_file\": \"/run/x\"}",
		&err);
	assert_non_null(config);
	assert_string_equal(config->openid.claim, "email");
	assert_string_equal(config->openid.refresh_file, "/run/x");
	assert_int_equal(config->openid.max_age, 900);
	assert_int_equal(config->openid.session, 60);
	um_config_free(config);
}

TEST(where_it_belongs)
{
	struct um_error err;

	assert_null(load("openid", NULL, &err));
	assert_error(&err, "/openid: is missing");
	assert_null(load("confirm", "{}", &err));
	assert_error(&err, "/openid: is for `user_check` `openid` only");
}

TEST(what_is_refused)
{
	static const struct {
		const char *more, *reason;
	} rows[] = {
		{ "{\"issuer\": \"http://id.example\"}",
			"/openid/issuer: is not https://HOST" },
		{ "{\"issuer\": \"https://id.example#x\"}",
			"/openid/issuer: is not https://HOST" },
		{ "{\"authorization_endpoint\": \"javascript:1\"}",
			"/openid/authorization_endpoint: is not https://HOST" },
		{ "{\"end_session_endpoint\": \"//evil.example\"}",
			"/openid/end_session_endpoint: is not https://HOST" },
		{ "{\"issuer\": 1}", "/openid/issuer: " },
		{ "{\"end_session_endpoint\": 1}",
			"/openid/end_session_endpoint: " },
		{ "{\"client_id\": \"\"}", "/openid/client_id: " },
		{ "{\"client_id\": null}", "/openid/client_id: " },
		{ "{\"client_secret\": \"x\"}", "client_secret" },
		{ "{\"scope\": \"email\"}", "/openid/scope: is not words" },
		{ "{\"scope\": \"openid  email\"}",
			"/openid/scope: is not words" },
		{ "{\"scope\": \"openid\\nemail\"}",
			"/openid/scope: is not words" },
		{ "{\"session\": 0}", "/openid/session: " },
		{ "{\"session\": 86401}", "/openid/session: " },
		{ "{\"max_age\": \"900\"}", "/openid/max_age: " },
		{ "{\"claim\": \"aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeee"
		  "eeeeffffffffffggggg\"}",
			"/openid/claim: is too long" },
		{ "{\"issuer\": \"" TENANT "common/v2.0\"}",
			"/openid/issuer: does not name one tenant" },
		{ "{\"issuer\": \"" TENANT "organizations/v2.0\"}",
			"/openid/issuer: does not name one tenant" },
		{ "{\"issuer\": \"" TENANT "{tenantid}/v2.0\"}",
			"/openid/issuer: does not name one tenant" },
		{ "{\"issuer\": \"" TENANT ID "/v2.0\", \"claim\": \"email\"}",
			"/openid/claim: can be set to anything there" },
	};
	struct um_config *config;
	struct um_error err;

	for (size_t i = 0; i < LENGTH(rows); i++) {
		row_begin("%s", rows[i].more);
		err.text[0] = '\0';
		assert_null(load("openid", rows[i].more, &err));
		assert_error(&err, rows[i].reason);
	}
	config = load("openid",
		"{\"issuer\": \"" TENANT ID "/v2.0\", \"claim\": \"oid\"}",
		&err);
	assert_non_null(config);
	um_config_free(config);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_and_nothing),
		cmocka_unit_test(where_it_belongs),
		cmocka_unit_test(what_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
