/* SPDX-License-Identifier: MIT */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <jansson.h>

#include "config/api.h"
#include "config/config.h"
#include "support.h"

#define PASSWORD "hunter2"
#define GOOD                                                                   \
	"{\"base_url\": \"https://callback.example.com\","                     \
	" \"keys_file\": \"keys\","                                            \
	" \"database_url\": \"postgresql://cgi:" PASSWORD "@db/urlmode\","     \
	" \"user_check\": \"confirm\","                                        \
	" \"providers\": {\"demo\": {\"kind\": \"oauth\","                     \
	" \"issuer\": \"https://issuer.example\"}}}"

/* Where a table changes the good configuration. */
enum where { TOP, PROVIDERS, DEMO };

static struct um_config *
load(struct um_str text, struct um_error *err)
{
	char *path = file_make(text, 0600);
	struct um_config *config = NULL;

	err->text[0] = '\0';
	if (!um_config_load(&config, path, err)) {
		assert_null(config);
		assert_ptr_equal(strstr(err->text, path), err->text);
		assert_null(strstr(err->text, PASSWORD));
	}
	file_remove(path);
	return config;
}

/* Loads the good one with one value changed, or left out for NULL. */
static struct um_config *
load_with(enum where where, const char *key, const char *value,
	struct um_error *err)
{
	json_t *root = json_loads(GOOD, 0, NULL);
	json_t *object = root;
	struct um_config *config;
	char *text;

	assert_non_null(root);
	if (where != TOP)
		object = json_object_get(object, "providers");
	if (where == DEMO)
		object = json_object_get(object, "demo");
	if (value == NULL)
		assert_int_equal(json_object_del(object, key), 0);
	else
		assert_int_equal(json_object_set_new(object, key,
					 json_loads(value, JSON_DECODE_ANY,
						 NULL)),
			0);
	text = json_dumps(root, 0);
	assert_non_null(text);
	config = load(um_str(text), err);
	free(text);
	json_decref(root);
	return config;
}

TEST(a_whole_configuration)
{
	static const char text[] =
		"{\"base_url\": \"http://127.0.0.1:8080\","
		" \"keys_file\": \"/etc/urlmode/keys\","
		" \"database_url\": \"host=db dbname=urlmode\","
		" \"user_check\": \"confirm\","
		" \"log_file\": \"/var/log/urlmode.log\","
		" \"providers\": {"
		"  \"demo\": {\"kind\": \"oauth\","
		"   \"display_name\": \"Demo Account\","
		"   \"issuer\": \"http://localhost:9000\"},"
		"  \"lax\": {\"kind\": \"oauth\","
		"   \"issuer\": \"https://lax.example\","
		"   \"authorization_response_iss_parameter_supported\": false},"
		"  \"github\": {\"kind\": \"oauth\"}}}";
	const struct um_provider *provider;
	struct um_config *config;
	struct um_error err;

	config = load(STR(text), &err);
	if (config == NULL) {
		fail_msg("%s", err.text);
		return;
	}
	assert_string_equal(config->base_url, "http://127.0.0.1:8080");
	assert_string_equal(config->keys_file, "/etc/urlmode/keys");
	assert_string_equal(config->database_url, "host=db dbname=urlmode");
	assert_string_equal(config->log_file, "/var/log/urlmode.log");
	assert_int_equal(config->user_check, UM_USER_CONFIRM);
	assert_int_equal(config->providers_len, 3);

	provider = um_config_provider(config, STR("demo"));
	assert_non_null(provider);
	assert_int_equal(provider->kind, UM_KIND_OAUTH);
	assert_string_equal(provider->name, "demo");
	assert_string_equal(provider->display_name, "Demo Account");
	assert_string_equal(provider->issuer, "http://localhost:9000");
	assert_true(provider->sends_iss);
	provider = um_config_provider(config, STR("lax"));
	assert_non_null(provider);
	assert_string_equal(provider->display_name, "lax");
	assert_false(provider->sends_iss);
	provider = um_config_provider(config, STR("github"));
	assert_non_null(provider);
	assert_null(provider->issuer);
	assert_false(provider->sends_iss);

	assert_null(um_config_provider(config, STR("Demo")));
	assert_null(um_config_provider(config, STR("dem")));
	assert_null(um_config_provider(config, STR("demo2")));
	assert_null(um_config_provider(config, STR("demo\0")));
	assert_null(um_config_provider(config, STR("")));
	um_config_free(config);
}

