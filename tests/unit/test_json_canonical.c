/* SPDX-License-Identifier: MIT */
/* RFC 8785: the vectors, which the packages read too. */
#include "core/json_canonical.h"

#include <stdlib.h>
#include <string.h>

#include "contract/seals.h"
#include "crypto/binding.h"
#include "support.h"

static struct um_keys *keys;

/* A document as jansson writes it, in another order than ours. */
static struct um_json_node *
parse(const json_t *value)
{
	char *text = json_dumps(value, JSON_ENSURE_ASCII);
	struct um_json_node *root = um_json_parse_with_nul(um_str(text), 1000,
		NULL);

	free(text);
	return root;
}

static json_t *
load(void)
{
	json_t *vectors_of = json_load_file("tests/vectors/canonical.json",
		JSON_ALLOW_NUL, NULL);

	assert_non_null(vectors_of);
	return vectors_of;
}

TEST(the_vectors)
{
	json_t *all = load();
	const json_t *cases = json_object_get(all, "cases");

	assert_true(json_array_size(cases) >= 15);
	for (size_t i = 0; i < json_array_size(cases); i++) {
		const json_t *one = json_array_get(cases, i);
		const char *text = vector_text(one, "text");
		struct um_json_node *root = parse(
			json_object_get(one, "value"));
		struct um_buf out = { 0 };
		uint8_t digest[UM_DIGEST_LEN], expected[UM_DIGEST_LEN];

		row_begin("%s", text);
		assert_non_null(root);
		um_json_canonical(&out, root);
		assert_str(um_buf_str(&out), text);
		um_digest_of(digest, keys, UM_REQUEST_LABEL, um_buf_str(&out));
		bytes_of_hex(expected, sizeof(expected),
			vector_text(one, "request"));
		assert_memory_equal(digest, expected, sizeof(digest));
		um_buf_free(&out);
		free(root);
	}
	json_decref(all);
}

TEST(half_a_surrogate_pair_is_refused)
{
	json_t *all = load();
	const json_t *texts = json_object_get(all, "refused");

	for (size_t i = 0; i < json_array_size(texts); i++) {
		struct um_buf text = { 0 };

		um_buf_cat(&text, "[",
			json_string_value(json_array_get(texts, i)), "]");
		assert_row(text.ptr,
			um_json_parse_with_nul(um_buf_str(&text), 100, NULL)
				== NULL);
		um_buf_free(&text);
	}
	json_decref(all);
}

/* RFC 8785 appendix B, and what is near a power of ten. */
TEST(numbers_as_ecmascript_writes_them)
{
	static const struct {
		const char *json, *text;
	} cases[] = {
		{ "[-0]", "[0]" },
		{ "[-0.0]", "[0]" },
		{ "[-5e-324]", "[-5e-324]" },
		{ "[1.7976931348623157e308]", "[1.7976931348623157e+308]" },
		{ "[9007199254740992]", "[9007199254740992]" },
		{ "[9007199254740993]", "[9007199254740992]" },
		{ "[295147905179352830000.0]", "[295147905179352830000]" },
		{ "[1e20]", "[100000000000000000000]" },
		{ "[999999999999999900000.0]", "[999999999999999900000]" },
		{ "[0.000001]", "[0.000001]" },
		{ "[0.0000001]", "[1e-7]" },
		{ "[-1.5]", "[-1.5]" },
		{ "[100]", "[100]" },
		{ "[1E2]", "[100]" },
		{ "[123456789012345680000.0]", "[123456789012345680000]" },
		{ "[10.50]", "[10.5]" },
		{ "[0.30000000000000004]", "[0.30000000000000004]" },
		{ "[0.3333333333333333]", "[0.3333333333333333]" },
		{ "[2.2250738585072014e-308]", "[2.2250738585072014e-308]" },
		{ "[2.2250738585072e-310]", "[2.2250738585072e-310]" },
	};

	for (size_t i = 0; i < LENGTH(cases); i++) {
		struct um_json_node *root = um_json_parse(um_str(cases[i].json),
			10, NULL);
		struct um_buf out = { 0 };

		row_begin("%s", cases[i].json);
		assert_non_null(root);
		um_json_canonical(&out, root);
		assert_str(um_buf_str(&out), cases[i].text);
		um_buf_free(&out);
		free(root);
	}
}

TEST(members_are_left_out)
{
	static const char *const names[] = { "id", "traceparent", NULL };
	struct um_json_node *root = um_json_parse(
		um_str("{\"traceparent\":1,\"b\":{\"id\":2},\"a\":3,\"id\":4}"),
		20, NULL);
	struct um_buf out = { 0 };

	um_json_canonical_without(&out, root, names);
	assert_str(um_buf_str(&out), "{\"a\":3,\"b\":{\"id\":2}}");
	um_buf_free(&out);
	free(root);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_vectors),
		cmocka_unit_test(half_a_surrogate_pair_is_refused),
		cmocka_unit_test(numbers_as_ecmascript_writes_them),
		cmocka_unit_test(members_are_left_out),
	};
	int failed;

	keys = keys_of("1 "
		       "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\n");
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	um_keys_free(keys);
	return failed;
}
