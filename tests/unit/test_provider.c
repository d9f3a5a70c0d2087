/* SPDX-License-Identifier: MIT */
/* Providers of the configuration that have a description. */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config/config.h"
#include "support.h"

#define SECRET "whsec_topsecret"
#define HMAC                                                                   \
	"{\"name\": \"n\", \"documentation\": \"d\", \"verify\": [{"           \
	"\"algorithm\": \"hmac-sha256\", \"key\": {\"as\": \"utf8\"},"         \
	"\"signature\": {\"from\": {\"header\": \"x\"}, \"as\": \"hex\"},"     \
	"\"signed\": [{\"site\": \"notification_url\"}, {\"body\": "           \
	"\"raw\"}]}],"                                                         \
	"\"trust\": \"body\", \"outcomes\": [{\"effect\": \"paid\"}]}"

/* Loads a configuration whose only provider is this. */
static struct um_config *
load(const char *name, const char *provider, struct um_error *err)
{
	struct um_buf text = { 0 };
	struct um_config *config = NULL;
	char folder[512], *path;

	assert_non_null(getcwd(folder, sizeof(folder)));
	um_buf_printf(&text,
		"{\"base_url\": \"https://pay.example\", \"keys_file\": \"k\","
		" \"database_url\": \"host=db\","
		" \"providers_dir\": \"%s/lib/providers\","
		" \"providers\": {\"%s\": %s}}",
		folder, name, provider);
	path = file_make(um_buf_str(&text), 0600);
	err->text[0] = '\0';
	if (!um_config_load(&config, path, err))
		assert_null(strstr(err->text, "topsecret"));
	um_buf_free(&text);
	file_remove(path);
	return config;
}

/* The same, where nothing is wrong with it: *config is to be freed. */
static const struct um_provider *
load_good(struct um_config **config, const char *name, const char *text)
{
	const struct um_provider *provider;
	struct um_error err;

	row_begin("%s", text);
	*config = load(name, text, &err);
	if (*config == NULL)
		fail_msg("%s", err.text);
	provider = um_config_provider(*config, um_str(name));
	assert_non_null(provider);
	return provider;
}

TEST(a_provider_with_its_description)
{
	static const struct {
		const char *name;
		const char *provider;
		enum um_kind kind;
		bool described;
	} cases[] = {
		{ "stripe",
			"{\"kind\": \"payment\", \"secrets\": [\"" SECRET
			"\", \"whsec_old\"]}",
			UM_KIND_PAYMENT, true },
		{ "shop",
			"{\"kind\": \"payment\", \"description\": \"stripe\","
			" \"secrets\": [\"" SECRET "\"]}",
			UM_KIND_PAYMENT, true },
		{ "docusign",
			"{\"kind\": \"signature\", \"secrets\": [\"" SECRET
			"\"]}",
			UM_KIND_SIGNATURE, true },
		{ "mollie", "{\"kind\": \"payment\"}", UM_KIND_PAYMENT, true },
		{ "square",
			"{\"kind\": \"payment\", \"secrets\": [\"" SECRET
			"\"]}",
			UM_KIND_PAYMENT, true },
		{ "square",
			"{\"kind\": \"payment\", \"secrets\": [\"" SECRET
			"\"], \"constants\": {\"notification_url\": "
			"\"https://other.example/\"}}",
			UM_KIND_PAYMENT, true },
		{ "github", "{\"kind\": \"oauth\"}", UM_KIND_OAUTH, false },
		{ "app",
			"{\"kind\": \"oauth\", \"description\": \"github\","
			" \"secrets\": [\"" SECRET "\"]}",
			UM_KIND_OAUTH, true },
	};

	for (size_t i = 0; i < LENGTH(cases); i++) {
		struct um_config *config;
		const struct um_provider *provider = load_good(&config,
			cases[i].name, cases[i].provider);

		assert_int_equal(provider->kind, cases[i].kind);
		assert_row(cases[i].name,
			(provider->spec != NULL) == cases[i].described);
		um_config_free(config);
	}
}

