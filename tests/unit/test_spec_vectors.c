/* SPDX-License-Identifier: MIT */
/* Known deliveries with known signatures: tests/vectors/webhooks.json. */
#include <string.h>
#include <strings.h>

#include "description/spec_load.h"
#include "support.h"

#define VECTORS_FILE "tests/vectors/webhooks.json"

/* What the file does not say: which description, when, and what comes of it. */
static const struct expected {
	const char *name;
	const char *description;
	int64_t now_ms;
	enum um_verdict verdict;
} all_expected[] = {
	{ "Standard Webhooks v1", "lib/providers/standard-webhooks.json",
		1614265330000, UM_DELIVERY_GOOD },
	{ "Standard Webhooks v1a", "lib/providers/standard-webhooks.json",
		1614265330000, UM_DELIVERY_GOOD },
	{ "Stripe", "lib/providers/stripe.json", 1700000000000,
		UM_DELIVERY_GOOD },
	{ "GitHub", "lib/providers/github.json", 0, UM_DELIVERY_GOOD },
	/* Rightly signed, and no JSON. */
	{ "GitHub, the documentation's example", "lib/providers/github.json", 0,
		UM_DELIVERY_MALFORMED },
	{ "Square", "lib/providers/square.json", 0, UM_DELIVERY_GOOD },
	{ "Adyen", "lib/providers/adyen.json", 0, UM_DELIVERY_GOOD },
};

static const char *
text_of(const json_t *vector, const char *key)
{
	return json_string_value(json_object_get(vector, key));
}

static const char *
constant(const char *name, size_t index, void *arg)
{
	return index == 0 ? text_of(arg, name) : NULL;
}

static const char *
header(const char *name, void *arg)
{
	const char *key;
	json_t *value;

	json_object_foreach ((json_t *)arg, key, value) {
		if (strcasecmp(key, name) == 0)
			return json_string_value(value);
	}
	return NULL;
}

/* Adyen's vector has what is signed, not the body that it stands in. */
static void
put_body(const json_t *vector, struct um_buf *body)
{
	if (text_of(vector, "body") != NULL)
		um_buf_puts(body, text_of(vector, "body"));
	else
		um_buf_printf(body,
			"{\"notificationItems\": [{\"NotificationRequestItem\":"
			" {\"additionalData\": {\"hmacSignature\": \"%s\"},"
			" \"pspReference\": \"pspReference\","
			" \"originalReference\": \"originalReference\","
			" \"merchantAccountCode\": \"merchantAccount\","
			" \"merchantReference\": \"reference\","
			" \"amount\": {\"value\": 1000, \"currency\": \"EUR\"},"
			" \"eventCode\": \"EVENT\", \"success\": \"true\"}}]}",
			text_of(vector, "signature"));
}

static enum um_verdict
read_vector(const json_t *vector, const struct expected *expected,
	const char *secret, struct um_str body)
{
	const struct um_provider_env env = { .secrets = &secret,
		.secrets_len = 1,
		.constant = constant,
		.arg = (void *)vector };
	const struct um_delivery delivery = { .body = body,
		.header = header,
		.arg = json_object_get(vector, "headers"),
		.now_ms = expected->now_ms };
	struct um_event events[UM_EVENTS_MAX];
	struct um_spec *spec;
	enum um_verdict verdict;
	struct um_error err;
	size_t len;

	if (!um_spec_load(&spec, expected->description, &env, &err))
		fail_msg("%s", err.text);
	verdict = um_spec_read(&spec->webhook, &delivery, events, &len);
	assert_int_equal(len, verdict == UM_DELIVERY_GOOD);
	um_spec_free(spec);
	return verdict;
}

static void
try_vector(const json_t *vector, const struct expected *expected)
{
	static const char *const keys[] = { "secret", "public_key", "key_hex" };
	const char *secret = NULL;
	struct um_buf body = { 0 };

	for (size_t i = 0; secret == NULL && i < LENGTH(keys); i++)
		secret = text_of(vector, keys[i]);
	assert_non_null(secret);
	put_body(vector, &body);
	assert_int_equal(read_vector(vector, expected, secret,
				 um_buf_str(&body)),
		expected->verdict);

	/* One character of the body. */
	body.ptr[body.len - 8] = (char)(body.ptr[body.len - 8] ^ 1);
	assert_int_not_equal(read_vector(vector, expected, secret,
				     um_buf_str(&body)),
		expected->verdict);
	um_buf_free(&body);
}

TEST(each_vector)
{
	json_t *vectors_of = json_load_file(VECTORS_FILE, 0, NULL);

	assert_non_null(vectors_of);
	assert_int_equal(json_array_size(vectors_of), LENGTH(all_expected));
	for (size_t i = 0; i < LENGTH(all_expected); i++) {
		const json_t *vector = json_array_get(vectors_of, i);

		row_begin("%s", all_expected[i].name);
		assert_string_equal(text_of(vector, "name"),
			all_expected[i].name);
		try_vector(vector, &all_expected[i]);
	}
	json_decref(vectors_of);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_vector),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
