/* SPDX-License-Identifier: MIT */
#include <dlfcn.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "crypto/seal.h"
#include "program_case.h"
#include "server/log.h"
#include "signing.h"

#define main program_main
#include "../../cgi-bin/webhook.c" // NOLINT(bugprone-suspicious-include)
#include "description/spec_load.h"
#undef main

#define HOOK "/webhook/shop"
#define SIGNING_SECRET "whk-" SECRET
#define OTHER_ID "00000000-0000-4000-8000-000000000000"
#define THIRD_ID "00000000-0000-4000-8000-000000000003"

/* Of a provider that sends several events at once. */
static const char description[] =
	"{\"name\": \"Unit\", \"documentation\": \"https://unit.example/\","
	" \"verify\": [{\"algorithm\": \"hmac-sha256\","
	"  \"key\": {\"as\": \"utf8\"},"
	"  \"signature\": {\"from\": {\"header\": \"x-signature\"},"
	"   \"as\": \"hex\"},"
	"  \"signed\": [{\"header\": \"x-time\"}, \".\","
	"   {\"body\": \"raw\"}]}],"
	" \"timestamp\": {\"from\": {\"header\": \"x-time\"}, \"as\": \"unix\","
	"  \"past\": 300, \"future\": 60},"
	" \"events\": \"/events\", \"trust\": \"body\","
	" \"identity\": {\"item\": \"/id\"},"
	" \"type\": {\"item\": \"/type\"},"
	" \"elicitation\": {\"item\": \"/for\"},"
	" \"outcomes\": [{\"type\": \"paid\", \"effect\": \"paid\"}]}";

#define EVENT(id, type, of)                                                    \
	"{\"id\":\"" id "\",\"type\":\"" type "\",\"for\":\"" of "\"}"
#define PAID "{\"events\":[" EVENT("ev_1", "paid", CASE_ID) "]}"

/* Which of the next seals fails; 0: none. */
static int seal_to_fail;

/* In place of OpenSSL's. */
int
EVP_EncryptFinal_ex(EVP_CIPHER_CTX *ctx, unsigned char *out, int *outl)
{
	int (*final)(EVP_CIPHER_CTX *, unsigned char *, int *);

	if (seal_to_fail != 0 && --seal_to_fail == 0)
		return 0;
	*(void **)&final = dlsym(RTLD_NEXT, "EVP_EncryptFinal_ex");
	return final(ctx, out, outl);
}

/* A delivery; what is NULL is signed and sent as it should be. */
struct delivery {
	const char *method;
	const char *path;
	const char *body;
	const char *time;
	const char *secret;
	const char *signature;
	bool too_large;
	bool dropped;
};

struct variables {
	const struct delivery *delivery;
	const char *time;
	const char *signature;
};

static const char *
get(const char *name, void *arg)
{
	const struct variables *v = arg;

	if (strcmp(name, "REQUEST_METHOD") == 0)
		return v->delivery->method != NULL ? v->delivery->method
						   : "POST";
	if (strcmp(name, "SCRIPT_NAME") == 0)
		return v->delivery->path != NULL ? v->delivery->path : HOOK;
	if (strcmp(name, "CONTENT_TYPE") == 0)
		return "application/json";
	if (strcmp(name, "HTTP_X_TIME") == 0)
		return v->time;
	if (strcmp(name, "HTTP_X_SIGNATURE") == 0
		|| strcmp(name, "HTTP_URLMODE_CHECK_SIGNATURE") == 0)
		return v->signature;
	return strcmp(name, "URLMODE_REQUEST_ID") == 0 ? CASE_REQUEST_ID : NULL;
}

static void
sign(char hex[static 65], const char *secret, const char *time,
	const char *body)
{
	struct um_buf text = { 0 };

	um_buf_printf(&text, "%s.%s", time, body);
	hmac_hex(hex, secret, um_buf_str(&text));
	um_buf_free(&text);
}

static const struct um_program webhook = { .name = "webhook",
	.routes = routes,
	.measures = UM_OP_NONE };

