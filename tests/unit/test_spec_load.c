/* SPDX-License-Identifier: MIT */
/* Descriptions with one thing wrong: refused, with its place and reason. */
#include "deliveries.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CASES "tests/vectors/broken-descriptions.json"

static const char *
text_of(const json_t *row, const char *key)
{
	return json_string_value(json_object_get(row, key));
}

/* The node at the pointer's first `len` characters. */
static json_t *
node_at(json_t *node, const char *pointer, size_t len)
{
	char token[64];

	for (size_t at = 0, used; at < len && node != NULL; at += used + 1) {
		used = strcspn(pointer + at + 1, "/");
		snprintf(token, sizeof(token), "%.*s", (int)used,
			pointer + at + 1);
		node = json_is_array(node)
			? json_array_get(node, strtoul(token, NULL, 10))
			: json_object_get(node, token);
	}
	return node;
}

/* Sets or deletes what `pointer` says; the root itself becomes `to`. */
static json_t *
changed(const json_t *description, const char *pointer, json_t *to)
{
	json_t *copy = json_deep_copy(description);
	const char *last = strrchr(pointer, '/');
	json_t *node;

	assert_non_null(copy);
	if (last == NULL) {
		json_decref(copy);
		return json_incref(to);
	}
	node = node_at(copy, pointer, (size_t)(last - pointer));
	assert_non_null(node);
	last++;
	if (json_is_array(node))
		assert_int_equal(json_array_set(node, strtoul(last, NULL, 10),
					 to),
			0);
	else if (to == NULL)
		assert_int_equal(json_object_del(node, last), 0);
	else
		assert_int_equal(json_object_set(node, last, to), 0);
	return copy;
}

static void
refuse(struct provider provider, const json_t *row)
{
	struct um_buf said = { 0 };
	struct um_spec *loaded;
	struct um_error err;
	json_t *broken;
	char *text, *path;

	broken = changed(provider.description, text_of(row, "change"),
		json_object_get(row, "to"));
	text = json_dumps(broken, JSON_ENCODE_ANY);
	assert_non_null(text);
	path = file_make(um_str(text), 0600);
	snprintf(provider.path, sizeof(provider.path), "%s", path);
	if (provider_try(&provider,
		    json_object_get(json_object_get(provider.root, "site"),
			    "secrets"),
		    &loaded, &err))
		fail_msg("%s with %s changed was accepted",
			text_of(row, "base"), text_of(row, "change"));
	assert_null(loaded);
	um_buf_printf(&said, "%s:%s%s: ", path,
		text_of(row, "at")[0] != '\0' ? " " : "", text_of(row, "at"));
	um_buf_put(&said, "", 1);
	if (strncmp(err.text, said.ptr, strlen(said.ptr)) != 0
		|| strstr(err.text, text_of(row, "reason")) == NULL)
		fail_msg("\"%s\" does not say \"%s… %s\"", err.text, said.ptr,
			text_of(row, "reason"));
	um_buf_free(&said);
	file_remove(path);
	free(text);
	json_decref(broken);
}

TEST(each_mistake_is_said_with_its_place)
{
	json_error_t where;
	json_t *rows = json_load_file(CASES, JSON_REJECT_DUPLICATES, &where);
	struct provider provider = { .name = "" };

	if (rows == NULL)
		fail_msg("%s:%d: %s", CASES, where.line, where.text);
	for (size_t i = 0; i < json_array_size(rows); i++) {
		const json_t *row = json_array_get(rows, i);

		if (strcmp(provider.name, text_of(row, "base")) != 0) {
			provider_close(&provider);
			provider_open(&provider, text_of(row, "base"));
		}
		refuse(provider, row);
	}
	provider_close(&provider);
	json_decref(rows);
}

/* What the site gives, and what it should give. */
TEST(secrets_that_do_not_fit)
{
	static const struct {
		const char *provider;
		const char *secrets;
		const char *reason;
	} cases[] = {
		{ "standard-webhooks", "[\"MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\"]",
			"/verify: secret 1 of the configuration does not begin "
			"with the `prefix` of any scheme" },
		{ "standard-webhooks", "[\"whsec_*\"]",
			"/verify: secret 1 of the configuration is not "
			"base64" },
		{ "standard-webhooks", "[\"whsec_\"]",
			"/verify: secret 1 of the configuration is empty" },
		{ "standard-webhooks", "[\"whsec_AA==\", \"whpk_AA==\"]",
			"/verify: secret 2 of the configuration is not a "
			"public key" },
		{ "adyen", "[\"xyz0\"]",
			"/verify: secret 1 of the configuration is not hex" },
		{ "mollie", "[\"secret\"]",
			"/verify: the description does not verify signatures" },
		{ "paypal", "[\"secret\"]",
			"/verify: secret 1 of the configuration does not begin "
			"with the `prefix`" },
		{ "stripe", "[\"1\",\"2\",\"3\",\"4\",\"5\",\"6\",\"7\",\"8\"]",
			NULL },
	};

	for (size_t i = 0; i < LENGTH(cases); i++) {
		json_t *secrets = json_loads(cases[i].secrets, 0, NULL);
		struct um_spec *spec;
		struct provider provider;
		struct um_error err;
		bool ok;

		row_begin("%s", cases[i].secrets);
		assert_non_null(secrets);
		provider_open(&provider, cases[i].provider);
		ok = provider_try(&provider, secrets, &spec, &err);
		assert_row(cases[i].provider, ok == (cases[i].reason == NULL));
		if (!ok)
			assert_error(&err, cases[i].reason);
		um_spec_free(spec);
		provider_close(&provider);
		json_decref(secrets);
	}
}

