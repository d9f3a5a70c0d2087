/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>
#include <threads.h>

#include "core/encode.h"
#include "crypto/seal.h"
#include "support.h"

#define KEYS                                                                   \
	"1 ERERERERERERERERERERERERERERERERERERERERERE\n"                      \
	"2 IiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiI\n"

static const uint8_t id[UM_UUID_LEN] = { 1, 2, 3 };
static const uint8_t binding[UM_BINDING_LEN] = { 4, 5, 6 };
static const uint8_t nonce[UM_NONCE_LEN] = { 7, 8, 9 };

static struct um_keys *keys;

static bool
opens(struct um_str sealed, const uint8_t *its_id, const uint8_t *its_binding)
{
	struct um_buf text = { 0 };
	bool opened = um_seal_open(&text, sealed, its_id, its_binding, keys);

	if (!opened)
		assert_int_equal(text.len, 0);
	um_buf_free(&text);
	return opened;
}

static void
seal(struct um_buf *out, struct um_str json)
{
	assert_true(um_seal_put(out, json, id, binding, keys, nonce));
	assert_int_equal(out->len, json.len + UM_SEAL_OVERHEAD);
}

/* One that names no owner is sealed for the elicitation alone. */
static void
check_vector(const json_t *vector, bool is_outcome)
{
	bool is_owned = json_object_get(vector, "subject") != NULL;
	const char *json = vector_text(vector, "json");
	const char *blob_hex = vector_text(vector, "blob_hex");
	size_t secret_len = strlen(vector_text(vector, "secret_hex")) / 2;
	size_t blob_len = strlen(blob_hex) / 2;
	uint8_t secret[UM_SECRET_MAX];
	uint8_t blob[512];
	uint8_t its_id[UM_UUID_LEN];
	uint8_t its_binding[UM_BINDING_LEN];
	uint8_t its_nonce[UM_NONCE_LEN];
	struct um_buf sealed = { 0 };
	struct um_buf text = { 0 };
	struct um_keys *its_keys;
	char *line;

	assert_true(blob_len <= sizeof(blob));
	bytes_of_hex(blob, blob_len, blob_hex);
	bytes_of_hex(secret, secret_len, vector_text(vector, "secret_hex"));
	bytes_of_hex(its_nonce, UM_NONCE_LEN, vector_text(vector, "nonce_hex"));
	bytes_of_uuid(its_id, vector_text(vector, "id"));
	memset(its_binding, 0xbb, sizeof(its_binding));
	if (is_owned)
		um_binding_digest(its_binding, keys,
			um_str(vector_text(vector, "subject")),
			um_str(vector_text(vector, "session")));
	line = keys_line((int)json_integer_value(
				 json_object_get(vector, "kid")),
		secret, secret_len);
	its_keys = keys_of(line);

	assert_true((is_outcome ? um_seal_put_outcome : um_seal_put)(&sealed,
		um_str(json), its_id, is_owned ? its_binding : NULL, its_keys,
		its_nonce));
	assert_int_equal(sealed.len, blob_len);
	assert_memory_equal(sealed.ptr, blob, blob_len);

	/* Nothing in C opens an outcome. */
	assert_int_equal(um_seal_open(&text,
				 (struct um_str){ (const char *)blob,
					 blob_len },
				 its_id, its_binding, its_keys),
		!is_outcome);
	if (!is_outcome)
		assert_str(um_buf_str(&text), json);
	um_buf_free(&sealed);
	um_buf_free(&text);
	um_keys_free(its_keys);
	free(line);
}

static void
check_vectors(const char *name, bool is_outcome)
{
	json_t *cases = vectors(name);

	for (size_t i = 0; i < json_array_size(cases); i++)
		check_vector(json_array_get(cases, i), is_outcome);
	json_decref(cases);
}

TEST(the_contracts_vectors)
{
	check_vectors("result", false);
	check_vectors("outcome", true);
	check_vectors("event_result", false);
	check_vectors("event_outcome", true);
}