/* The first step for this delivery. */
static void
deliver(struct um_exchange *ex, struct um_buf *path,
	const struct delivery *delivery)
{
	static struct variables variables;
	static char signature[65];
	const char *body = delivery->body != NULL ? delivery->body : PAID;

	variables = (struct variables){ .delivery = delivery,
		.time = delivery->time != NULL ? delivery->time
					       : "1800000000" };
	sign(signature,
		delivery->secret != NULL ? delivery->secret : SIGNING_SECRET,
		variables.time, body);
	variables.signature = delivery->signature == NULL ? signature
		: delivery->signature[0] != '\0'          ? delivery->signature
							  : NULL;
	um_exchange_begin(ex, path, get, &variables, &case_context);
	ex->request.body = um_str(body);
	ex->request.body_too_large = delivery->too_large;
	ex->request.body_dropped = delivery->dropped;
	um_route_request(&case_context, ex, &webhook);
}

/* What the provider gets, and what the log says; frees the exchange. */
static void
assert_end(struct um_exchange *ex, struct um_buf *path, int status,
	const char *word)
{
	struct um_log log = { .fd = -1, .program = "webhook" };
	struct um_buf out = { 0 };

	um_respond(&case_context, ex, &out);
	um_log_request(&log, ex, CASE_NOW * 1000, 1);
	if (ex->response.status != status)
		fail_msg("%d %s, not %d %s", ex->response.status,
			ex->reason != NULL ? ex->reason : "", status, word);
	if (status >= 400) {
		char expected[128];

		assert_string_equal(ex->reason, word);
		snprintf(expected, sizeof(expected), "\r\n\r\n%s: ", word);
		assert_true(str_has(um_buf_str(&out), um_str(expected)));
		assert_false(str_has(um_buf_str(&out), STR("<html")));
	} else {
		assert_string_equal(ex->outcome, word);
	}
	assert_false(str_has(um_buf_str(&out), STR(SECRET)));
	assert_false(str_has(um_buf_str(&log.lines), STR(SECRET)));
	assert_false(str_has(um_buf_str(&log.lines), STR("ev_")));
	um_buf_free(&log.lines);
	um_buf_free(&out);
	um_exchange_free(ex);
	um_buf_free(path);
}

TEST(deliveries_that_need_no_database)
{
	static const struct {
		struct delivery delivery;
		int status;
		const char *word;
	} cases[] = {
		{ { .path = "/webhook/" }, 404, "unknown_route" },
		{ { .path = "/webhook/shop/" }, 404, "unknown_route" },
		{ { .path = "/webhook/nobody" }, 404, "unknown_provider" },
		{ { .path = "/webhook/demo" }, 404, "unknown_provider" },
		{ { .method = "GET" }, 405, "method_not_allowed" },
		{ { .method = "PUT" }, 405, "method_not_allowed" },
		{ { .too_large = true }, 413, "body_too_large" },
		{ { .dropped = true }, 503, "too_many_bodies" },
		{ { .signature = "" }, 401, "signature_missing" },
		{ { .signature = "00" }, 401, "signature_invalid" },
		{ { .secret = "another" }, 401, "signature_invalid" },
		{ { .time = "1799999699" }, 401, "timestamp_out_of_tolerance" },
		{ { .time = "1800000061" }, 401, "timestamp_out_of_tolerance" },
		{ { .body = "{\"events\":[]}" }, 200, "nothing" },
		/* Nothing proves what cannot be read. */
		{ { .signature = "", .body = "{" }, 401, "signature_missing" },
		{ { .secret = "another", .body = "{" }, 401,
			"signature_invalid" },
		{ { .time = "1799999699", .body = "{" }, 401,
			"timestamp_out_of_tolerance" },
		{ { .body = "{\"events\":[" EVENT("ev_1", "paid",
			    "mine") "]}" },
			200, "nothing" },
	};

	for (size_t i = 0; i < LENGTH(cases); i++) {
		struct um_exchange ex;
		struct um_buf path = { 0 };

		row_begin("%zu, %s", i, cases[i].word);
		deliver(&ex, &path, &cases[i].delivery);
		assert_null(ex.then);
		assert_end(&ex, &path, cases[i].status, cases[i].word);
	}
}

