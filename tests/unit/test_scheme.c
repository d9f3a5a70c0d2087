/* SPDX-License-Identifier: MIT */
/* Several schemes, a signature for each event, and the parts of a header. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "description.h"
#include "webhook/scheme.h"

#define HMAC(prefix, signature, parts)                                         \
	"{\"algorithm\": \"hmac-sha256\","                                     \
	" \"key\": {\"as\": \"utf8\", \"prefix\": \"" prefix "\"},"            \
	" \"signature\": {\"from\": " signature ", \"as\": \"hex\"},"          \
	" \"signed\": [" parts "]}"

struct headers {
	const char *id;
	char signature[160];
};

static const char *
header(const char *name, void *arg)
{
	const struct headers *headers = arg;

	if (strcmp(name, "x-signature") == 0)
		return headers->signature;
	return strcmp(name, "x-id") == 0 ? headers->id : NULL;
}

static const char *
constant(const char *name, size_t index, void *arg)
{
	static const char *const keys[] = { "old", "new" };

	(void)arg;
	return strcmp(name, "keys") == 0 && index < LENGTH(keys) ? keys[index]
								 : NULL;
}

static struct um_spec *
load(const char *text, const char *const *secrets, size_t len,
	struct um_error *err)
{
	const struct um_provider_env env = { .secrets = secrets,
		.secrets_len = len,
		.constant = constant };

	return describe_with(text, &env, err);
}

static struct um_spec *
load_with_two(const char *text)
{
	static const char *const secrets[] = { "a_first", "b_second" };
	struct um_error err;
	struct um_spec *spec = load(text, secrets, 2, &err);

	if (spec == NULL)
		fail_msg("%s", err.text);
	return spec;
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

	assert_int_equal(um_spec_read(&spec->webhook, &delivery, events, &len),
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
	struct um_spec *spec = load_with_two(
		"{\"name\": \"n\", \"documentation\": \"d\", "
		"\"verify\": [" HMAC("a_", "{\"header\": \"x-signature\"}",
			"{\"header\": \"x-id\"}, \".\", {\"body\": "
			"\"raw\"}") ", " HMAC("b_",
			"{\"header\": \"x-signature\"}",
			"{\"body\": \"raw\"}") "], \"trust\": "
					       "\"body\", \"type\": "
					       "{\"json\": \"/type\"},"
					       " \"outcomes\": "
					       "[{\"type\": \"paid\", "
					       "\"effect\": "
					       "\"paid\"}]}");
	struct headers headers = { .id = "1.2" };

	hmac_hex(headers.signature, "second", um_str(body));
	assert_int_equal(read_effect(spec, &headers, body), UM_EFFECT_PAID);

	hmac_hex(headers.signature, "first",
		um_str("1.2.{\"type\": \"paid\"}"));
	assert_int_equal(read_effect(spec, &headers, body), UM_EFFECT_RECHECK);
	headers.id = "12";
	hmac_hex(headers.signature, "first", um_str("12.{\"type\": \"paid\"}"));
	assert_int_equal(read_effect(spec, &headers, body), UM_EFFECT_PAID);
	um_spec_free(spec);
}

/* Each event is signed by itself; only the first could be cut otherwise. */
TEST(one_ambiguous_event_does_not_affect_the_next)
{
	struct um_spec *spec = load_with_two(
		"{\"name\": \"n\", \"documentation\": \"d\", \"verify\": "
		"[" HMAC("a_", "{\"item\": \"/signature\"}",
			"{\"join\": [{\"item\": \"/id\"}, {\"item\": "
			"\"/type\"}],"
			" \"with\": \":\"}") ", " HMAC("b_",
			"{\"item\": \"/other\"}",
			"{\"join\": [{\"item\": \"/id\"}, {\"item\": "
			"\"/type\"}],"
			" \"with\": \":\"}") "], \"trust\": \"fields\", "
					     "\"events\": \"/events\","
					     " \"type\": {\"item\": \"/type\"},"
					     " \"outcomes\": [{\"type\": "
					     "\"paid\", \"effect\": "
					     "\"paid\"}]}");
	struct um_event events[UM_EVENTS_MAX];
	struct headers headers = { 0 };
	char first[65], second[65];
	struct um_buf body = { 0 };
	struct um_delivery delivery = { .header = header, .arg = &headers };
	size_t len;

	hmac_hex(first, "first", um_str("1:2:paid"));
	hmac_hex(second, "first", um_str("12:paid"));
	um_buf_printf(&body,
		"{\"events\": ["
		"{\"id\": \"1:2\", \"type\": \"paid\", \"signature\": \"%s\"},"
		"{\"id\": \"12\", \"type\": \"paid\", \"signature\": \"%s\"}]}",
		first, second);
	delivery.body = um_buf_str(&body);
	assert_int_equal(um_spec_read(&spec->webhook, &delivery, events, &len),
		UM_DELIVERY_GOOD);
	assert_int_equal(len, 2);
	assert_int_equal(events[0].effect, UM_EFFECT_RECHECK);
	assert_int_equal(events[1].effect, UM_EFFECT_PAID);
	um_buf_free(&body);
	um_spec_free(spec);
}

