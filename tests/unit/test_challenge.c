/* SPDX-License-Identifier: MIT */
/* Challenges: what is answered to whom, and what never is. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "description.h"

#define DIGITS "0123456789abcdef0123456789abcdef"
#define BEGIN SIGNED "\"outcomes\": [{\"effect\": \"paid\"}], \"challenge\": "
/* As Zoom asks, and as Meta does. */
#define POST_CHALLENGE                                                         \
	BEGIN "{\"method\": \"POST\", \"when\": [{\"from\": {\"json\": "       \
	      "\"/event\"}, \"is\": \"validate\"}], \"answer\": {\"json\": "   \
	      "{\"plain\": {\"json\": \"/token\"}, \"mac\": {\"mac\": "        \
	      "{\"json\": \"/token\"}}}}}}"
#define GET_CHALLENGE(text)                                                    \
	BEGIN "{\"method\": \"GET\", \"when\": [{\"from\": {\"query\": "       \
	      "\"token\"}, \"is\": {\"site\": \"token\"}}], \"answer\": "      \
	      "{\"text\": " text "}}}"

static const char *
constant(const char *name, size_t index, void *arg)
{
	(void)arg;
	return index == 0 && strcmp(name, "token") == 0 ? "t-1" : NULL;
}

static struct um_spec *
load(const char *text, struct um_error *err)
{
	static const char *const secrets[] = { SECRET };
	const struct um_provider_env env = { .secrets = secrets,
		.secrets_len = 1,
		.constant = constant };

	return describe_with(text, &env, err);
}

/* What is answered to this body, or NULL; the caller frees it. */
static char *
post(const struct um_spec *spec, const char *body, bool is_signed)
{
	struct um_reply reply = { 0 };
	char signature[65] = "";
	const struct um_delivery delivery = { .body = um_str(body),
		.header = signature_header,
		.arg = signature,
		.reply = &reply };
	struct um_event event;
	enum um_verdict verdict;
	size_t len = 7;
	char *text = NULL;

	if (is_signed)
		hmac_hex(signature, SECRET, um_str(body));
	verdict = um_spec_read(&spec->webhook, &delivery, &event, &len);
	if (reply.given) {
		assert_int_equal(verdict, UM_DELIVERY_GOOD);
		assert_int_equal(len, 0);
		assert_string_equal(reply.content_type, "application/json");
		text = strndup(reply.body.ptr, reply.body.len);
	}
	um_buf_free(&reply.body);
	return text;
}

TEST(a_signed_post)
{
	static const struct {
		const char *body;
		bool is_signed, is_answered;
	} cases[] = {
		{ "{\"event\":\"validate\",\"token\":\"a-B_9\"}", true, true },
		{ "{\"event\":\"validate\",\"token\":\"a-B_9\"}", false,
			false },
		{ "{\"event\":\"other\",\"token\":\"a-B_9\"}", true, false },
		{ "{\"event\":\"validate\"}", true, false },
		{ "{\"event\":\"validate\",\"token\":\"<b>\"}", true, false },
		{ "{\"event\":\"validate\",\"token\":\"a b\"}", true, false },
		{ "{\"event\":\"validate\",\"token\":\"a\\\"\"}", true, false },
		{ "{\"event\":\"validate\",\"token\":\"\\u00e9\"}", true,
			false },
		{ "{\"event\":\"validate\",\"token\":{}}", true, false },
	};
	struct um_error err;
	struct um_spec *spec = load(POST_CHALLENGE, &err);
	char mac[65], expected[160];

	if (spec == NULL)
		fail_msg("%s", err.text);
	assert_false(spec->webhook.challenge.is_get);
	hmac_hex(mac, SECRET, STR("a-B_9"));
	snprintf(expected, sizeof(expected),
		"{\"plain\":\"a-B_9\",\"mac\":\"%s\"}", mac);
	for (size_t i = 0; i < LENGTH(cases); i++) {
		char *text = post(spec, cases[i].body, cases[i].is_signed);

		assert_row(cases[i].body,
			(text != NULL) == cases[i].is_answered);
		if (text != NULL)
			assert_string_equal(text, expected);
		free(text);
	}
	um_spec_free(spec);
}