/* What `urlmode check` sends: the database is asked, and nothing is recorded. */
TEST(a_delivery_of_the_check)
{
	char signature[UM_CHECK_SIGNATURE_MAX + 1];
	struct delivery delivery = { .path = "/webhook/urlmode-check",
		.body = "{\"urlmode-check\":1}",
		.signature = signature };
	struct um_buf path = { 0 };
	struct um_exchange ex;

	assert_true(um_check_signature_make(signature, case_context.keys,
		um_str(delivery.body)));
	deliver(&ex, &path, &delivery);
	assert_int_equal(ex.op.kind, UM_OP_PING);
	ex.op.status = UM_STORE_DONE;
	um_exchange_step(&case_context, &ex, ex.then);
	assert_end(&ex, &path, 200, "nothing");

	deliver(&ex, &path, &delivery);
	ex.op.status = UM_STORE_UNAVAILABLE;
	um_exchange_step(&case_context, &ex, ex.then);
	assert_end(&ex, &path, 503, "unavailable");

	delivery.body = "{\"urlmode-check\":2}";
	deliver(&ex, &path, &delivery);
	assert_null(ex.then);
	assert_end(&ex, &path, 401, "signature_invalid");
	delivery.signature = "";
	deliver(&ex, &path, &delivery);
	assert_end(&ex, &path, 401, "signature_invalid");
}

/* The answer does not depend on the database. */
TEST(what_is_signed_and_cannot_be_read_is_recorded)
{
	static const struct {
		const char *body;
		const char *place;
	} cases[] = {
		{ "", "/payload: is empty (after about 0 bytes)" },
		{ "{\"events\":[",
			"/payload: is not a JSON object or array "
			"(after about 11 bytes)" },
		{ "{\"events\":[],\"events\":[]}",
			"/events: is not a list, or is there twice" },
		{ "{\"events\":[" EVENT("ev_1", "paid",
			  CASE_ID) ",{\"id\":\"" SECRET "\",\"type\":[]}]}",
			"event 2: /type: /type is an object or a list" },
	};
	static const char *const says[] = { "ok", "failed", "unavailable" };
	static const uint8_t none[UM_UUID_LEN];

	for (size_t i = 0; i < LENGTH(cases) * LENGTH(says); i++) {
		const struct delivery delivery = {
			.body = cases[i / LENGTH(says)].body
		};
		struct um_exchange ex;
		struct um_buf path = { 0 };

		row_begin("%s, %s", delivery.body, says[i % LENGTH(says)]);
		deliver(&ex, &path, &delivery);
		assert_non_null(ex.then);
		assert_int_equal(ex.ops_len, 1);
		assert_int_equal(ex.ops[0].kind, UM_OP_UNREADABLE);
		assert_memory_equal(ex.ops[0].id, none, sizeof(none));
		assert_string_equal(ex.ops[0].provider, "shop");
		assert_string_equal(ex.ops[0].reason, "body_malformed");
		assert_string_equal(ex.ops[0].request, CASE_REQUEST_ID);
		assert_string_equal(ex.ops[0].place,
			cases[i / LENGTH(says)].place);
		database_says(&ex.ops[0], says[i % LENGTH(says)]);
		um_exchange_step(&case_context, &ex, ex.then);
		assert_null(ex.then);
		assert_end(&ex, &path, 400, "body_malformed");
	}
}

