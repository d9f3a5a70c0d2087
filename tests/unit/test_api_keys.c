/* SPDX-License-Identifier: MIT */
/* The file `api-keys`: who is let in, and which files are refused. */
#include "api/api_keys.h"

#include <stdlib.h>
#include <string.h>

#include "crypto/binding.h"
#include "support.h"

#define KEY "umk_AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE"
#define DIGEST                                                                 \
	"6f704f09d61a2117ac54dbeb830bed058afd3807464e1ccac788e4a224f6b25d"
#define OTHER "d970d5885fcdcc9f12f67cc54a0f8c030a86a63e779d5304f6d6e28a9dfa2187"

static struct um_api_keys *
load(const char *text)
{
	char *path = file_make(um_str(text), 0640);
	struct um_api_keys *keys;
	struct um_error err = { "" };

	if (!um_api_keys_load(&keys, path, &err))
		fail_msg("%s", err.text);
	file_remove(path);
	return keys;
}

static json_t *
tenant_vectors(void)
{
	json_t *all = json_load_file("tests/vectors/tenant.json",
		JSON_ALLOW_NUL, NULL);

	assert_non_null(all);
	return all;
}

TEST(the_vectors_of_keys)
{
	json_t *all = tenant_vectors();
	const json_t *cases = json_object_get(all, "api_keys");

	assert_true(json_array_size(cases) >= 2);
	for (size_t i = 0; i < json_array_size(cases); i++) {
		const json_t *one = json_array_get(cases, i);
		struct um_buf line = { 0 }, header = { 0 };
		struct um_api_keys *keys;
		const struct um_api_key *found;

		um_buf_cat(&line, "shop team-7 ", vector_text(one, "sha256"),
			"\n");
		um_buf_put(&line, "", 1);
		um_buf_cat(&header, "Bearer ", vector_text(one, "key"));
		um_buf_put(&header, "", 1);
		keys = load(line.ptr);
		found = um_api_keys_find(keys, header.ptr);
		assert_non_null(found);
		assert_string_equal(found->name, "shop");
		assert_string_equal(found->tenant, "team-7");
		um_api_keys_free(keys);
		um_buf_free(&line);
		um_buf_free(&header);
	}
	json_decref(all);
}

TEST(the_vectors_of_bindings)
{
	json_t *all = tenant_vectors();
	const json_t *cases = json_object_get(all, "bindings");
	struct um_keys *keys = keys_of(
		"1 AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\n");

	assert_true(json_array_size(cases) >= 8);
	for (size_t i = 0; i < json_array_size(cases); i++) {
		const json_t *one = json_array_get(cases, i);
		uint8_t got[UM_BINDING_LEN], expected[UM_BINDING_LEN];

		um_binding_digest_of(got, keys,
			um_str(vector_text(one, "tenant")),
			um_str(vector_text(one, "subject")),
			um_str(vector_text(one, "session")));
		bytes_of_hex(expected, sizeof(expected),
			vector_text(one, "binding"));
		assert_memory_equal(got, expected, sizeof(got));
	}
	um_keys_free(keys);
	json_decref(all);
}

TEST(who_is_let_in)
{
	static const struct {
		const char *header;
		bool good;
	} cases[] = {
		{ "Bearer " KEY, true },
		{ "bearer " KEY, true },
		{ NULL, false },
		{ "", false },
		{ KEY, false },
		{ "Bearer", false },
		{ "Bearer ", false },
		{ "Bearer  " KEY, false },
		{ "Bearer " KEY " ", false },
		{ "Basic " KEY, false },
		{ "Bearer " KEY "E", false },
		{ "Bearer umk_AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQF",
			false },
		{ "Bearer " DIGEST, false },
	};
	struct um_api_keys *keys = load(
		"# who\n\n  one - " DIGEST "\r\ntwo shop " OTHER);

	for (size_t i = 0; i < LENGTH(cases); i++) {
		const struct um_api_key *key = um_api_keys_find(keys,
			cases[i].header);

		assert_row(cases[i].header, (key != NULL) == cases[i].good);
		if (key != NULL)
			assert_string_equal(key->tenant, "");
	}
	um_api_keys_free(keys);
}

TEST(no_file_and_an_empty_one_let_nobody_in)
{
	struct um_api_keys *keys;
	struct um_error err;

	assert_true(um_api_keys_load(&keys, "/nowhere/api-keys", &err));
	assert_null(um_api_keys_find(keys, "Bearer " KEY));
	um_api_keys_free(keys);
	keys = load("");
	assert_null(um_api_keys_find(keys, "Bearer " KEY));
	um_api_keys_free(keys);
}

static void
assert_refused(const char *text, const char *why)
{
	char *path = file_make(um_str(text), 0640);
	struct um_api_keys *keys;
	struct um_error err = { "" };

	row_begin("%s", text);
	assert_false(um_api_keys_load(&keys, path, &err));
	assert_null(keys);
	assert_true(strncmp(err.text, path, strlen(path)) == 0);
	if (strstr(err.text, why) == NULL)
		fail_msg("%s", err.text);
	file_remove(path);
}

TEST(files_that_are_refused)
{
	assert_refused("one\n", ":1: the tenant");
	assert_refused("one -\n", ":1: the third word");
	assert_refused("# a\none - abc\n", ":2: the third word");
	assert_refused("one - " DIGEST " more\n", "the third word");
	assert_refused("one Shop " DIGEST "\n", "the tenant");
	assert_refused("one a.b " DIGEST "\n", "the tenant");
	assert_refused("o\xc3\xa9 - " DIGEST "\n", ":1: the name");
	assert_refused("one - " DIGEST "\none - " OTHER "\n",
		":2: the name is there twice");
	assert_refused("one - " DIGEST "\ntwo - " DIGEST "\n",
		":2: the key is there twice");
}

TEST(tenants_that_are_refused)
{
	json_t *all = tenant_vectors();
	const json_t *tenants = json_object_get(all, "refused_tenants");

	for (size_t i = 0; i < json_array_size(tenants); i++) {
		const json_t *tenant = json_array_get(tenants, i);
		struct um_buf line = { 0 };
		char *path;
		struct um_api_keys *keys;
		struct um_error err;

		um_buf_puts(&line, "one ");
		um_buf_put(&line, json_string_value(tenant),
			json_string_length(tenant));
		um_buf_puts(&line, " " DIGEST "\n");
		path = file_make(um_buf_str(&line), 0640);
		assert_row(json_string_value(tenant),
			!um_api_keys_load(&keys, path, &err));
		file_remove(path);
		um_buf_free(&line);
	}
	json_decref(all);
}

TEST(a_file_that_everybody_may_write_is_refused)
{
	char *path = file_make(um_str("one - " DIGEST "\n"), 0646);
	struct um_api_keys *keys;
	struct um_error err;

	assert_false(um_api_keys_load(&keys, path, &err));
	file_remove(path);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_vectors_of_keys),
		cmocka_unit_test(the_vectors_of_bindings),
		cmocka_unit_test(who_is_let_in),
		cmocka_unit_test(no_file_and_an_empty_one_let_nobody_in),
		cmocka_unit_test(files_that_are_refused),
		cmocka_unit_test(tenants_that_are_refused),
		cmocka_unit_test(a_file_that_everybody_may_write_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