/* Whoever knows a token alone gets no MAC made. */
TEST(a_post_that_has_only_a_token)
{
	static const char *const secrets[] = { SECRET };
	static const char body[] =
		"{\"event\":\"validate\",\"token\":\"a-B_9\"}";
	const struct um_provider_env env = { .secrets = secrets,
		.secrets_len = 1 };
	struct um_reply reply = { 0 };
	struct um_error err;
	struct um_spec *spec = describe_with(
		"{\"name\": \"n\", \"documentation\": \"d\", \"verify\": "
		"[{\"algorithm\": \"hmac-sha256\", \"key\": {\"as\": "
		"\"utf8\"}, \"signature\": {\"from\": {\"header\": "
		"\"x-other\"}, \"as\": \"hex\"}, \"signed\": [{\"body\": "
		"\"raw\"}]}, {\"algorithm\": \"token\", \"key\": {\"as\": "
		"\"utf8\"}, \"signature\": {\"from\": {\"header\": "
		"\"x-signature\"}}}], \"trust\": \"body\", \"outcomes\": "
		"[{\"effect\": \"paid\"}], \"challenge\": {\"method\": "
		"\"POST\", \"when\": [{\"from\": {\"json\": \"/event\"}, "
		"\"is\": \"validate\"}], \"answer\": {\"text\": {\"mac\": "
		"{\"json\": \"/token\"}}}}}",
		&env, &err);
	char token[] = SECRET;
	const struct um_delivery delivery = { .body = um_str(body),
		.header = signature_header,
		.arg = token,
		.reply = &reply };
	struct um_event event;
	size_t len;

	if (spec == NULL)
		fail_msg("%s", err.text);
	assert_int_equal(um_spec_read(&spec->webhook, &delivery, &event, &len),
		UM_DELIVERY_GOOD);
	assert_false(reply.given);
	assert_int_equal(len, 1);
	assert_int_equal(event.effect, UM_EFFECT_RECHECK);
	um_spec_free(spec);
}

/* Numbers as they are, and texts of several parts (Discord, X). */
TEST(numbers_and_parts_of_a_text)
{
	static const struct {
		const char *answer, *expected;
	} cases[] = {
		{ "{\"type\": 1}", "{\"type\":1}" },
		{ "{\"a\": -7, \"plain\": {\"json\": \"/token\"}, \"b\": 0}",
			"{\"a\":-7,\"plain\":\"12\",\"b\":0}" },
		{ "{\"plain\": {\"json\": \"/token\"}, \"to\": {\"join\": "
		  "[\"v0=\", {\"json\": \"/token\"}, \".\"], \"with\": \"\"}}",
			"{\"plain\":\"12\",\"to\":\"v0=12.\"}" },
	};

	for (size_t i = 0; i < LENGTH(cases); i++) {
		struct um_buf text = { 0 };
		struct um_error err;
		struct um_spec *spec;
		char *answer;

		row_begin("%s", cases[i].answer);
		um_buf_cat(&text,
			BEGIN "{\"method\": \"POST\", \"when\": [{\"from\": "
			      "{\"json\": \"/type\"}, \"is\": \"1\"}], "
			      "\"answer\": {\"json\": ",
			cases[i].answer, "}}}");
		um_buf_put(&text, "", 1);
		spec = load(text.ptr, &err);
		if (spec == NULL)
			fail_msg("%s", err.text);
		answer = post(spec, "{\"type\":1,\"token\":12}", true);
		assert_non_null(answer);
		assert_string_equal(answer, cases[i].expected);
		free(answer);
		um_spec_free(spec);
		um_buf_free(&text);
	}
}

/* What is answered to this query, or NULL; the caller frees it. */
static char *
get(const struct um_spec *spec, const char *query)
{
	struct um_reply reply = { 0 };
	const struct um_delivery delivery = { .is_get = true,
		.query = um_str(query),
		.header = signature_header,
		.reply = &reply };
	size_t len;
	enum um_verdict verdict = um_spec_read(&spec->webhook, &delivery, NULL,
		&len);
	char *text = NULL;

	assert_int_equal(verdict,
		reply.given ? UM_DELIVERY_GOOD : UM_DELIVERY_UNSIGNED);
	if (reply.given) {
		assert_string_equal(reply.content_type,
			"text/plain; charset=utf-8");
		text = strndup(reply.body.ptr, reply.body.len);
	}
	um_buf_free(&reply.body);
	return text;
}

