/* SPDX-License-Identifier: MIT */
/* Each provider: deliveries as they come, and what they are read as. */
#include "deliveries.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "operate/explain.h"

typedef void visitor(const struct provider *provider,
	const struct um_spec *spec, const json_t *delivery, bool is_return);

/* Every delivery and every return of every file. */
static void
each(visitor *visit)
{
	static const char *const lists[] = { "deliveries", "returns" };

	for (size_t i = 0; delivery_file(i) != NULL; i++) {
		struct um_spec *spec;
		struct provider provider;

		provider_open(&provider, delivery_file(i));
		spec = provider_load(&provider);
		for (size_t list = 0; list < 2; list++) {
			json_t *all = json_object_get(provider.root,
				lists[list]);

			for (size_t at = 0; at < json_array_size(all); at++)
				visit(&provider, spec, json_array_get(all, at),
					list == 1);
		}
		um_spec_free(spec);
		provider_close(&provider);
	}
}

static const char *
name_of(const json_t *delivery)
{
	return json_string_value(json_object_get(delivery, "name"));
}

static bool
is_text(struct um_str is, const char *expected)
{
	return expected == NULL ? is.len == 0 : um_str_is(is, expected);
}

static void
read_one(const struct provider *provider, const struct um_spec *spec,
	const json_t *delivery, bool is_return)
{
	const char *expected = json_string_value(
		json_object_get(delivery, "verdict"));
	struct um_event events[UM_EVENTS_MAX];
	struct um_reply reply = { 0 };
	enum um_verdict verdict;
	struct delivery_copy copy;
	size_t len;

	delivery_copy_open(&copy, provider, delivery);
	copy.reply = &reply;
	verdict = delivery_copy_read(&copy, spec, is_return, events, &len);
	if (!is_text(um_buf_str(&reply.body),
		    json_string_value(json_object_get(delivery, "reply"))))
		fail_msg("%s, %s: the reply is %.*s", provider->name,
			name_of(delivery), (int)reply.body.len, reply.body.ptr);
	um_buf_free(&reply.body);
	if (strcmp(um_explain_verdict(verdict), expected) != 0)
		fail_msg("%s, %s: %s, not %s", provider->name,
			name_of(delivery), um_explain_verdict(verdict),
			expected);
	assert_events(delivery, events, len);
	delivery_copy_close(&copy);
}

TEST(each_is_read_as_expected)
{
	each(read_one);
}

static bool
is_good(const json_t *delivery)
{
	return strcmp(json_string_value(json_object_get(delivery, "verdict")),
		       "good")
		== 0;
}

/* Twice the same bytes are twice the same events. */
static void
replay_one(const struct provider *provider, const struct um_spec *spec,
	const json_t *delivery, bool is_return)
{
	struct um_event first[UM_EVENTS_MAX], second[UM_EVENTS_MAX];
	struct delivery_copy copy;
	size_t len, again;

	if (!is_good(delivery))
		return;
	delivery_copy_open(&copy, provider, delivery);
	delivery_copy_read(&copy, spec, is_return, first, &len);
	delivery_copy_read(&copy, spec, is_return, second, &again);
	assert_int_equal(len, again);
	for (size_t i = 0; i < len; i++) {
		assert_string_equal(first[i].identity, second[i].identity);
		for (size_t j = 0; j < i; j++)
			assert_string_not_equal(first[i].identity,
				first[j].identity);
	}
	delivery_copy_close(&copy);
}

TEST(a_replay_has_the_same_identity)
{
	each(replay_one);
}

/* The part of the description that this kind of delivery is read with. */
static const json_t *
part_of(const struct provider *provider, bool is_return)
{
	return is_return ? json_object_get(provider->description, "return")
			 : provider->description;
}

static bool
is_trusted(const struct provider *provider, bool is_return, const char *word)
{
	return strcmp(json_string_value(
			      json_object_get(part_of(provider, is_return),
				      "trust")),
		       word)
		== 0;
}