TEST(a_mistake_is_said_with_its_place)
{
	static const struct {
		const char *name;
		const char *provider;
		const char *reason;
	} cases[] = {
		{ "nobody", "{\"kind\": \"payment\"}",
			" /providers/nobody/description: " },
		{ "nobody", "{\"kind\": \"payment\"}",
			"/nobody.json: No such file" },
		{ "stripe", "{\"kind\": \"payment\"}",
			"/stripe.json: /verify: the configuration has no "
			"secret, certificate or jwks_file for it" },
		{ "stripe", "{\"kind\": \"payment\", \"secrets\": []}",
			" /providers/stripe/secrets: is not a list of 1 to 16 "
			"strings" },
		{ "stripe", "{\"kind\": \"payment\", \"secrets\": \"x\"}",
			" /providers/stripe/secrets: is not a list" },
		{ "stripe",
			"{\"kind\": \"payment\", \"secrets\": [\"" SECRET
			"\", \"\"]}",
			" /providers/stripe/secrets/1: is not a string, "
			"is empty" },
		{ "stripe", "{\"kind\": \"payment\", \"secrets\": [7]}",
			" /providers/stripe/secrets/0: is not a string" },
		{ "stripe",
			"{\"kind\": \"payment\", \"secrets\": [\"" SECRET
			"\"], \"constants\": {\"webhook_id\": \"x\"}}",
			" /providers/stripe/constants/webhook_id: is not used "
			"by the description" },
		{ "stripe",
			"{\"kind\": \"payment\", \"secrets\": [\"" SECRET
			"\"], \"constants\": []}",
			" /providers/stripe/constants: is not an object" },
		{ "stripe",
			"{\"kind\": \"payment\", \"secrets\": [\"" SECRET
			"\"], \"constants\": {\"a\": [\"b\", \"\"]}}",
			" /providers/stripe/constants/a: holds something that "
			"is not a string" },
		{ "stripe",
			"{\"kind\": \"payment\", \"secrets\": [\"" SECRET
			"\"], \"constants\": {\"a\": 1}}",
			" /providers/stripe/constants/a: is not a string" },
		{ "stripe",
			"{\"kind\": \"payment\", \"secrets\": [\"" SECRET
			"\"], \"return_secrets\": [\"" SECRET "\"]}",
			"/return: is missing, but the configuration has "
			"`return_secrets`" },
		{ "stripe",
			"{\"kind\": \"payment\", \"secrets\": [\"" SECRET
			"\"], \"certificate\": \"x.pem\"}",
			"the configuration has a certificate, but no scheme "
			"uses one" },
		{ "mollie",
			"{\"kind\": \"payment\", \"secrets\": [\"" SECRET
			"\"]}",
			"the description does not verify signatures" },
		{ "notion", "{\"kind\": \"payment\"}",
			" /providers/notion/description: has no webhook, "
			"which the kinds `payment` and `signature` need" },
		{ "notion",
			"{\"kind\": \"oauth\", \"description\": \"notion\","
			" \"secrets\": [\"" SECRET "\"]}",
			"/notion.json: /verify: is missing, but the "
			"configuration has secrets" },
		{ "notion",
			"{\"kind\": \"oauth\", \"description\": \"notion\","
			" \"constants\": {\"a\": \"b\"}}",
			" /providers/notion/constants/a: is not used by the "
			"description" },
		{ "paypal", "{\"kind\": \"payment\"}",
			"/paypal.json: /verify/0/signed/4: the configuration "
			"has no constant `webhook_id`" },
		{ "paypal",
			"{\"kind\": \"payment\", \"constants\": "
			"{\"webhook_id\": \"W\"}}",
			"the configuration has no secret, certificate or" },
		{ "paypal",
			"{\"kind\": \"payment\", \"constants\": "
			"{\"webhook_id\": \"W\"}, \"certificate\": \"x.pem\"}",
			"/x.pem cannot be read" },
		{ "shop",
			"{\"kind\": \"payment\", \"description\": \"Stripe\"}",
			" /providers/shop/description: is neither a name" },
		{ "shop", "{\"kind\": \"payment\", \"description\": \"\"}",
			" /providers/shop/description: is empty" },
		{ "polar",
			"{\"kind\": \"payment\", \"secrets\": [\"s\"], "
			"\"mode\": \"test\"}",
			"/polar.json: /live: is missing, but the "
			"configuration has a `mode`" },
		{ "polar",
			"{\"kind\": \"payment\", \"secrets\": [\"s\"], "
			"\"accounts\": [\"a\"]}",
			"/polar.json: /account: is missing, but the "
			"configuration has `accounts`" },
		{ "stripe",
			"{\"kind\": \"payment\", \"secrets\": [\"s\"], "
			"\"mode\": \"sandbox\"}",
			" /providers/stripe/mode: `sandbox` is not one of its "
			"choices; it can be live, test" },
		{ "stripe",
			"{\"kind\": \"payment\", \"secrets\": [\"s\"], "
			"\"accounts\": []}",
			" /providers/stripe/accounts: is not a list of 1 "
			"to 256 strings" },
		{ "stripe",
			"{\"kind\": \"payment\", \"secrets\": [\"s\"], "
			"\"accounts\": [1]}",
			" /providers/stripe/accounts/0: is not a string" },
		{ "stripe",
			"{\"kind\": \"payment\", \"secrets\": [\"s\"], "
			"\"grace\": 0}",
			" /providers/stripe/grace: is not a whole number "
			"from 1 to 31536000" },
		{ "demo", "{\"kind\": \"oauth\", \"grace\": 60}",
			" /providers/demo/grace: is only for the kinds "
			"`payment` and `signature`" },
		{ "demo", "{\"kind\": \"oauth\", \"mode\": \"test\"}",
			" /providers/demo/mode: needs a `description`" },
		{ "demo",
			"{\"kind\": \"oauth\", \"secrets\": [\"" SECRET "\"]}",
			" /providers/demo/secrets: needs a `description`" },
		{ "demo", "{\"kind\": \"oauth\", \"certificate\": \"x\"}",
			" /providers/demo/certificate: needs a `description`" },
	};
	struct um_error err;

	for (size_t i = 0; i < LENGTH(cases); i++) {
		row_begin("%s", cases[i].provider);
		if (load(cases[i].name, cases[i].provider, &err) != NULL)
			fail_msg("%s was accepted", cases[i].provider);
		assert_error(&err, cases[i].reason);
	}
}

