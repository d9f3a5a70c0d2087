/* SPDX-License-Identifier: MIT */
/*
 * What a call asks for, as its digest has it: by it calls of the api and of the
 * packages go on with each other's elicitations.
 */
#include "api/create_request.h"

#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "config/config.h"
#include "contract/limits.h"
#include "support.h"

static struct um_keys *keys;

static int
open_keys(void **state)
{
	struct um_error err;

	(void)state;
	return um_keys_parse(&keys,
		       "1 AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", "keys",
		       &err)
		? 0
		: -1;
}

static int
close_keys(void **state)
{
	(void)state;
	um_keys_free(keys);
	return 0;
}

static void
random_bytes(void *out, size_t len)
{
	memset(out, 1, len);
}

/* Moves a member to another object, where it may have another name. */
static void
move_member(json_t *from, const char *name, json_t *to, const char *as)
{
	json_t *value = json_object_get(from, name);

	if (value == NULL)
		return;
	json_object_set(to, as, value);
	json_object_del(from, name);
}

/*
 * The body of a call that asks for this. NULL: no call of the api can, because it
 * names no item, or its form has no title.
 */
static json_t *
body_of(const json_t *request)
{
	json_t *body = json_deep_copy(request);
	json_t *about = json_object_get(body, "about");
	const char *kind = json_string_value(json_object_get(body, "kind"));
	bool is_form = strcmp(kind, "input") == 0
		|| strcmp(kind, "approval") == 0;
	bool can = is_form
		? json_object_get(json_object_get(about, "form"), "title")
			!= NULL
		: strcmp(kind, "oauth") == 0
			|| json_object_get(body, "item") != NULL;

	if (!can) {
		json_decref(body);
		return NULL;
	}
	json_object_set_new(body, "subject", json_string("ada"));
	if (strcmp(kind, "payment") == 0)
		json_object_set_new(body, "expected",
			json_pack("{s:i, s:s}", "amount", 1050, "currency",
				"EUR"));
	move_member(body, "mcp_client", body, "client_id");
	if (json_object_get(body, "client_id") != NULL)
		json_object_set_new(body, "same_client", json_true());
	if (is_form) {
		move_member(about, "form", body, "form");
		move_member(about, "approver", body, "approver");
		move_member(about, "four_eyes", body, "four_eyes");
		if (json_object_get(about, "verify") != NULL)
			json_object_set_new(body, "verify_ms",
				json_integer(5000));
		json_object_del(body, "about");
	}
	return body;
}

TEST(the_digest_of_a_request_is_that_of_the_vectors)
{
	static const struct um_config config;
	const struct um_context context = { .keys = keys,
		.config = &config,
		.random = random_bytes };
	json_t *all = json_load_file("tests/vectors/request.json", 0, NULL);
	const json_t *cases = json_object_get(all, "cases");
	size_t compared = 0;

	for (size_t i = 0; i < json_array_size(cases); i++) {
		const json_t *one = json_array_get(cases, i);
		json_t *body = body_of(json_object_get(one, "request"));
		struct um_create_request create = { .has_id = false };
		struct um_exchange ex = { .refusal = UM_REFUSAL_NONE };
		struct um_api_request request = { .ex = &ex };
		uint8_t expected[UM_DIGEST_LEN];
		char *text;

		if (body == NULL)
			continue;
		text = json_dumps(body, 0);
		row_begin("%s", text);
		request.json = um_json_parse_with_nul(um_str(text),
			UM_JSON_VALUES_MAX, NULL);
		request.root = um_reader_root(request.json, &request.fault);
		um_create_request_read(&create, &request, &context);
		assert_string_equal(request.fault.message, "");
		bytes_of_hex(expected, sizeof(expected),
			vector_text(one, "digest"));
		assert_memory_equal(create.request, expected, sizeof(expected));
		compared++;
		um_create_request_free(&create);
		free(request.json);
		free(text);
		json_decref(body);
	}
	/* All but three of before items, and one of a form that is none. */
	assert_int_equal(compared, json_array_size(cases) - 4);
	json_decref(all);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			the_digest_of_a_request_is_that_of_the_vectors),
	};

	return cmocka_run_group_tests(tests, open_keys, close_keys);
}