/* Each mistake is named by its place and its reason, and no value is. */
TEST(a_mistake_is_said_with_its_place)
{
	static const struct {
		enum where where;
		const char *key;
		const char *value;
		const char *place;
		const char *reason;
	} cases[] = {
		{ TOP, "base_url", NULL, " /base_url: ", "is missing" },
		{ TOP, "keys_file", NULL, " /keys_file: ", "is missing" },
		{ TOP, "database_url", NULL, " /database_url: ", "is missing" },
		{ TOP, "providers", NULL, " /providers: ", "" },
		{ TOP, "base_url", "1", " /base_url: ", "is not a string" },
		{ TOP, "keys_file", "null",
			" /keys_file: ", "is not a string" },
		{ TOP, "database_url", "[]",
			" /database_url: ", "is not a string" },
		{ TOP, "log_file", "{}", " /log_file: ", "is not a string" },
		{ TOP, "keys_file", "\"\"", " /keys_file: ", "is empty" },
		{ TOP, "log_file", "\"\"", " /log_file: ", "is empty" },
		{ TOP, "pages", "{\"switch_user\":\"/out\"}",
			" /pages/switch_user: ",
			"is for user_check remote-user and session-ticket" },
		{ TOP, "user_check", "1",
			" /user_check: ", "is not one of its choices" },
		{ TOP, "user_check", "\"none\"",
			" /user_check: ", "is not one of its choices" },
		{ TOP, "userCheck", "1", " /userCheck: ", "is not known" },
		{ TOP, "a/b~c", "1", " /a~1b~0c: ", "is not known" },
		{ TOP, "providers", "[]", " /providers: ", "is not an object" },
		{ TOP, "providers", "{}", " /providers: ", "provider" },
		{ PROVIDERS, "x", "1", " /providers/x: ", "is not an object" },
		{ PROVIDERS, "x", "{}", " /providers/x/kind: ", "is missing" },
		{ PROVIDERS, "a/b", "{}",
			" /providers/a~1b: ", "is not a name" },
		{ DEMO, "kind", "\"bank\"", " /providers/demo/kind: ",
			"is not one of its choices" },
		{ DEMO, "kind", "1", " /providers/demo/kind: ",
			"is not one of its choices" },
		{ DEMO, "display_name", "1",
			" /providers/demo/display_name: ", "is not a string" },
		{ DEMO, "display_name", "\"\"",
			" /providers/demo/display_name: ", "is empty" },
		{ DEMO, "issuer", "\"\"",
			" /providers/demo/issuer: ", "is empty" },
		{ DEMO, "issuer", "true",
			" /providers/demo/issuer: ", "is not a string" },
		{ DEMO, "authorization_response_iss_parameter_supported", "0",
			" /providers/demo/"
			"authorization_response_iss_parameter_supported: ",
			"is not true or false" },
		{ PROVIDERS, "x",
			"{\"kind\": \"oauth\", \"authorization_response_iss_"
			"parameter_supported\": true}",
			" /providers/x/"
			"authorization_response_iss_parameter_supported: ",
			"needs an `issuer` beside it" },
		{ DEMO, "isuer", "1",
			" /providers/demo/isuer: ", "is not known" },
	};
	struct um_error err;

	for (size_t i = 0; i < LENGTH(cases); i++) {
		row_begin("%s", cases[i].place);
		if (load_with(cases[i].where, cases[i].key, cases[i].value,
			    &err)
			!= NULL)
			fail_msg("%s was accepted", cases[i].place);
		assert_error(&err, cases[i].place);
		assert_error(&err, cases[i].reason);
	}
}