static bool
load_with_certificate(const char *path, const char *certificate,
	struct um_error *err)
{
	static const char *const secrets[] = { "secret" };
	const struct um_provider_env env = { .secrets = secrets,
		.secrets_len = strstr(path, "stripe") != NULL,
		.certificate = certificate };
	struct um_spec *spec;
	bool ok = um_spec_load(&spec, path, &env, err);

	um_spec_free(spec);
	return ok;
}

TEST(certificates_that_do_not_fit)
{
	static const char paypal[] = "lib/providers/paypal.json";
	struct um_error err;

	assert_false(load_with_certificate("lib/providers/stripe.json",
		"tests/deliveries/paypal.pem", &err));
	assert_error(&err,
		"/verify: the configuration has a certificate, but no scheme "
		"uses one");
	assert_false(load_with_certificate(paypal, NULL, &err));
	assert_error(&err, "the configuration has no constant `webhook_id`");
}

/* A description with several mistakes, and the configuration around it. */
TEST(all_mistakes_at_once)
{
	static const char text[] =
		"{\"name\": 1, \"documentation\": \"d\", \"verify\": ["
		"{\"algorithm\": \"sha256\", \"key\": {\"as\": \"utf8\"}},"
		"{\"algoritm\": \"hmac-sha256\"}], \"turst\": \"body\","
		"\"type\": \"/type\", \"outcomes\": [{\"effect\": \"payed\"},"
		"{\"efect\": \"paid\"}], \"grace\": 0, \"timestamp\": {"
		"\"from\": {\"signature\": \"t\"}, \"as\": \"unix\","
		" \"past\": 1, \"future\": 1}, \"oauth\": {\"issuer\": 1,"
		" \"authorization_response_iss_parameter_supported\": 1,"
		" \"authorization_response\": {\"errors\": \"e\","
		" \"declined\": [{\"error\": 1}], \"consented\": {},"
		" \"requested\": [{}]}}}";
	static const char *const expected[] = {
		" /turst: is not known; it can be $schema, name, ",
		" /name: is not a string\n",
		" /verify/0/algorithm: `sha256` is not one of its choices; ",
		" /verify/1/algoritm: is not known; it can be ",
		" /trust: is missing; it can be body, fields, part, token, ",
		" /type: is the constant `/type`; ",
		" /outcomes/0/effect: `payed` is not one of its choices; ",
		" /outcomes/1/efect: is not known; it can be type, ",
		" /grace: is not a whole number from 1 to 31536000",
		" /oauth/issuer: is not a string\n",
		" /oauth/authorization_response_iss_parameter_supported: is ",
		" /oauth/authorization_response/errors: is not a",
		" /oauth/authorization_response/declined/0/error: is not a ",
		" /oauth/authorization_response/consented: is not a list of ",
		" /oauth/authorization_response/requested/0: is not an object",
	};
	static const struct um_provider_env env = { 0 };
	char *path = file_make(um_str(text), 0600);
	struct um_spec *spec;
	struct um_error err;

	assert_false(um_spec_load(&spec, path, &env, &err));
	for (size_t i = 0; i < LENGTH(expected); i++)
		assert_error(&err, expected[i]);
	/* It is right, if only the schemes were. */
	assert_null(strstr(err.text, "/timestamp"));
	file_remove(path);
}

TEST(a_duplicate_key_is_named_and_not_its_value)
{
	static const struct {
		const char *text, *key;
	} cases[] = {
		{ "{\"a\": 1,\n \"a\": \"hidden\"}",
			":2: duplicate key \"a\"" },
		{ "{\"\\\"b\": 1, \"\\\"b\": \"hidden\"}",
			":1: duplicate key \"\\\"b\"" },
		{ "{\"a_name_that_is_longer_than_twenty\": 1,"
		  " \"a_name_that_is_longer_than_twenty\": \"hidden\"}",
			":1: duplicate key "
			"\"a_name_that_is_longer_than_twenty\"" },
	};

	for (size_t i = 0; i < LENGTH(cases); i++) {
		static const struct um_provider_env env = { 0 };
		char *path = file_make(um_str(cases[i].text), 0600);
		struct um_spec *spec;
		struct um_error err;

		assert_false(um_spec_load(&spec, path, &env, &err));
		assert_error(&err, cases[i].key);
		assert_null(strstr(err.text, "hidden"));
		file_remove(path);
	}
}

TEST(files_that_are_none)
{
	static const struct um_provider_env env = { 0 };
	struct um_spec *spec;
	struct um_error err;

	assert_false(um_spec_load(&spec, "/nonexistent/x.json", &env, &err));
	assert_null(spec);
	assert_error(&err, "/nonexistent/x.json: No such file");
	assert_false(um_spec_load(&spec, "lib/providers", &env, &err));
	assert_error(&err, "lib/providers: Is a directory");
	assert_false(
		um_spec_load(&spec, "lib/providers/README.md", &env, &err));
	assert_error(&err, "lib/providers/README.md:1: ");
	um_spec_free(NULL);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_mistake_is_said_with_its_place),
		cmocka_unit_test(secrets_that_do_not_fit),
		cmocka_unit_test(certificates_that_do_not_fit),
		cmocka_unit_test(all_mistakes_at_once),
		cmocka_unit_test(a_duplicate_key_is_named_and_not_its_value),
		cmocka_unit_test(files_that_are_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