/* The same delivery is known again, whenever it is signed, and no other one. */
TEST(the_digest_of_what_cannot_be_read)
{
	static const struct delivery deliveries[] = {
		{ .body = "{" }, { .body = "{", .time = "1800000001" },
		{ .body = "{ " }, { .body = "{" }, /* with another key */
	};
	struct um_keys *keys = case_context.keys;
	uint8_t digests[LENGTH(deliveries)][UM_DIGEST_LEN];

	for (size_t i = 0; i < LENGTH(deliveries); i++) {
		struct um_exchange ex;
		struct um_buf path = { 0 };

		if (i == 3)
			case_context.keys = keys_of("2 "
						    "IiIiIiIiIiIiIiIiIiIiIiIiIi"
						    "IiIiIiIiIiIiIiIiI\n");
		deliver(&ex, &path, &deliveries[i]);
		memcpy(digests[i], ex.ops[0].digest, sizeof(digests[i]));
		um_exchange_free(&ex);
		um_buf_free(&path);
	}
	um_keys_free(case_context.keys);
	case_context.keys = keys;
	assert_memory_equal(digests[0], digests[1], UM_DIGEST_LEN);
	assert_memory_not_equal(digests[0], digests[2], UM_DIGEST_LEN);
	assert_memory_not_equal(digests[0], digests[3], UM_DIGEST_LEN);
}

/* The row's binding comes first: nothing can be sealed without it. */
TEST(an_event_that_is_ours)
{
	static const struct {
		const char *says;
		int status;
		const char *word;
	} cases[] = {
		{ "accept", 200, "accept" },
		{ "decline", 200, "decline" },
		{ "cancel", 200, "cancel" },
		{ "processing", 200, "processing" },
		{ "recheck", 200, "recheck" },
		{ "attempt_failed", 200, "attempt_failed" },
		{ "refunded", 200, "refunded" },
		{ "repeated", 200, "repeated" },
		{ "reference_taken", 200, "reference_taken" },
		{ "other_mode", 200, "other_mode" },
		{ "other_account", 200, "other_account" },
		{ "ignored", 200, "ignored" },
		{ "late", 200, "late" },
		{ "seen", 200, "seen" },
		{ "failed", 500, "internal_error" },
		{ "unavailable", 503, "unavailable" },
	};
	static const struct delivery delivery = { 0 };
	static const uint8_t any_owner[UM_BINDING_LEN] = { 0xb1 };

	for (size_t i = 0; i < LENGTH(cases); i++) {
		struct um_exchange ex;
		struct um_buf path = { 0 };
		struct um_buf json = { 0 };
		char uuid[UM_UUID_TEXT_LEN + 1];

		row_begin("%s", cases[i].says);
		deliver(&ex, &path, &delivery);
		assert_non_null(ex.then);
		assert_int_equal(ex.ops_len, 1);
		assert_int_equal(ex.ops[0].kind, UM_OP_EVENT);
		assert_string_equal(ex.ops[0].provider, "shop");
		um_uuid_format(uuid, ex.ops[0].id);
		assert_string_equal(uuid, CASE_ID);
		assert_int_equal(ex.ops[0].event->effect, UM_EFFECT_PAID);
		assert_string_equal(ex.ops[0].event->identity, "ev_1");
		assert_true(um_seal_open(&json, um_buf_str(&ex.ops[0].result),
			ex.ops[0].id, any_owner, case_context.keys));
		assert_str(um_buf_str(&json),
			"{\"event\":\"ev_1\",\"type\":\"paid\"}");
		um_buf_free(&json);

		database_says(&ex.ops[0], cases[i].says);
		um_exchange_step(&case_context, &ex, ex.then);
		assert_null(ex.then);
		assert_end(&ex, &path, cases[i].status, cases[i].word);
	}
}

TEST(an_event_that_is_not_ours)
{
	static const struct {
		const char *says;
		int status;
		const char *word;
	} cases[] = {
		{ "unknown", 200, "unknown" },
		{ "failed", 500, "internal_error" },
		{ "unavailable", 503, "unavailable" },
	};
	static const struct delivery delivery = { 0 };

	for (size_t i = 0; i < LENGTH(cases); i++) {
		struct um_exchange ex;
		struct um_buf path = { 0 };

		row_begin("%s", cases[i].says);
		deliver(&ex, &path, &delivery);
		database_says(&ex.ops[0], cases[i].says);
		um_exchange_step(&case_context, &ex, ex.then);
		assert_null(ex.then);
		assert_end(&ex, &path, cases[i].status, cases[i].word);
	}
}