/* What is for the page: bound to the owner, or to a browser. */
static void
check_page_vector(const json_t *vector)
{
	static const struct {
		const char *info;
		enum um_key_use use;
	} uses[] = {
		{ "urlmode form v1", UM_USE_FORM },
		{ "urlmode problem v1", UM_USE_PROBLEM },
		{ "urlmode typed v1", UM_USE_TYPED },
	};
	const char *info = vector_text(vector, "info");
	enum um_key_use use = UM_USES;
	const char *text = vector_text(vector, "text");
	const char *hex = vector_text(vector, "sealed_hex");
	const json_t *browser = json_object_get(vector, "browser_hex");
	struct um_keys *its_keys = keys_of_vector(vector);
	uint8_t its_id[UM_UUID_LEN], its_nonce[UM_NONCE_LEN], expected[512];
	uint8_t owner[UM_BINDING_LEN];
	struct um_buf sealed = { 0 }, opened = { 0 };
	size_t len = strlen(hex) / 2;

	row_begin("%s", info);
	for (size_t i = 0; i < LENGTH(uses); i++)
		if (strcmp(uses[i].info, info) == 0)
			use = uses[i].use;
	assert_int_not_equal(use, UM_USES);
	assert_true(len <= sizeof(expected));
	bytes_of_hex(expected, len, hex);
	bytes_of_uuid(its_id, vector_text(vector, "id"));
	bytes_of_hex(its_nonce, UM_NONCE_LEN, vector_text(vector, "nonce_hex"));
	bytes_of_hex(owner, sizeof(owner),
		browser != NULL ? json_string_value(browser)
				: vector_text(vector, "binding_hex"));
	assert_true(um_seal_put_for_page(&sealed, um_str(text), use, its_id,
		owner, its_keys, its_nonce));
	assert_int_equal(sealed.len, len);
	assert_memory_equal(sealed.ptr, expected, len);
	assert_true(um_seal_open_for_page(&opened, um_buf_str(&sealed), use,
		its_id, owner, its_keys));
	assert_str(um_buf_str(&opened), text);
	owner[0] ^= 1;
	assert_false(um_seal_open_for_page(&opened, um_buf_str(&sealed), use,
		its_id, owner, its_keys));
	owner[0] ^= 1;
	assert_false(um_seal_open_for_page(&opened, um_buf_str(&sealed),
		UM_USE_OUTCOME, its_id, owner, its_keys));
	um_buf_free(&sealed);
	um_buf_free(&opened);
	um_keys_free(its_keys);
}

TEST(the_vectors_of_what_is_for_the_page)
{
	json_t *cases = form_vectors("seals");

	assert_int_equal(json_array_size(cases), 3);
	for (size_t i = 0; i < json_array_size(cases); i++)
		check_page_vector(json_array_get(cases, i));
	json_decref(cases);
}

TEST(every_length_goes_there_and_back)
{
	char json[300];

	for (size_t i = 0; i < sizeof(json); i++)
		json[i] = (char)i;
	for (size_t len = 0; len < sizeof(json); len++) {
		struct um_buf sealed = { 0 };
		struct um_buf text = { 0 };

		seal(&sealed, (struct um_str){ json, len });
		assert_true(um_seal_open(&text, um_buf_str(&sealed), id,
			binding, keys));
		assert_int_equal(text.len, len);
		if (len != 0)
			assert_memory_equal(text.ptr, json, len);
		um_buf_free(&sealed);
		um_buf_free(&text);
	}
}

static void
assert_no_bit_may_flip(struct um_buf *sealed)
{
	for (size_t bit = 0; bit < 8 * sealed->len; bit++) {
		char *byte = &sealed->ptr[bit / 8];

		*byte = (char)(*byte ^ 1 << bit % 8);
		assert_false(opens(um_buf_str(sealed), id, binding));
		*byte = (char)(*byte ^ 1 << bit % 8);
	}
}

TEST(no_bit_of_it_flipped)
{
	struct um_buf sealed = { 0 };

	seal(&sealed, STR("{\"code\":\"x\"}"));
	assert_true(opens(um_buf_str(&sealed), id, binding));
	assert_no_bit_may_flip(&sealed);
	um_buf_free(&sealed);
}

TEST(not_a_byte_more_or_less)
{
	struct um_buf sealed = { 0 };

	seal(&sealed, STR("{}"));
	for (size_t len = 0; len < sealed.len; len++)
		assert_false(
			opens((struct um_str){ sealed.ptr, len }, id, binding));
	um_buf_put(&sealed, "", 1);
	assert_false(opens(um_buf_str(&sealed), id, binding));
	um_buf_free(&sealed);
	assert_false(opens(um_str(NULL), id, binding));
}