/* Neither a challenge without a signature nor a token has a time. */
static bool
is_timed(const json_t *delivery)
{
	const char *identity = json_string_value(
		json_object_get(json_array_get(json_object_get(delivery,
						       "events"),
					0),
			"identity"));

	return json_object_get(delivery, "method") == NULL
		&& (json_object_get(delivery, "reply") == NULL
			|| json_object_size(
				   json_object_get(delivery, "headers"))
				!= 0)
		&& (identity == NULL || strncmp(identity, "token:", 6) != 0);
}

static void
age_one(const struct provider *provider, const struct um_spec *spec,
	const json_t *delivery, bool is_return)
{
	const json_t *timestamp = json_object_get(part_of(provider, is_return),
		"timestamp");
	json_int_t past = json_integer_value(
		json_object_get(timestamp, "past"));
	json_int_t future = json_integer_value(
		json_object_get(timestamp, "future"));
	struct um_event events[UM_EVENTS_MAX];
	struct delivery_copy copy;
	size_t len;

	if (!is_good(delivery) || !is_timed(delivery))
		return;
	delivery_copy_open(&copy, provider, delivery);
	copy.now_ms = provider->now_ms + past * 1000;
	assert_int_equal(delivery_copy_read(&copy, spec, is_return, events,
				 &len),
		UM_DELIVERY_GOOD);
	copy.now_ms = provider->now_ms - future * 1000;
	assert_int_equal(delivery_copy_read(&copy, spec, is_return, events,
				 &len),
		UM_DELIVERY_GOOD);
	if (timestamp != NULL) {
		copy.now_ms = provider->now_ms + past * 1000 + 1;
		assert_int_equal(delivery_copy_read(&copy, spec, is_return,
					 events, &len),
			UM_DELIVERY_STALE);
		assert_int_equal(len, 0);
		copy.now_ms = provider->now_ms - future * 1000 - 1;
		assert_int_equal(delivery_copy_read(&copy, spec, is_return,
					 events, &len),
			UM_DELIVERY_STALE);
	}
	delivery_copy_close(&copy);
}

TEST(the_tolerance_is_exact)
{
	each(age_one);
}

/* Whether nothing happens by it but a question to the provider's API. */
static bool
only_asks(const struct um_event *events, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (events[i].effect != UM_EFFECT_RECHECK
			&& events[i].effect != UM_EFFECT_IGNORE)
			return false;
	return len != 0;
}

/* Without any one header nothing that matters is trusted. */
static void
strip_one(const struct provider *provider, const struct um_spec *spec,
	const json_t *delivery, bool is_return)
{
	const char *key;
	json_t *value;

	if (!is_good(delivery))
		return;
	json_object_foreach (json_object_get(delivery, "headers"), key, value) {
		struct um_event events[UM_EVENTS_MAX];
		struct delivery_copy copy;
		size_t len;

		delivery_copy_open(&copy, provider, delivery);
		json_object_del(copy.headers, key);
		if (delivery_copy_read(&copy, spec, is_return, events, &len)
				== UM_DELIVERY_GOOD
			&& !only_asks(events, len))
			assert_events(delivery, events, len);
		json_object_clear(copy.headers);
		if (!is_trusted(provider, is_return, "nothing")
			&& !spec->webhook.challenge.is_unsigned
			&& delivery_copy_read(&copy, spec, is_return, events,
				   &len)
				== UM_DELIVERY_GOOD)
			/* The signature stands in the body or the query. */
			assert_int_equal(json_object_size(
						 json_object_get(delivery,
							 "headers")),
				0);
		delivery_copy_close(&copy);
	}
}

TEST(a_header_that_is_missing_is_missed)
{
	each(strip_one);
}

TEST(answers_are_the_descriptions)
{
	for (size_t i = 0; delivery_file(i) != NULL; i++) {
		struct um_spec *spec;
		struct um_spec_answer answer;
		struct provider provider;
		const json_t *expected;

		row_begin("%s", delivery_file(i));
		provider_open(&provider, delivery_file(i));
		spec = provider_load(&provider);
		answer = spec->answer;
		expected = json_object_get(provider.root, "answer");
		assert_int_equal(answer.status,
			expected == NULL
				? 200
				: json_integer_value(
					json_object_get(expected, "status")));
		assert_string_equal(answer.body,
			expected == NULL
				? ""
				: json_string_value(
					json_object_get(expected, "body")));
		assert_string_equal(answer.content_type,
			json_object_get(expected, "content_type") == NULL
				? "text/plain"
				: json_string_value(json_object_get(expected,
					"content_type")));
		um_spec_free(spec);
		provider_close(&provider);
	}
}