#define ANYTHING                                                               \
	", \"trust\": \"body\", \"type\": {\"json\": \"/type\"},"              \
	" \"outcomes\": [{\"type\": \"paid\", \"effect\": \"paid\"}]}"
#define SCHEME(algorithm, key, signature)                                      \
	"{\"algorithm\": \"" algorithm "\", \"key\": {" key                    \
	"}, \"signature\": {\"from\": {\"header\": \"x-signature\"}, "         \
	"\"as\": \"hex\"" signature "}, \"signed\": [{\"body\": \"raw\"}]}"
#define DOCUMENT(schemes)                                                      \
	"{\"name\": \"n\", \"documentation\": \"d\", \"verify\": [" schemes    \
	"]" ANYTHING

static enum um_verdict
read_verdict(const struct um_spec *spec, struct headers *headers,
	const char *body)
{
	const struct um_delivery delivery = { .body = um_str(body),
		.header = header,
		.arg = headers };
	struct um_event event;
	size_t len;

	return um_spec_read(&spec->webhook, &delivery, &event, &len);
}

/* A provider that writes its signature in two ways has one secret. */
TEST(one_secret_serves_each_scheme_without_a_prefix)
{
	static const char body[] = "{\"type\": \"paid\"}";
	static const char *const secret[] = { "whsec_1" };
	struct um_error err;
	struct um_spec *spec =
		load(DOCUMENT(SCHEME("hmac-sha256", "\"as\": \"utf8\"",
			     ", \"prefix\": \"v1=\"") ", " SCHEME("hmac-sha256",
			     "\"as\": \"utf8\"", ", \"prefix\": \"v2=\"")),
			secret, 1, &err);
	struct headers headers = { 0 };
	char hex[65];

	assert_non_null(spec);
	hmac_hex(hex, secret[0], um_str(body));
	for (int version = 1; version <= 3; version++) {
		snprintf(headers.signature, sizeof(headers.signature), "v%d=%s",
			version, hex);
		assert_int_equal(read_verdict(spec, &headers, body),
			version <= 2 ? UM_DELIVERY_GOOD : UM_DELIVERY_FORGED);
	}
	um_spec_free(spec);
}

/* With a prefix that fits, a scheme without one does not get the secret. */
TEST(the_longest_prefix_decides)
{
	static const char body[] = "{\"type\": \"paid\"}";
	static const char *const secret[] = { "whsec_1" };
	struct um_error err;
	struct um_spec *spec =
		load(DOCUMENT(SCHEME("hmac-sha256", "\"as\": \"utf8\"",
			     "") ", " SCHEME("hmac-sha256",
			     "\"as\": \"utf8\", \"prefix\": \"whsec_\"", "")),
			secret, 1, &err);
	struct headers headers = { 0 };

	assert_non_null(spec);
	hmac_hex(headers.signature, "whsec_1", um_str(body));
	assert_int_equal(read_verdict(spec, &headers, body),
		UM_DELIVERY_FORGED);
	hmac_hex(headers.signature, "1", um_str(body));
	assert_int_equal(read_verdict(spec, &headers, body), UM_DELIVERY_GOOD);
	um_spec_free(spec);
}

/* Whoever knows the public key could make such an HMAC. */
TEST(a_public_key_is_never_a_secret_as_well)
{
	static const char *const key[] = { "d75a980182b10ab7d54bfed3c964073a"
					   "0ee172f3daa62325af021a68f707511a" };
	struct um_error err;

	assert_null(load(DOCUMENT(SCHEME("ed25519", "\"as\": \"hex\"",
				 "") ", " SCHEME("hmac-sha256",
				 "\"as\": \"utf8\"", "")),
		key, 1, &err));
	assert_error(&err,
		" /verify/1/key: takes the same secrets as a scheme before it, "
		"and only one of them is of public keys");
}