/* The configuration's grace, the description's, or a day. */
TEST(the_grace)
{
	static const struct {
		const char *name;
		const char *provider;
		int64_t seconds;
	} cases[] = {
		{ "shop",
			"{\"kind\": \"payment\", \"description\": \"square\","
			" \"secrets\": [\"s\"], \"grace\": 60}",
			60 },
		{ "square", "{\"kind\": \"payment\", \"secrets\": [\"s\"]}",
			604800 },
		{ "svix",
			"{\"kind\": \"signature\", \"secrets\":"
			" [\"whsec_AAAA\"]}",
			86400 },
		{ "demo", "{\"kind\": \"oauth\"}", 0 },
		{ "stripe",
			"{\"kind\": \"oauth\", \"description\": \"stripe\","
			" \"secrets\": [\"s\"]}",
			0 },
	};

	for (size_t i = 0; i < LENGTH(cases); i++) {
		struct um_config *config;
		const struct um_provider *provider = load_good(&config,
			cases[i].name, cases[i].provider);

		assert_row(cases[i].name,
			provider->grace_ms == cases[i].seconds * 1000);
		um_config_free(config);
	}
}

/* Each is given to the description: see test_event_read_origin.c. */
TEST(the_mode_and_the_accounts)
{
	struct um_config *config;

	load_good(&config, "stripe",
		"{\"kind\": \"payment\", \"secrets\": [\"s\"],"
		" \"mode\": \"test\", \"accounts\": [\"acct_1\"]}");
	um_config_free(config);
}