TEST(a_get_that_is_harmless)
{
	static const struct {
		const char *query, *answer;
	} cases[] = {
		{ "token=t-1&ask=1158201444", "1158201444" },
		{ "token=t-1&ask=a.b_c~d%2Be%2Ff%3Dg%7Ch-i",
			"a.b_c~d+e/f=g|h-i" },
		{ "token=t-2&ask=1", NULL },
		{ "token=t-&ask=1", NULL },
		{ "token=t-11&ask=1", NULL },
		{ "ask=1", NULL },
		{ "token=t-1", NULL },
		{ "token=t-1&ask=", NULL },
		{ "token=t-1&ask=%3Cscript%3E", NULL },
		{ "token=t-1&ask=a%0Ab", NULL },
		{ "token=t-1&ask=a+b", NULL },
		{ "token=t-1&ask=1&ask=2", NULL },
		{ "token=t-1&ask=%zz", NULL },
	};
	struct um_error err;
	struct um_spec *spec = load(GET_CHALLENGE("{\"query\": \"ask\"}"),
		&err);
	char query[1024];

	if (spec == NULL)
		fail_msg("%s", err.text);
	assert_true(spec->webhook.challenge.is_get);
	for (size_t i = 0; i < LENGTH(cases); i++) {
		char *text = get(spec, cases[i].query);

		if (cases[i].answer == NULL)
			assert_row(cases[i].query, text == NULL);
		else
			assert_string_equal(text, cases[i].answer);
		free(text);
	}
	for (int len = 512; len <= 513; len++) {
		char *text;

		snprintf(query, sizeof(query), "token=t-1&ask=%0*d", len, 7);
		text = get(spec, query);
		assert_true((text != NULL) == (len == 512));
		free(text);
	}
	um_spec_free(spec);
}

/*
 * Anybody may have hexadecimal digits signed, and nothing else; they are no
 * delivery then.
 */
TEST(a_get_is_no_way_to_a_signature)
{
	struct um_error err;
	struct um_spec *spec = load(GET_CHALLENGE(
					    "{\"join\": [{\"site\": "
					    "\"token\"}, {\"mac\": {\"query\": "
					    "\"ask\"}}], \"with\": \"|\"}"),
		&err);
	static const char *const refused[] = { "token=t-1&ask=xyz",
		"token=t-1&ask=%7B%7D", "token=t-1&ask=12.3",
		"token=t-1&ask=" DIGITS DIGITS "0" };
	char mac[65], expected[80], *text;
	const struct um_delivery delivery = { .body = STR("12"),
		.header = signature_header,
		.arg = mac };
	struct um_event event;
	size_t len;

	if (spec == NULL)
		fail_msg("%s", err.text);
	hmac_hex(mac, SECRET, STR("12"));
	snprintf(expected, sizeof(expected), "t-1|%s", mac);
	text = get(spec, "token=t-1&ask=12");
	assert_string_equal(text, expected);
	free(text);
	for (size_t i = 0; i < LENGTH(refused); i++)
		assert_row(refused[i], get(spec, refused[i]) == NULL);
	assert_int_equal(um_spec_read(&spec->webhook, &delivery, &event, &len),
		UM_DELIVERY_FORGED);
	um_spec_free(spec);
}

/* A MAC of what the provider has not signed would be one for anybody. */
TEST(challenges_that_are_refused)
{
	static const struct {
		const char *text, *reason;
	} cases[] = {
		{ BEGIN "{\"method\": \"POST\", \"when\": [{\"from\": "
			"{\"json\": \"/a\"}, \"present\": true}], \"answer\": "
			"{\"text\": {\"mac\": {\"header\": \"x-a\"}}}}}",
			" /challenge/answer: has a `mac` of what is not "
			"signed" },
		{ BEGIN "{\"method\": \"POST\", \"when\": [], \"answer\": "
			"{\"text\": \"a\"}}}",
			" /challenge/when: is not a list of 1 to 8 "
			"conditions" },
		{ BEGIN "{\"method\": \"PUT\", \"when\": [{\"from\": "
			"{\"json\": \"/a\"}, \"present\": true}], \"answer\": "
			"{\"text\": \"a\"}}}",
			" /challenge/method: `PUT` is not one of its "
			"choices" },
		{ BEGIN "{\"method\": \"GET\", \"when\": [{\"from\": "
			"{\"query\": \"a\"}, \"present\": true}], \"answer\": "
			"{}}}",
			" /challenge/answer: must have either `text` or "
			"`json`" },
		{ "{\"name\": \"n\", \"documentation\": \"d\", \"verify\": "
		  "[], \"trust\": \"nothing\", \"outcomes\": [{\"effect\": "
		  "\"recheck\"}], \"challenge\": {\"method\": \"POST\", "
		  "\"when\": [{\"from\": {\"json\": \"/a\"}, \"present\": "
		  "true}], \"answer\": {\"text\": {\"json\": \"/a\"}}}}",
			" /challenge/method: is POST, but not every delivery "
			"is signed as a whole" },
	};

	for (size_t i = 0; i < LENGTH(cases); i++) {
		struct um_error err;

		assert_null(load(cases[i].text, &err));
		assert_error(&err, cases[i].reason);
	}
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_signed_post),
		cmocka_unit_test(a_post_that_has_only_a_token),
		cmocka_unit_test(numbers_and_parts_of_a_text),
		cmocka_unit_test(a_get_that_is_harmless),
		cmocka_unit_test(a_get_is_no_way_to_a_signature),
		cmocka_unit_test(challenges_that_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