/* While keys rotate, their ids are several values of one constant. */
TEST(fields_and_prefixes_of_the_site)
{
	static const char body[] = "{\"type\": \"paid\"}";
	static const char *const secret[] = { "s" };
	static const struct {
		const char *before;
		enum um_verdict as_field, as_prefix;
	} cases[] = {
		{ "old|", UM_DELIVERY_GOOD, UM_DELIVERY_FORGED },
		{ "new|", UM_DELIVERY_GOOD, UM_DELIVERY_FORGED },
		{ "old", UM_DELIVERY_FORGED, UM_DELIVERY_GOOD },
		{ "new", UM_DELIVERY_FORGED, UM_DELIVERY_GOOD },
		{ "other|", UM_DELIVERY_FORGED, UM_DELIVERY_FORGED },
		{ "", UM_DELIVERY_FORGED, UM_DELIVERY_FORGED },
	};
	struct um_error err;
	struct um_spec *field =
		load(DOCUMENT(SCHEME("hmac-sha256", "\"as\": \"utf8\"",
			     ", \"field\": {\"site\": \"keys\"}, \"between\": "
			     "\"&\", \"equals\": \"|\"")),
			secret, 1, &err);
	struct um_spec *prefix =
		load(DOCUMENT(SCHEME("hmac-sha256", "\"as\": \"utf8\"",
			     ", \"prefix\": {\"site\": \"keys\"}")),
			secret, 1, &err);
	struct headers headers = { 0 };
	char hex[65];

	assert_non_null(field);
	assert_non_null(prefix);
	hmac_hex(hex, secret[0], um_str(body));
	for (size_t i = 0; i < LENGTH(cases); i++) {
		snprintf(headers.signature, sizeof(headers.signature), "%s%s",
			cases[i].before, hex);
		assert_row(cases[i].before,
			read_verdict(field, &headers, body)
				== cases[i].as_field);
		assert_row(cases[i].before,
			read_verdict(prefix, &headers, body)
				== cases[i].as_prefix);
	}
	um_spec_free(field);
	um_spec_free(prefix);
	/* Elsewhere it would have to be one of them. */
	assert_null(
		load("{\"name\": \"n\", \"documentation\": \"d\", \"verify\": "
		     "[{\"algorithm\": \"hmac-sha256\", \"key\": {\"as\": "
		     "\"utf8\"}, \"signature\": {\"from\": {\"header\": "
		     "\"x\"}, "
		     "\"as\": \"hex\"}, \"signed\": [{\"site\": \"keys\"}, "
		     "{\"body\": \"raw\"}]}]" ANYTHING,
			secret, 1, &err));
	assert_error(&err,
		" /verify/0/signed/0: the constant `keys` has several values");
}

/* Whether the JSON in `payload` is proven by a signature of `field`. */
static bool
is_proven(const char *payload, const char *field)
{
	static const char *const secrets[] = { SECRET };
	struct um_buf text = { 0 };
	struct um_error err;
	struct um_spec *spec;

	um_buf_printf(&text,
		"{\"name\": \"n\", \"documentation\": \"d\", \"verify\": "
		"[" HMAC("s", "{\"header\": \"x-signature\"}",
			"%s") "], \"trust\": \"fields\", \"payload\": %s,"
			      " \"type\": {\"json\": \"/type\"}, \"outcomes\":"
			      " [{\"type\": \"paid\", \"effect\": \"paid\"}]}",
		field, payload);
	spec = load(text.ptr, secrets, 1, &err);
	if (spec == NULL && strstr(err.text, "is not signed") == NULL)
		fail_msg("%s", err.text);
	um_spec_free(spec);
	um_buf_free(&text);
	return spec != NULL;
}

TEST(a_field_that_is_signed_as_a_whole)
{
	static const struct {
		const char *payload, *field;
		bool proven;
	} cases[] = {
		{ "{\"form\": \"a\"}", "{\"form\": \"a\"}", true },
		{ "{\"form\": \"a\"}", "{\"form\": \"b\"}", false },
		{ "{\"form\": \"a\"}", "{\"multipart\": \"a\"}", false },
		{ "{\"form\": \"a\"}", "{\"body\": \"raw\"}", true },
		{ "{\"multipart\": \"a\"}", "{\"multipart\": \"a\"}", true },
		{ "{\"multipart\": \"a\"}", "{\"form\": \"a\"}", false },
		{ "{\"multipart\": \"a\"}", "{\"body\": \"raw\"}", false },
	};

	for (size_t i = 0; i < LENGTH(cases); i++)
		assert_row(cases[i].field,
			is_proven(cases[i].payload, cases[i].field)
				== cases[i].proven);
}