/* What the description's `oauth` part says, unless the entry says it. */
TEST(the_issuer)
{
	static const struct {
		const char *provider;
		const char *issuer;
		bool sends_iss;
	} cases[] = {
		{ "{\"kind\": \"oauth\", \"description\": \"google\"}",
			"https://accounts.google.com", false },
		{ "{\"kind\": \"oauth\", \"description\": \"google\","
		  " \"issuer\": \"https://id.example\"}",
			"https://id.example", true },
		{ "{\"kind\": \"oauth\","
		  " \"description\": \"microsoft-entra\"}",
			NULL, false },
		{ "{\"kind\": \"oauth\", \"description\": \"notion\"}", NULL,
			false },
		{ "{\"kind\": \"oauth\"}", NULL, false },
	};

	for (size_t i = 0; i < LENGTH(cases); i++) {
		struct um_config *config;
		const struct um_provider *provider = load_good(&config,
			"account", cases[i].provider);

		if (cases[i].issuer == NULL)
			assert_null(provider->issuer);
		else
			assert_string_equal(provider->issuer, cases[i].issuer);
		assert_int_equal(provider->sends_iss, cases[i].sends_iss);
		assert_null(provider->spec);
		um_config_free(config);
	}
}

/* For its returns alone: a webhook for which nothing is set up is not served. */
TEST(the_words_of_a_provider)
{
	static const struct {
		const char *provider;
		bool has_words, is_described;
	} cases[] = {
		{ "{\"kind\": \"oauth\", \"description\": \"github\"}", true,
			false },
		{ "{\"kind\": \"oauth\", \"description\": \"github\","
		  " \"secrets\": [\"" SECRET "\"]}",
			true, true },
		{ "{\"kind\": \"oauth\", \"description\": \"linkedin\"}", true,
			false },
		{ "{\"kind\": \"oauth\", \"description\": \"google\"}", false,
			false },
		{ "{\"kind\": \"oauth\"}", false, false },
	};

	for (size_t i = 0; i < LENGTH(cases); i++) {
		struct um_config *config;
		const struct um_provider *provider = load_good(&config,
			"account", cases[i].provider);

		assert_row(cases[i].provider,
			(provider->response != NULL) == cases[i].has_words);
		assert_row(cases[i].provider,
			(provider->spec != NULL) == cases[i].is_described);
		um_config_free(config);
	}
}

/* A description of the site's own, by its path; with the usual address. */
TEST(a_description_by_its_path)
{
	char *path = file_make(um_str(HMAC), 0600);
	struct um_buf provider = { 0 };
	struct um_config *config;

	um_buf_printf(&provider,
		"{\"kind\": \"payment\", \"description\": \"%s\","
		" \"secrets\": [\"" SECRET "\"]}",
		path);
	um_buf_put(&provider, "", 1);
	load_good(&config, "own", provider.ptr);
	um_config_free(config);
	um_buf_free(&provider);
	file_remove(path);
}

/* Without providers_dir the tree's own, or wherever it was installed. */
TEST(the_folder_that_comes_with_urlmode)
{
	static const char text[] =
		"{\"base_url\": \"https://pay.example\","
		" \"keys_file\": \"k\", \"database_url\": \"host=db\","
		" \"providers\": {\"stripe\": {\"kind\": \"payment\","
		" \"secrets\": [\"" SECRET "\"]}}}";
	char *path = file_make(um_str(text), 0600);
	struct um_config *config;
	struct um_error err;

	if (!um_config_load(&config, path, &err))
		fail_msg("%s", err.text);
	assert_non_null(config->providers[0].spec);
	um_config_free(config);
	file_remove(path);
}