/* The log tells of the first that is ours. One that cannot be kept makes the
 * provider send all of them again, and the log tells of that one. */
TEST(several_events_at_once)
{
	static const struct delivery delivery = {
		.body = "{\"events\":[" EVENT("ev_1", "paid",
			OTHER_ID) "," EVENT("ev_2", "paid",
			"mine") "," EVENT("ev_3", "new",
			CASE_ID) "," EVENT("ev_4", "paid", THIRD_ID) "]}"
	};
	static const char *const ends[][2] = {
		{ "ignored", "accept" },
		{ "ignored", "unavailable" },
		{ "failed", "accept" },
	};
	static const int statuses[] = { 200, 503, 500 };
	static const char *const words[] = { "ignored", "unavailable",
		"internal_error" };
	static const char *const shown[] = { CASE_ID, THIRD_ID, CASE_ID };

	for (size_t i = 0; i < LENGTH(ends); i++) {
		struct um_exchange ex;
		struct um_buf path = { 0 };
		char uuid[UM_UUID_TEXT_LEN + 1];

		row_begin("%s, %s", ends[i][0], ends[i][1]);
		deliver(&ex, &path, &delivery);
		assert_int_equal(ex.ops_len, 3);
		assert_string_equal(ex.ops[0].event->identity, "ev_1");
		assert_string_equal(ex.ops[1].event->identity, "ev_3");
		assert_int_equal(ex.ops[1].event->effect, UM_EFFECT_IGNORE);
		assert_string_equal(ex.ops[2].event->identity, "ev_4");
		database_says(&ex.ops[0], "unknown");
		database_says(&ex.ops[1], ends[i][0]);
		database_says(&ex.ops[2], ends[i][1]);
		um_exchange_step(&case_context, &ex, ex.then);
		um_uuid_format(uuid, ex.token.id);
		assert_string_equal(uuid, shown[i]);
		assert_end(&ex, &path, statuses[i], words[i]);
	}
}

/* Otherwise the provider would think that all of them were recorded. */
TEST(a_seal_that_fails_fails_the_delivery)
{
	static const struct delivery delivery = {
		.body = "{\"events\":[" EVENT("ev_1", "paid",
			CASE_ID) "," EVENT("ev_2", "paid", THIRD_ID) "]}"
	};

	/* The result and the outcome of each. */
	for (int i = 1; i <= 5; i++) {
		struct um_exchange ex;
		struct um_buf path = { 0 };

		row_begin("seal %d", i);
		seal_to_fail = i;
		deliver(&ex, &path, &delivery);
		assert_int_equal(seal_to_fail, i == 5);
		seal_to_fail = 0;
		assert_int_equal(ex.then == NULL, i <= 4);
		if (i <= 4)
			assert_end(&ex, &path, 500, "internal_error");
		else
			um_exchange_free(&ex);
		um_buf_free(&path);
	}
}

static int
set_up(void **state)
{
	char *path = file_make(um_str(description), 0600);
	const char *secrets[] = { SIGNING_SECRET };
	const struct um_provider_env site = { .secrets = secrets,
		.secrets_len = 1 };
	struct um_error err;

	if (!um_spec_load(&case_provider("shop")->spec, path, &site, &err))
		fail_msg("%s", err.text);
	file_remove(path);
	return program_case_set_up(state);
}

static int
tear_down(void **state)
{
	um_spec_free(case_provider("shop")->spec);
	return program_case_tear_down(state);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(deliveries_that_need_no_database),
		cmocka_unit_test(a_delivery_of_the_check),
		cmocka_unit_test(what_is_signed_and_cannot_be_read_is_recorded),
		cmocka_unit_test(the_digest_of_what_cannot_be_read),
		cmocka_unit_test(an_event_that_is_ours),
		cmocka_unit_test(an_event_that_is_not_ours),
		cmocka_unit_test(several_events_at_once),
		cmocka_unit_test(a_seal_that_fails_fails_the_delivery),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
