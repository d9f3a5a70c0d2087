/* SPDX-License-Identifier: MIT */
/* The examples of the documents of lib/providers are what they say they are. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/config.h"
#include "description.h"

#define README "lib/providers/README.md"
#define VALUES "lib/providers/VALUES.md"
#define EVENTS "lib/providers/EVENTS.md"
#define ACCOUNTS "lib/providers/ACCOUNTS.md"
#define FENCE "\n```json\n"
#define ID "7a1f0c52-3b9d-4c8e-9f21-5d6e7f8091a2"
#define NOW 1700000000

/* The JSON of one block of a document; the caller's to free. */
static char *
block(const char *document, size_t number)
{
	FILE *f = fopen(document, "re");
	static char text[65536];
	const char *at = text, *end;
	size_t len;

	if (f == NULL) {
		fail_msg("no %s", document);
		return NULL;
	}
	len = fread(text, 1, sizeof(text) - 1, f);
	fclose(f);
	text[len] = '\0';
	for (size_t i = 0; i <= number; i++) {
		at = strstr(at, FENCE);
		assert_non_null(at);
		at += strlen(FENCE);
	}
	end = strstr(at, "\n```\n");
	assert_non_null(end);
	return strndup(at, (size_t)(end - at));
}

static const char *
header(const char *name, void *arg)
{
	return strcmp(name, "example-signature") == 0 ? arg : NULL;
}

TEST(the_example)
{
	static const char body[] =
		"{\"id\": \"evt_1\", \"live\": true,"
		" \"event\": \"charge.succeeded\","
		" \"charge\": {\"id\": \"ch_1\", \"reference\": \"" ID "\","
		" \"status\": \"captured\", \"amount\": \"10.50\","
		" \"currency\": \"EUR\"}}";
	char message[512], hex[65], signature[128];
	struct um_delivery delivery = { .body = STR(body),
		.header = header,
		.arg = signature,
		.now_ms = INT64_C(1000) * NOW };
	char *text = block(README, 0);
	struct um_spec *spec = describe(text);
	struct um_event events[UM_EVENTS_MAX];
	size_t len;

	snprintf(message, sizeof(message), "%d.%s", NOW, body);
	hmac_hex(hex, SECRET, um_str(message));
	snprintf(signature, sizeof(signature), "t=%d,v1=%s", NOW, hex);
	assert_int_equal(um_spec_read(&spec->webhook, &delivery, events, &len),
		UM_DELIVERY_GOOD);
	assert_int_equal(len, 1);
	assert_int_equal(events[0].effect, UM_EFFECT_PAID);
	assert_string_equal(events[0].identity, "evt_1");
	assert_string_equal(events[0].reference, "ch_1");
	assert_true(events[0].has_id && events[0].has_amount);
	assert_int_equal(events[0].amount, 1050);
	assert_string_equal(events[0].currency, "EUR");
	assert_string_equal(spec->answer.body, "OK");
	delivery.now_ms += 301000;
	assert_int_equal(um_spec_read(&spec->webhook, &delivery, events, &len),
		UM_DELIVERY_STALE);
	um_spec_free(spec);
	free(text);
}

/* The example with the members of this block. */
TEST(the_mode_and_the_account)
{
	char *whole = block(README, 0), *origin = block(EVENTS, 0);
	json_t *root = json_loads(whole, 0, NULL);
	json_t *members = json_loads(origin, 0, NULL);
	struct um_spec *spec;
	char *text;

	assert_non_null(root);
	assert_int_equal(json_object_size(members), 2);
	assert_int_equal(json_object_update(root, members), 0);
	text = json_dumps(root, 0);
	spec = describe(text);
	um_spec_free(spec);
	free(text);
	json_decref(members);
	json_decref(root);
	free(origin);
	free(whole);
}