TEST(for_one_elicitation_and_one_owner)
{
	struct um_buf sealed = { 0 };
	uint8_t other[UM_UUID_LEN];

	seal(&sealed, STR("{}"));
	memcpy(other, id, sizeof(other));
	other[15] ^= 1;
	assert_false(opens(um_buf_str(&sealed), other, binding));
	memcpy(other, binding, sizeof(other));
	other[15] ^= 1;
	assert_false(opens(um_buf_str(&sealed), id, other));
	assert_false(opens(um_buf_str(&sealed), binding, id));
	um_buf_free(&sealed);
}

/* What is sealed for an event opens for its elicitation, whoever owns that; and
 * neither version passes for the other. */
TEST(for_one_elicitation_and_any_owner)
{
	struct um_buf sealed = { 0 };
	uint8_t other[UM_UUID_LEN];

	assert_true(um_seal_put(&sealed, STR("{}"), id, NULL, keys, nonce));
	assert_true(opens(um_buf_str(&sealed), id, binding));
	memcpy(other, id, sizeof(other));
	other[15] ^= 1;
	assert_true(opens(um_buf_str(&sealed), id, other));
	assert_false(opens(um_buf_str(&sealed), other, binding));
	assert_no_bit_may_flip(&sealed);
	sealed.ptr[0] = 1;
	assert_false(opens(um_buf_str(&sealed), id, binding));
	um_buf_clear(&sealed);
	seal(&sealed, STR("{}"));
	sealed.ptr[0] = 2;
	assert_false(opens(um_buf_str(&sealed), id, binding));
	um_buf_free(&sealed);
}

TEST(it_is_appended_to_what_is_there)
{
	struct um_buf out = { 0 };
	struct um_buf text = { 0 };

	um_buf_puts(&out, "before");
	assert_true(um_seal_put(&out, STR("{}"), id, binding, keys, nonce));
	um_buf_puts(&text, "text ");
	assert_true(
		um_seal_open(&text, (struct um_str){ out.ptr + 6, out.len - 6 },
			id, binding, keys));
	assert_str(um_buf_str(&text), "text {}");
	um_buf_free(&out);
	um_buf_free(&text);
}

static int
set_up(void **state)
{
	(void)state;
	keys = keys_of(KEYS);
	return 0;
}

struct worker {
	struct um_keys *keys;
	uint8_t id[UM_UUID_LEN];
};

/* Returns how often sealing and opening went wrong. */
static int
seal_and_open(void *arg)
{
	const struct worker *worker = arg;
	int wrong = 0;

	for (int i = 0; i < 300; i++) {
		struct um_buf sealed = { 0 };
		struct um_buf text = { 0 };

		wrong += !um_seal_put(&sealed, STR("{}"), worker->id, binding,
				 worker->keys, nonce)
			|| !um_seal_open(&text, um_buf_str(&sealed), worker->id,
				binding, worker->keys);
		um_buf_free(&text);
		um_buf_free(&sealed);
	}
	return wrong;
}

/* Nothing is shared behind the keys that each thread has loaded. */
TEST(threads_with_keys_of_their_own_do_not_disturb_each_other)
{
	struct worker workers[4];
	thrd_t threads[LENGTH(workers)];
	int wrong;

	for (size_t i = 0; i < LENGTH(workers); i++) {
		workers[i] = (struct worker){ keys_of(KEYS),
			{ (uint8_t)(i + 1) } };
		assert_int_equal(thrd_create(&threads[i], seal_and_open,
					 &workers[i]),
			thrd_success);
	}
	for (size_t i = 0; i < LENGTH(workers); i++) {
		assert_int_equal(thrd_join(threads[i], &wrong), thrd_success);
		assert_int_equal(wrong, 0);
		um_keys_free(workers[i].keys);
	}
}

static int
tear_down(void **state)
{
	(void)state;
	um_keys_free(keys);
	return 0;
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_contracts_vectors),
		cmocka_unit_test(the_vectors_of_what_is_for_the_page),
		cmocka_unit_test(every_length_goes_there_and_back),
		cmocka_unit_test(no_bit_of_it_flipped),
		cmocka_unit_test(not_a_byte_more_or_less),
		cmocka_unit_test(for_one_elicitation_and_one_owner),
		cmocka_unit_test(for_one_elicitation_and_any_owner),
		cmocka_unit_test(it_is_appended_to_what_is_there),
		cmocka_unit_test(
			threads_with_keys_of_their_own_do_not_disturb_each_other),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