TEST(names_of_providers)
{
	static const struct {
		const char *name;
		bool good;
	} cases[] = {
		{ "a", true },
		{ "0", true },
		{ "stripe-eu_2", true },
		{ "a23456789012345678901234567890123456789012345678901234567890"
		  "1234",
			true },
		{ "a23456789012345678901234567890123456789012345678901234567890"
		  "12345",
			false },
		{ "", false },
		{ "-a", false },
		{ "_a", false },
		{ "A", false },
		{ "a.b", false },
		{ "a/b", false },
		{ "zo\xc3\xab", false },
	};
	struct um_error err;

	for (size_t i = 0; i < LENGTH(cases); i++) {
		struct um_config *config = load_with(PROVIDERS, cases[i].name,
			"{\"kind\": \"oauth\"}", &err);

		row_begin("%s", cases[i].name);
		assert_row(cases[i].name, (config != NULL) == cases[i].good);
		if (config == NULL)
			assert_error(&err, "is not a name");
		um_config_free(config);
	}
}

/* What an operator may leave out. */
TEST(the_programs_that_a_provider_needs)
{
	static const struct {
		const char *providers;
		const char *needed; /* of those in `names`, 1 or 0 each */
	} rows[] = {
		{ "{\"demo\": {\"kind\": \"oauth\"}}", "1110000" },
		{ "{\"stripe\": {\"kind\": \"payment\","
		  " \"secrets\": [\"whsec_1\"]}}",
			"1101100" },
		{ "{\"demo\": {\"kind\": \"oauth\"},"
		  " \"stripe\": {\"kind\": \"payment\","
		  " \"secrets\": [\"whsec_1\"]}}",
			"1111100" },
		{ "{\"intake\": {\"kind\": \"input\"}}", "1100010" },
		{ "{\"vote\": {\"kind\": \"approval\"}}", "1100010" },
	};
	static const char *const names[] = { "connect", "status",
		"oauth-return", "payment-return", "webhook", "form",
		"signin-return" };
	struct um_error err;

	for (size_t i = 0; i < LENGTH(rows); i++) {
		struct um_config *config = load_with(TOP, "providers",
			rows[i].providers, &err);

		assert_row(rows[i].providers, config != NULL);
		for (size_t n = 0; config != NULL && n < LENGTH(names); n++)
			assert_row(names[n],
				um_config_needs(config, names[n])
					== (rows[i].needed[n] == '1'));
		um_config_free(config);
	}
}

TEST(base_urls)
{
	static const struct {
		const char *url;
		bool good;
	} cases[] = {
		{ "https://callback.example.com", true },
		{ "https://callback.example.com:8443", true },
		{ "http://127.0.0.1", true },
		{ "http://127.0.0.1:8080", true },
		{ "http://[::1]:8080", true },
		{ "https://", false },
		{ "https://host/", false },
		{ "https://host/path", false },
		{ "https://host#fragment", false },
		{ "https://user@host", false },
		{ "https://host\\@evil", false },
		{ "https://ho st", false },
		{ "https://host\r\nX: y", false },
		{ "HTTPS://host", false },
		{ "http://callback.example.com", false },
		{ "http://127.0.0.1.evil.example", false },
		{ "http://localhost.evil.example", false },
		{ "http://127.0.0.1:", false },
		{ "http://127.0.0.1:80/", false },
		{ "http://127.0.0.1@evil.example", false },
		{ "http://127.0.0.2", false },
		{ "//host", false },
		{ "host", false },
	};
	struct um_error err;

	for (size_t i = 0; i < LENGTH(cases); i++) {
		json_t *value = json_string(cases[i].url);
		char *text = json_dumps(value, JSON_ENCODE_ANY);
		struct um_config *config = load_with(TOP, "base_url", text,
			&err);

		row_begin("%s", cases[i].url);
		assert_row(cases[i].url, (config != NULL) == cases[i].good);
		if (config == NULL)
			assert_error(&err, " /base_url: is not https://");
		um_config_free(config);
		free(text);
		json_decref(value);
	}
}