TEST(the_challenge_in_the_example)
{
	char *whole = block(README, 0), *challenge = block(VALUES, 1);
	json_t *root = json_loads(whole, 0, NULL);
	static const char body[] = "{\"event\":\"endpoint.url_validation\","
				   "\"payload\":{\"plainToken\":\"abc\"}}";
	char message[512], hex[65], signature[128], expected[160], *text;
	struct um_reply reply = { 0 };
	struct um_delivery delivery = { .body = STR(body),
		.header = header,
		.arg = signature,
		.now_ms = INT64_C(1000) * NOW,
		.reply = &reply };
	struct um_spec *spec;
	struct um_event event;
	size_t len;

	assert_non_null(root);
	json_object_set_new(root, "challenge", json_loads(challenge, 0, NULL));
	text = json_dumps(root, 0);
	spec = describe(text);
	snprintf(message, sizeof(message), "%d.%s", NOW, body);
	hmac_hex(hex, SECRET, um_str(message));
	snprintf(signature, sizeof(signature), "t=%d,v1=%s", NOW, hex);
	assert_int_equal(um_spec_read(&spec->webhook, &delivery, &event, &len),
		UM_DELIVERY_GOOD);
	hmac_hex(hex, SECRET, STR("abc"));
	snprintf(expected, sizeof(expected),
		"{\"plainToken\":\"abc\",\"encryptedToken\":\"%s\"}", hex);
	assert_str(um_buf_str(&reply.body), expected);
	um_buf_free(&reply.body);
	um_spec_free(spec);
	free(text);
	free(whole);
	free(challenge);
	json_decref(root);
}

TEST(the_return_in_the_example)
{
	char *whole = block(README, 0), *back = block(EVENTS, 1);
	json_t *root = json_loads(whole, 0, NULL);
	char hex[65], query[256], *text;
	const struct um_delivery delivery = { .query = { query, 0 },
		.header = header };
	struct um_delivery sent = delivery;
	struct um_spec *spec;
	struct um_event event;
	size_t len;

	assert_non_null(root);
	json_object_set_new(root, "return", json_loads(back, 0, NULL));
	text = json_dumps(root, 0);
	spec = describe(text);
	hmac_hex(hex, SECRET, STR(ID "|paid|pay_1"));
	snprintf(query, sizeof(query),
		"order=" ID "&status=paid&payment=pay_1&signature=%s", hex);
	sent.query = um_str(query);
	assert_int_equal(um_spec_read(&spec->back, &sent, &event, &len),
		UM_DELIVERY_GOOD);
	assert_int_equal(event.effect, UM_EFFECT_PAID);
	assert_true(event.has_id);
	assert_string_equal(event.reference, "pay_1");
	um_spec_free(spec);
	free(text);
	free(whole);
	free(back);
	json_decref(root);
}

/* The example with an account beside its webhook. */
TEST(the_account_in_the_example)
{
	char *whole = block(README, 0), *account = block(ACCOUNTS, 0), *text;
	json_t *root = json_loads(whole, 0, NULL);
	json_t *other = json_loads(account, 0, NULL);
	struct um_spec *spec;

	assert_non_null(root);
	assert_non_null(json_object_get(other, "oauth"));
	json_object_set(root, "oauth", json_object_get(other, "oauth"));
	text = json_dumps(root, 0);
	spec = describe(text);
	assert_true(spec->has_webhook);
	assert_null(spec->issuer);
	assert_false(spec->sends_iss);
	um_spec_free(spec);
	free(text);
	free(whole);
	free(account);
	json_decref(root);
	json_decref(other);
}

TEST(the_configuration)
{
	char *text = block(README, 1);
	char *path = file_make(um_str(text), 0600);
	struct um_config *config;
	struct um_error err;

	if (!um_config_load(&config, path, &err))
		fail_msg("%s", err.text);
	assert_int_equal(config->providers_len, 4);
	for (size_t i = 0; i < config->providers_len; i++)
		assert_non_null(config->providers[i].spec);
	um_config_free(config);
	file_remove(path);
	free(text);
}

/* A block that nobody loads could say anything. */
TEST(every_block_is_tried)
{
	static const struct {
		const char *document;
		int blocks;
	} rows[] = { { README, 2 }, { VALUES, 2 }, { EVENTS, 2 },
		{ ACCOUNTS, 1 }, { "lib/providers/NEW.md", 0 },
		{ "lib/providers/SHIPPED.md", 0 } };

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		FILE *f = fopen(rows[i].document, "re");
		char line[2048];
		int fences = 0;

		row_begin("%s", rows[i].document);
		assert_non_null(f);
		while (f != NULL && fgets(line, sizeof(line), f) != NULL)
			fences += strcmp(line, "```json\n") == 0;
		if (f != NULL)
			fclose(f);
		assert_int_equal(fences, rows[i].blocks);
	}
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_example),
		cmocka_unit_test(the_mode_and_the_account),
		cmocka_unit_test(the_challenge_in_the_example),
		cmocka_unit_test(the_return_in_the_example),
		cmocka_unit_test(the_account_in_the_example),
		cmocka_unit_test(the_configuration),
		cmocka_unit_test(every_block_is_tried),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