static size_t strings_left;

/* jansson gives back a block: it must not be a string with the secret. */
static void
free_and_look(void *block)
{
	size_t len = strlen(SECRET);

	strings_left += block != NULL && malloc_usable_size(block) >= len
		&& memcmp(block, SECRET, len) == 0;
	free(block);
}

TEST(the_tenants)
{
	static const struct {
		const char *kind, *tenants, *read; /* or the mistake */
		bool good;
	} cases[] = {
		{ "oauth", "[\"acme\", \"team_7\", \"-\"]", "acme,team_7,",
			true },
		{ "oauth", "[\"-\"]", "", true },
		{ "payment", "[\"acme\"]", "acme", true },
		{ "payment", "[\"acme\", \"shop\"]",
			"/providers/stripe/tenants: is one tenant at most",
			false },
		{ "oauth", "[\"Acme\"]", "/tenants: is not a list of tenants",
			false },
		{ "oauth", "[\"a,b\"]", "/tenants: is not a list of tenants",
			false },
		{ "oauth", "[\"\"]", "/tenants/0: is not a string", false },
		{ "oauth", "[]", "/tenants: is not a list of 1 to 64", false },
		{ "oauth", "\"acme\"", "/tenants: is not a list of 1 to 64",
			false },
	};
	struct um_error err;

	for (size_t i = 0; i < LENGTH(cases); i++) {
		char entry[256];
		struct um_config *config;

		snprintf(entry, sizeof(entry),
			"{\"kind\": \"%s\", \"tenants\": %s%s}", cases[i].kind,
			cases[i].tenants,
			strcmp(cases[i].kind, "payment") == 0
				? ", \"secrets\": [\"" SECRET "\"]"
				: "");
		config = load("stripe", entry, &err);
		row_begin("%s", cases[i].tenants);
		if (cases[i].good) {
			assert_non_null(config);
			assert_string_equal(config->providers[0].tenants,
				cases[i].read);
		} else {
			assert_null(config);
			assert_non_null(strstr(err.text, cases[i].read));
		}
		um_config_free(config);
	}
}

/* The secrets of the file are in no memory that is given back. */
TEST(secrets_are_wiped)
{
	static const struct {
		const char *provider;
		bool good;
	} cases[] = {
		{ "{\"kind\": \"payment\", \"secrets\": [\"" SECRET "\"]}",
			true },
		/* Also when the entry is refused, whatever comes first. */
		{ "{\"kind\": \"payment\", \"secrets\": [\"" SECRET
		  "\"], \"return_secrets\": [\"" SECRET "\"]}",
			false },
		{ "{\"kind\": \"bank\", \"secrets\": [\"" SECRET "\"]}",
			false },
	};
	struct um_error err;

	json_set_alloc_funcs(malloc, free_and_look);
	for (size_t i = 0; i < LENGTH(cases); i++) {
		struct um_config *config = load("stripe", cases[i].provider,
			&err);

		assert_row(cases[i].provider,
			(config != NULL) == cases[i].good);
		um_config_free(config);
		assert_row(cases[i].provider, strings_left == 0);
	}
	json_set_alloc_funcs(malloc, free);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_provider_with_its_description),
		cmocka_unit_test(a_mistake_is_said_with_its_place),
		cmocka_unit_test(the_grace),
		cmocka_unit_test(the_mode_and_the_accounts),
		cmocka_unit_test(the_issuer),
		cmocka_unit_test(the_tenants),
		cmocka_unit_test(the_words_of_a_provider),
		cmocka_unit_test(a_description_by_its_path),
		cmocka_unit_test(the_folder_that_comes_with_urlmode),
		cmocka_unit_test(secrets_are_wiped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