/* A mistake in it would else be said by libpq, with what it quotes. */
TEST(a_database_url_is_one_of_libpq)
{
	static const struct {
		const char *value;
		bool good;
	} cases[] = {
		{ "\"postgresql://cgi@/urlmode?host=/run/postgresql\"", true },
		{ "\"postgres://a,b/urlmode?target_session_attrs=read-write\"",
			true },
		{ "\"host=db user=cgi password='a b'\"", true },
		{ "\"postgres:/cgi:" PASSWORD "@db/urlmode\"", false },
		{ "\"" PASSWORD "\"", false },
		{ "\"host=db passwort=" PASSWORD "\"", false },
		{ "\"postgresql://db/urlmode?passwort=" PASSWORD "\"", false },
		{ "\"host=db password='" PASSWORD "\"", false },
	};
	struct um_error err;

	for (size_t i = 0; i < LENGTH(cases); i++) {
		struct um_config *config = load_with(TOP, "database_url",
			cases[i].value, &err);

		row_begin("%s", cases[i].value);
		assert_row(cases[i].value, (config != NULL) == cases[i].good);
		if (config == NULL)
			assert_error(&err, " /database_url: is not");
		um_config_free(config);
	}
}

TEST(paths_are_relative_to_the_file)
{
	struct um_error err;
	struct um_config *config = load_with(TOP, "log_file",
		"\"log/urlmode.log\"", &err);
	const char *folder = getenv("TMPDIR");
	struct um_buf expected = { 0 };

	if (folder == NULL)
		folder = "/tmp";
	assert_non_null(config);
	um_buf_printf(&expected, "%s/keys", folder);
	assert_str(um_buf_str(&expected), config->keys_file);
	um_buf_free(&expected);
	um_buf_printf(&expected, "%s/log/urlmode.log", folder);
	assert_str(um_buf_str(&expected), config->log_file);
	um_buf_free(&expected);
	um_config_free(config);
}

TEST(what_is_no_json_is_refused_by_its_line)
{
	static const struct {
		struct um_str text;
		const char *reason;
	} cases[] = {
		{ { "", 0 }, ":1: " },
		{ { "{", 1 }, ":1: " },
		{ { "{\n\n x", 6 }, ":3: " },
		{ { GOOD "x", sizeof(GOOD) }, ":1: end of file expected" },
		{ { GOOD, sizeof(GOOD) - 2 }, ":1: " },
		{ { "{\"a\": \"" PASSWORD "\n\"}", 17 }, ":1: " },
		{ { "{\"a\": " PASSWORD "}", 14 }, ":1: " },
		{ { "{\"a\": 1, \"a\": 1}", 16 }, ":1: duplicate key \"a\"" },
		{ { "{\"a\": \"\\u0000\"}", 15 },
			":1: \\u0000 is not allowed" },
		{ { "{\"a\": \"\xff\"}", 10 }, ":1: unable to decode byte" },
	};
	struct um_error err;

	for (size_t i = 0; i < LENGTH(cases); i++) {
		row_begin("%s", cases[i].text.ptr);
		assert_null(load(cases[i].text, &err));
		assert_error(&err, cases[i].reason);
	}
	assert_null(load(STR("[]"), &err));
	assert_error(&err, ": is not an object");
}

/* Deep nesting ends in a refusal, not in the stack. */
TEST(a_nesting_bomb_is_refused)
{
	static char bomb[1000000];
	struct um_error err;

	memset(bomb, '[', sizeof(bomb));
	assert_null(load((struct um_str){ bomb, sizeof(bomb) }, &err));
	assert_error(&err, "maximum parsing depth reached");
}

