/* SPDX-License-Identifier: MIT */
/* Descriptions with several schemes, or with a signature for each event. */
#include <stdlib.h>
#include <string.h>

#include <openssl/evp.h>

#include "core/hex.h"
#include "support.h"
#include "webhook/spec.h"

#define HMAC(prefix, signature, parts)                                         \
	"{\"algorithm\": \"hmac-sha256\","                                     \
	" \"key\": {\"as\": \"utf8\", \"prefix\": \"" prefix "\"},"            \
	" \"signature\": {\"from\": " signature ", \"as\": \"hex\"},"          \
	" \"signed\": [" parts "]}"

struct headers {
	const char *id;
	char signature[65];
};

static const char *
header(const char *name, void *arg)
{
	const struct headers *headers = arg;

	if (strcmp(name, "x-signature") == 0)
		return headers->signature;
	return strcmp(name, "x-id") == 0 ? headers->id : NULL;
}

static struct um_spec *
describe(const char *text)
{
	static const char *const secrets[] = { "a_first", "b_second" };
	const struct um_provider_env env = { .secrets = secrets,
		.secrets_len = 2 };
	char *path = file_make(um_str(text), 0600);
	struct um_spec *spec;
	struct um_error err;

	if (!um_spec_load(&spec, path, &env, &err))
		fail_msg("%s", err.text);
	file_remove(path);
	return spec;
}

static void
sign(const char *key, const char *text, char hex[static 65])
{
	uint8_t mac[32];
	size_t len;

	assert_non_null(EVP_Q_mac(NULL, "HMAC", NULL, "SHA256", NULL, key,
		strlen(key), (const uint8_t *)text, strlen(text), mac,
		sizeof(mac), &len));
	um_hex_encode(hex, mac, len);
}

static enum um_effect
read_effect(const struct um_spec *spec, struct headers *headers,
	const char *body)
{
	const struct um_delivery delivery = { .body = um_str(body),
		.header = header,
		.arg = headers };
	struct um_event events[UM_EVENTS_MAX];
	size_t len;

	assert_int_equal(um_spec_read(spec, &delivery, events, &len),
		UM_DELIVERY_GOOD);
	assert_int_equal(len, 1);
	return events[0].effect;
}

/*
 * The first scheme finds a full stop in the id, and would have to ask the
 * provider. It is the second that verifies, where the id does not matter.
 */
TEST(what_a_scheme_that_did_not_match_found_does_not_count)
{
	static const char body[] = "{\"type\": \"paid\"}";
	struct um_spec *spec = describe(
		"{\"name\": \"n\", \"documentation\": \"d\", "
		"\"verify\": [" HMAC("a_", "{\"header\": \"x-signature\"}",
			"{\"header\": \"x-id\"}, \".\", {\"body\": "
			"\"raw\"}") ", " HMAC("b_",
			"{\"header\": \"x-signature\"}",
			"{\"body\": \"raw\"}") "], \"believed\": "
					       "\"body\", \"type\": "
					       "{\"json\": \"/type\"},"
					       " \"outcomes\": "
					       "[{\"type\": \"paid\", "
					       "\"means\": "
					       "\"paid\"}]}");
	struct headers headers = { .id = "1.2" };

	sign("second", body, headers.signature);
	assert_int_equal(read_effect(spec, &headers, body), UM_EFFECT_PAID);

	sign("first", "1.2.{\"type\": \"paid\"}", headers.signature);
	assert_int_equal(read_effect(spec, &headers, body), UM_EFFECT_RECHECK);
	headers.id = "12";
	sign("first", "12.{\"type\": \"paid\"}", headers.signature);
	assert_int_equal(read_effect(spec, &headers, body), UM_EFFECT_PAID);
	um_spec_free(spec);
}

/* Each event is signed by itself; only the first could be cut otherwise. */
TEST(one_ambiguous_event_does_not_affect_the_next)
{
	struct um_spec *spec = describe(
		"{\"name\": \"n\", \"documentation\": \"d\", \"verify\": "
		"[" HMAC("a_", "{\"item\": \"/signature\"}",
			"{\"join\": [{\"item\": \"/id\"}, {\"item\": "
			"\"/type\"}],"
			" \"with\": \":\"}") ", " HMAC("b_",
			"{\"item\": \"/other\"}",
			"{\"join\": [{\"item\": \"/id\"}, {\"item\": "
			"\"/type\"}],"
			" \"with\": \":\"}") "], \"believed\": \"fields\", "
					     "\"events\": \"/events\","
					     " \"type\": {\"item\": \"/type\"},"
					     " \"outcomes\": [{\"type\": "
					     "\"paid\", \"means\": "
					     "\"paid\"}]}");
	struct um_event events[UM_EVENTS_MAX];
	struct headers headers = { 0 };
	char first[65], second[65];
	struct um_buf body = { 0 };
	struct um_delivery delivery = { .header = header, .arg = &headers };
	size_t len;

	sign("first", "1:2:paid", first);
	sign("first", "12:paid", second);
	um_buf_printf(&body,
		"{\"events\": ["
		"{\"id\": \"1:2\", \"type\": \"paid\", \"signature\": \"%s\"},"
		"{\"id\": \"12\", \"type\": \"paid\", \"signature\": \"%s\"}]}",
		first, second);
	delivery.body = um_buf_str(&body);
	assert_int_equal(um_spec_read(spec, &delivery, events, &len),
		UM_DELIVERY_GOOD);
	assert_int_equal(len, 2);
	assert_int_equal(events[0].effect, UM_EFFECT_RECHECK);
	assert_int_equal(events[1].effect, UM_EFFECT_PAID);
	um_buf_free(&body);
	um_spec_free(spec);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			what_a_scheme_that_did_not_match_found_does_not_count),
		cmocka_unit_test(one_ambiguous_event_does_not_affect_the_next),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