/* The params as `name=value;`, put together again. */
static void
assert_pairs(const char *text, const char *between, const char *equals,
	const char *expected)
{
	struct um_buf out = { 0 };
	struct um_params params;
	bool ok = um_scheme_split_params(&params, um_str(text), between,
		equals);

	assert_row(text, ok == (expected != NULL));
	for (size_t i = 0; ok && i < params.len; i++)
		um_buf_printf(&out, "%.*s=%.*s;", (int)params.param[i].name.len,
			params.param[i].name.ptr,
			(int)params.param[i].value.len,
			params.param[i].value.ptr);
	if (ok)
		assert_str(um_buf_str(&out), expected);
	um_buf_free(&out);
}

TEST(named_parts)
{
	assert_pairs("t=1,v1=a,v1=b,v0=c", ",", "=", "t=1;v1=a;v1=b;v0=c;");
	assert_pairs("t=1, v1=a", ",", "=", "t=1;v1=a;");
	assert_pairs(" t=1 ,\tv1=a\t", ",", "=", "t=1;v1=a;");
	assert_pairs("ts=1;h1=a", ";", "=", "ts=1;h1=a;");
	assert_pairs("v1,a= v1a,b==", " ", ",", "v1=a=;v1a=b==;");
	assert_pairs("v1=a=b", ",", "=", "v1=a=b;");
	assert_pairs("v1=", ",", "=", "v1=;");
	assert_pairs("a::1||b::2", "||", "::", "a=1;b=2;");
	assert_pairs("", ",", "=", NULL);
	assert_pairs("t", ",", "=", NULL);
	assert_pairs("t=1,", ",", "=", NULL);
	assert_pairs("t=1,,v1=a", ",", "=", NULL);
	assert_pairs(",t=1", ",", "=", NULL);
	assert_pairs("=1", ",", "=", NULL);
	assert_pairs("v1,a  v1,b", " ", ",", NULL);
}

/* Parameters without names: `<time>.<signature>`. */
TEST(ordered_parts)
{
	static const struct {
		const char *text, *between, *expected;
	} cases[] = {
		{ "17.ab", ".", "t=17;v1=ab;" },
		{ " 17 . ab ", ".", "t=17;v1=ab;" },
		{ "17::ab", "::", "t=17;v1=ab;" },
		{ "t=17.v1=ab", ".", "t=t=17;v1=v1=ab;" },
		{ "17.ab.", ".", NULL },
		{ "17.ab.cd", ".", NULL },
		{ "17", ".", NULL },
		{ "17.", ".", NULL },
		{ ".ab", ".", NULL },
		{ "", ".", NULL },
	};
	char t[] = "t", v1[] = "v1", *names[] = { t, v1 };
	const struct um_strlist order = { .item = names, .len = 2 };

	for (size_t i = 0; i < LENGTH(cases); i++) {
		struct um_buf out = { 0 };
		struct um_params params;
		bool ok = um_scheme_name_params(&params, um_str(cases[i].text),
			cases[i].between, &order);

		assert_row(cases[i].text, ok == (cases[i].expected != NULL));
		for (size_t j = 0; ok && j < params.len; j++)
			um_buf_printf(&out, "%.*s=%.*s;",
				(int)params.param[j].name.len,
				params.param[j].name.ptr,
				(int)params.param[j].value.len,
				params.param[j].value.ptr);
		if (ok)
			assert_str(um_buf_str(&out), cases[i].expected);
		um_buf_free(&out);
	}
}

TEST(as_many_named_parts_as_the_limit)
{
	for (size_t more = 0; more < 2; more++) {
		struct um_buf text = { 0 };
		struct um_params params;

		for (size_t i = 0; i < UM_PARAMS_MAX + more; i++)
			um_buf_printf(&text, "%sa=%zu", i != 0 ? "," : "", i);
		assert_int_equal(um_scheme_split_params(&params,
					 um_buf_str(&text), ",", "="),
			more == 0);
		um_buf_free(&text);
	}
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(named_parts),
		cmocka_unit_test(ordered_parts),
		cmocka_unit_test(as_many_named_parts_as_the_limit),
		cmocka_unit_test(
			one_secret_serves_each_scheme_without_a_prefix),
		cmocka_unit_test(the_longest_prefix_decides),
		cmocka_unit_test(a_public_key_is_never_a_secret_as_well),
		cmocka_unit_test(fields_and_prefixes_of_the_site),
		cmocka_unit_test(a_field_that_is_signed_as_a_whole),
		cmocka_unit_test(
			what_a_scheme_that_did_not_match_found_does_not_count),
		cmocka_unit_test(one_ambiguous_event_does_not_affect_the_next),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