/* A value in one place alone, and with the same checks in either. */
TEST(secrets_of_the_environment)
{
	static const char keys[] =
		"1 ERERERERERERERERERERERERERERERERERERERERERE";
	static const struct {
		const char *keys;
		const char *url;
		const char *without; /* the member that is left out */
		const char *reason;
	} cases[] = {
		{ keys, NULL, "",
			" /keys_file: is beside URLMODE_KEYS in the" },
		{ "", NULL, "", " /keys_file: is beside URLMODE_KEYS in the" },
		{ NULL, "host=db", "",
			" /database_url: is beside URLMODE_CGI_DATABASE_URL" },
		{ NULL, "", "database_url", NULL },
		{ NULL, "host='" PASSWORD, "database_url",
			"URLMODE_CGI_DATABASE_URL is not a connection URI" },
		{ keys, NULL, "keys_file", NULL },
		{ NULL, "host=db", "database_url", NULL },
	};

	for (size_t i = 0; i < LENGTH(cases); i++) {
		json_t *root = json_loads(GOOD, 0, NULL);
		struct um_config *config;
		struct um_error err = { "" };
		char *text;
		char *path;

		row_begin("%zu", i);
		json_object_del(root, cases[i].without);
		text = json_dumps(root, 0);
		path = file_make(um_str(text), 0600);
		if (cases[i].keys != NULL)
			setenv("URLMODE_KEYS", cases[i].keys, 1);
		if (cases[i].url != NULL)
			setenv("URLMODE_CGI_DATABASE_URL", cases[i].url, 1);
		assert_int_equal(um_config_load(&config, path, &err),
			cases[i].reason == NULL);
		assert_null(getenv("URLMODE_KEYS"));
		assert_null(getenv("URLMODE_CGI_DATABASE_URL"));
		if (cases[i].reason != NULL)
			assert_error(&err, cases[i].reason);
		else if (cases[i].url != NULL)
			assert_string_equal(config->database_url, cases[i].url);
		else
			assert_string_equal(config->keys, keys);
		assert_null(strstr(err.text, PASSWORD));
		um_config_free(config);
		file_remove(path);
		free(text);
		json_decref(root);
	}
}

TEST(keys_of_the_environment_are_loaded)
{
	struct um_config config = { 0 };
	char good[] = "7 ERERERERERERERERERERERERERERERERERERERERERE";
	char bad[] = "7 ERER";
	struct um_keys *keys;
	struct um_error err;

	config.keys = good;
	assert_true(um_config_load_keys(&keys, &config, &err));
	assert_int_equal(um_keys_minting(keys)->kid, 7);
	um_keys_free(keys);
	config.keys = bad;
	assert_false(um_config_load_keys(&keys, &config, &err));
	assert_string_equal(err.text,
		"URLMODE_KEYS:1: the key is under 32 bytes");
}

TEST(what_cannot_be_read_is_refused)
{
	struct um_config *config;
	struct um_error err;

	assert_false(um_config_load(&config, "/nonexistent/config.json", &err));
	assert_null(config);
	assert_error(&err, "/nonexistent/config.json: ");
	assert_error(&err, "No such file or directory");
	assert_false(um_config_load(&config, "tests", &err));
	assert_null(config);
	assert_error(&err, "tests:");
	um_config_free(NULL);
}

static void
keep(const char *text, void *arg)
{
	char *said = arg;

	snprintf(said, 256, "%s", text);
}

/* To the millisecond, on both sides. */
TEST(certificates_of_providers)
{
	static const char entry[] =
		"{\"pp\": {\"kind\": \"payment\", \"description\": "
		"\"paypal\", \"constants\": {\"webhook_id\": \"W\"}, "
		"\"certificate\": \"%s/tests/deliveries/paypal.pem\"}}";
	char value[1024], folder[512], said[256] = "";
	struct um_config *config;
	struct um_error err;
	int64_t end, soon;

	assert_non_null(getcwd(folder, sizeof(folder)));
	snprintf(value, sizeof(value), entry, folder);
	config = load_with(TOP, "providers", value, &err);
	if (config == NULL)
		fail_msg("%s", err.text);
	assert_true(um_spec_certificates_end(config->providers[0].spec, &end));
	soon = end - UM_CERTIFICATE_SOON_DAYS * INT64_C(86400000);
	assert_true(um_config_check_certificates(config, soon - 1, keep, said));
	assert_string_equal(said, "");
	assert_true(um_config_check_certificates(config, soon, keep, said));
	assert_non_null(strstr(said,
		"provider pp: the certificate for its "
		"signatures expires on 2"));
	assert_true(um_config_check_certificates(config, end, keep, said));
	assert_false(um_config_check_certificates(config, end + 1, keep, said));
	assert_non_null(strstr(said, "signatures expired on 2"));
	um_config_free(config);
}

static void
replace(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");
	int closed;

	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	closed = fclose(file);
	assert_int_equal(closed, 0);
}