/* One that only describes an account takes no deliveries. */
static bool
has_webhook(const char *folder, const char *file)
{
	char path[512];
	json_t *description;
	bool has;

	snprintf(path, sizeof(path), "%s/%s", folder, file);
	description = json_load_file(path, 0, NULL);
	assert_non_null(description);
	has = json_object_get(description, "verify") != NULL;
	assert_true(has || json_object_get(description, "oauth") != NULL);
	json_decref(description);
	return has;
}

/* A description without a delivery that is read with it is not proven. */
TEST(every_description_has_deliveries)
{
	static const char *const folders[] = { "lib/providers",
		"tests/deliveries/descriptions" };
	size_t found = 0;

	for (size_t folder = 0; folder < 2; folder++) {
		DIR *dir = opendir(folders[folder]);
		const struct dirent *entry;

		assert_non_null(dir);
		while ((entry = readdir(dir)) != NULL) {
			const char *dot = strrchr(entry->d_name, '.');
			size_t len, i = 0;

			if (dot == NULL || strcmp(dot, ".json") != 0
				|| strcmp(entry->d_name, "schema.json") == 0
				|| !has_webhook(folders[folder], entry->d_name))
				continue;
			len = (size_t)(dot - entry->d_name);
			while (delivery_file(i) != NULL
				&& (strlen(delivery_file(i)) != len
					|| memcmp(delivery_file(i),
						   entry->d_name, len)
						!= 0))
				i++;
			if (delivery_file(i) == NULL)
				fail_msg("%s/%s has no deliveries",
					folders[folder], entry->d_name);
			found++;
		}
		closedir(dir);
	}
	assert_non_null(delivery_file(found - 1));
	assert_null(delivery_file(found));
}

/*
 * The parts of a delivery that are parsed before its signature is verified: those
 * in which the signature, or a value that it signs, is. Of most there is none.
 */
static unsigned
unproven_of(const struct provider *provider)
{
	static const struct {
		const char *key;
		unsigned needs;
	} table[] = {
		{ "\"item\":", UM_NEED_JSON },
		{ "\"json\":", UM_NEED_JSON },
		{ "\"query\":", UM_NEED_QUERY },
		{ "\"sorted_query\":", UM_NEED_QUERY },
		{ "\"form\":", UM_NEED_FORM },
		{ "\"multipart\":", UM_NEED_MULTIPART },
	};
	char *verify = json_dumps(json_object_get(provider->description,
					  "verify"),
		JSON_COMPACT);
	char *payload = json_dumps(json_object_get(provider->description,
					   "payload"),
		JSON_COMPACT);
	unsigned needs = 0;

	assert_non_null(verify);
	for (size_t i = 0; i < LENGTH(table); i++)
		if (strstr(verify, table[i].key) != NULL)
			needs |= table[i].needs;
	/* The document is in one of these. */
	for (size_t i = 0; payload != NULL && i < LENGTH(table); i++)
		if ((needs & UM_NEED_JSON) != 0
			&& strstr(payload, table[i].key) != NULL)
			needs |= table[i].needs;
	free(verify);
	free(payload);
	return needs;
}

TEST(nothing_else_is_parsed_before_the_signature)
{
	for (size_t i = 0; delivery_file(i) != NULL; i++) {
		struct um_spec *spec;
		struct provider provider;

		provider_open(&provider, delivery_file(i));
		spec = provider_load(&provider);
		assert_row(provider.name,
			spec->webhook.signature_needs
				== unproven_of(&provider));
		um_spec_free(spec);
		provider_close(&provider);
	}
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_description_has_deliveries),
		cmocka_unit_test(each_is_read_as_expected),
		cmocka_unit_test(a_replay_has_the_same_identity),
		cmocka_unit_test(the_tolerance_is_exact),
		cmocka_unit_test(a_header_that_is_missing_is_missed),
		cmocka_unit_test(answers_are_the_descriptions),
		cmocka_unit_test(nothing_else_is_parsed_before_the_signature),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