/* With the secrets of the environment, which only the first load has seen. */
TEST(a_configuration_in_use_is_tried_again)
{
	static const char good[] =
		"{\"base_url\": \"https://callback.example.com\","
		" \"providers\": {\"shop\": {\"kind\": \"payment\","
		"  \"description\": \"%s\", \"secrets\": [\"s\"]}}}";
	char *description = file_make(STR("{}"), 0600);
	char text[512], stripe[PATH_MAX];
	struct um_config *config;
	struct um_error err = { "" };
	uint64_t version;
	char *path;

	assert_non_null(realpath("lib/providers/stripe.json", stripe));
	unlink(description);
	assert_int_equal(symlink(stripe, description), 0);
	snprintf(text, sizeof(text), good, description);
	path = file_make(um_str(text), 0600);
	setenv("URLMODE_KEYS", "1 ERERERERERERERERERERERERERERERERERERERERERE",
		1);
	setenv("URLMODE_CGI_DATABASE_URL", "host=db password=" PASSWORD, 1);
	if (!um_config_load(&config, path, &err)
		|| !um_config_try(config, &err))
		fail_msg("%s", err.text);
	version = um_config_version(config);
	assert_true(um_config_version(config) == version);

	replace(path, "{");
	assert_true(um_config_version(config) != version);
	assert_false(um_config_try(config, &err));
	assert_ptr_equal(strstr(err.text, path), err.text);
	replace(path, text);
	assert_true(um_config_try(config, &err));

	version = um_config_version(config);
	unlink(description);
	assert_true(um_config_version(config) != version);
	version = um_config_version(config);
	replace(description, "{\"kind\": \"no\"}");
	assert_true(um_config_version(config) != version);
	assert_false(um_config_try(config, &err));
	assert_non_null(strstr(err.text, description));
	assert_null(strstr(err.text, PASSWORD));
	um_config_free(config);
	file_remove(description);
	file_remove(path);
}

TEST(descriptions_of_entries_of_the_api)
{
	static const char good[] = "{\"base_url\": \"https://a.example\","
				   " \"database_url\": \"host=db\","
				   " \"keys_file\": \"keys\","
				   " \"descriptions\": %s}";
	static const struct {
		const char *descriptions, *fault;
	} cases[] = {
		{ "{\"acme\": \"stripe\", \"b\": \"paypal\"}", NULL },
		{ "{}", NULL },
		{ "{\"acme\": \"none\"}",
			"/descriptions/acme: is not the name of a shipped "
			"description" },
		{ "{\"acme\": 1}", "/descriptions/acme: is not a string" },
		{ "[]", "/descriptions: is not an object" },
	};

	unsetenv("URLMODE_KEYS");
	for (size_t i = 0; i < LENGTH(cases); i++) {
		struct um_config *config;
		struct um_error err;
		char text[512];
		char *path;
		bool ok;

		snprintf(text, sizeof(text), good, cases[i].descriptions);
		path = file_make(um_str(text), 0600);
		ok = um_config_load_api(&config, path, &err);
		if (cases[i].fault != NULL) {
			assert_false(ok);
			if (strstr(err.text, cases[i].fault) == NULL)
				fail_msg("%s", err.text);
		} else if (!ok) {
			fail_msg("%s", err.text);
		} else if (i == 0) {
			assert_string_equal(um_config_description(config,
						    "acme"),
				"stripe");
			assert_string_equal(um_config_description(config, "b"),
				"paypal");
			assert_string_equal(um_config_description(config,
						    "mollie"),
				"mollie");
		}
		um_config_free(config);
		file_remove(path);
	}
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_whole_configuration),
		cmocka_unit_test(a_mistake_is_said_with_its_place),
		cmocka_unit_test(names_of_providers),
		cmocka_unit_test(the_programs_that_a_provider_needs),
		cmocka_unit_test(base_urls),
		cmocka_unit_test(a_database_url_is_one_of_libpq),
		cmocka_unit_test(paths_are_relative_to_the_file),
		cmocka_unit_test(what_is_no_json_is_refused_by_its_line),
		cmocka_unit_test(a_nesting_bomb_is_refused),
		cmocka_unit_test(secrets_of_the_environment),
		cmocka_unit_test(keys_of_the_environment_are_loaded),
		cmocka_unit_test(what_cannot_be_read_is_refused),
		cmocka_unit_test(certificates_of_providers),
		cmocka_unit_test(a_configuration_in_use_is_tried_again),
		cmocka_unit_test(descriptions_of_entries_of_the_api),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
