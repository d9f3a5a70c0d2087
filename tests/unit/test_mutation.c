/* SPDX-License-Identifier: MIT */
/* Deliveries with one thing changed: a bit, a byte, a key. */
#include "deliveries.h"

#include <stdlib.h>
#include <string.h>

/* One delivery that is read well, and what is tried on it. */
struct trial {
	const struct provider *provider;
	const struct um_spec *description;
	const json_t *delivery;
	const char *belief;
	bool is_return;
	struct letter letter;
	struct um_event events[UM_EVENTS_MAX];
	size_t len;
};

static bool
is_good(const json_t *delivery)
{
	return strcmp(json_string_value(json_object_get(delivery, "verdict")),
		       "good")
		== 0;
}

static bool
decides_something(const struct um_event *events, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (events[i].effect != UM_EFFECT_RECHECK
			&& events[i].effect != UM_EFFECT_IGNORE)
			return true;
	return false;
}

/* All that an event decides; a digest of the whole may be another. */
static bool
is_same(const struct um_event *a, const struct um_event *b)
{
	return a->effect == b->effect && a->has_id == b->has_id
		&& memcmp(a->id, b->id, sizeof(a->id)) == 0
		&& strcmp(a->type, b->type) == 0
		&& a->has_amount == b->has_amount && a->amount == b->amount
		&& strcmp(a->currency, b->currency) == 0
		&& (strcmp(a->identity, b->identity) == 0
			|| strncmp(a->identity, "sha256:", 7) == 0);
}

/*
 * Reads what was changed. It is refused, or says the same as before, or
 * decides nothing; a body that is signed is never taken when it changed.
 */
static void
try(struct trial *trial, const char *where, size_t at, bool may_be_same)
{
	struct um_event events[UM_EVENTS_MAX];
	bool same;
	size_t len;

	if (letter_read(&trial->letter, trial->description, trial->is_return,
		    events, &len)
		!= UM_DELIVERY_GOOD)
		return;
	same = len == trial->len;
	for (size_t i = 0; same && i < len; i++)
		same = is_same(&events[i], &trial->events[i]);
	if (may_be_same ? !same && decides_something(events, len) : true)
		fail_msg("%s: taken although its %s changed at %zu",
			trial->provider->name, where, at);
}

static void
flip_bits(struct trial *trial, const char *where, char *text, size_t len,
	bool is_text, bool may_be_same)
{
	for (size_t i = 0; i < 8 * len; i++) {
		char bit = (char)(1U << i % 8);

		text[i / 8] = (char)(text[i / 8] ^ bit);
		/* What comes as text has no NUL. */
		if (!is_text || text[i / 8] != '\0')
			try(trial, where, i, may_be_same);
		text[i / 8] = (char)(text[i / 8] ^ bit);
	}
}

static void
flip_headers(struct trial *trial)
{
	json_t *headers = json_object_get(trial->delivery, "headers");
	const char *key;
	json_t *value;

	json_object_foreach (headers, key, value) {
		char *copy = strdup(json_string_value(value));

		assert_non_null(copy);
		trial->letter.changed = key;
		trial->letter.changed_to = copy;
		flip_bits(trial, key, copy, strlen(copy), true, true);
		trial->letter.changed = NULL;
		free(copy);
	}
}

static void
flip_everything(struct trial *trial)
{
	struct letter *letter = &trial->letter;
	bool whole = strcmp(trial->belief, "body") == 0;

	flip_headers(trial);
	flip_bits(trial, "body", letter->body, letter->body_len, false, !whole);
	flip_bits(trial, "query", letter->query, strlen(letter->query), true,
		true);
	flip_bits(trial, "content type", letter->content_type,
		strlen(letter->content_type), true, true);
}

static void
cut_body(struct trial *trial)
{
	struct letter *letter = &trial->letter;
	bool whole = strcmp(trial->belief, "body") == 0;
	size_t len = letter->body_len;

	for (letter->body_len = 0; letter->body_len < len; letter->body_len++)
		try(trial, "length", letter->body_len, !whole);
	/* The NUL at the end of it. */
	letter->body_len = len + 1;
	try(trial, "length", letter->body_len, !whole);
	letter->body_len = len;
}

/* The first delivery, and the first return, that is good. */
static void
each_first(void (*tests)(struct trial *trial))
{
	for (size_t i = 0; delivery_file(i) != NULL; i++) {
		struct provider provider;
		struct um_spec *description;

		provider_open(&provider, delivery_file(i));
		description = provider_load(&provider);
		for (size_t back = 0; back < 2; back++) {
			struct trial trial = { .provider = &provider,
				.description = description,
				.is_return = back == 1 };
			const json_t *part = back == 1
				? json_object_get(provider.description,
					"return")
				: provider.description;

			trial.delivery =
				json_array_get(json_object_get(provider.root,
						       back == 1
							       ? "returns"
							       : "deliveries"),
					0);
			if (trial.delivery == NULL)
				continue;
			assert_true(is_good(trial.delivery));
			trial.belief = json_string_value(
				json_object_get(part, "believed"));
			letter_open(&trial.letter, &provider, trial.delivery);
			assert_int_equal(letter_read(&trial.letter, description,
						 trial.is_return, trial.events,
						 &trial.len),
				UM_DELIVERY_GOOD);
			tests(&trial);
			letter_close(&trial.letter);
		}
		um_spec_free(description);
		provider_close(&provider);
	}
}

TEST(every_single_bit)
{
	each_first(flip_everything);
}

TEST(every_length_of_the_body)
{
	each_first(cut_body);
}

static const json_t *
secrets_of(const struct provider *provider)
{
	return json_object_get(json_object_get(provider->root, "site"),
		"secrets");
}

/* The same kind of secret, and another: one character differs. */
static json_t *
other_secrets(const json_t *secrets)
{
	json_t *others = json_array();

	for (size_t i = 0; i < json_array_size(secrets); i++) {
		char *text = strdup(
			json_string_value(json_array_get(secrets, i)));
		char *end;

		assert_non_null(text);
		/* Not in what pads it, nor in bits that are left over. */
		end = text + strlen(text) - 3;
		*end = (char)(*end == '1' ? '2' : '1');
		json_array_append_new(others, json_string(text));
		free(text);
	}
	return others;
}

static void
read_one(const struct provider *provider, const struct um_spec *description,
	const json_t *delivery, bool is_right)
{
	struct um_event events[UM_EVENTS_MAX];
	enum um_verdict verdict;
	struct letter letter;
	size_t len;

	letter_open(&letter, provider, delivery);
	verdict = letter_read(&letter, description, false, events, &len);
	if (!is_right && verdict != UM_DELIVERY_UNSIGNED
		&& verdict != UM_DELIVERY_FORGED)
		fail_msg("%s: taken with another secret", provider->name);
	if (is_right)
		assert_events(delivery, events, len);
	letter_close(&letter);
}

static void
read_all(const struct provider *provider, const struct um_spec *description,
	bool is_right)
{
	const json_t *all = json_object_get(provider->root, "deliveries");

	for (size_t i = 0; i < json_array_size(all); i++)
		read_one(provider, description, json_array_get(all, i),
			is_right);
}

TEST(another_secret)
{
	size_t tried = 0, all = 0;

	for (size_t i = 0; delivery_file(i) != NULL; i++) {
		struct um_spec *description;
		struct provider provider;
		struct um_error err;
		json_t *others;

		provider_open(&provider, delivery_file(i));
		others = other_secrets(secrets_of(&provider));
		/* A public key that is changed may be none any more. */
		if (json_array_size(others) != 0
			&& provider_try(&provider, others, &description,
				&err)) {
			read_all(&provider, description, false);
			um_spec_free(description);
			tried++;
		}
		json_decref(others);
		provider_close(&provider);
		all++;
	}
	assert_in_range(tried, all - 3, all);
}

TEST(old_and_new_secrets)
{
	for (size_t i = 0; delivery_file(i / 2) != NULL; i++) {
		struct um_spec *description;
		struct provider provider;
		struct um_error err;
		json_t *secrets;

		provider_open(&provider, delivery_file(i / 2));
		secrets = other_secrets(secrets_of(&provider));
		/* Before the right ones, or after them. */
		if (i % 2 == 0) {
			json_array_extend(secrets,
				(json_t *)secrets_of(&provider));
		} else {
			json_t *right = json_copy(
				(json_t *)secrets_of(&provider));

			if (right == NULL)
				right = json_array();
			json_array_extend(right, secrets);
			json_decref(secrets);
			secrets = right;
		}
		if (provider_try(&provider, secrets, &description, &err)) {
			read_all(&provider, description, true);
			um_spec_free(description);
		}
		json_decref(secrets);
		provider_close(&provider);
	}
}

/* Nothing is ever verified "only if there is a secret". */
TEST(no_secret)
{
	for (size_t i = 0; delivery_file(i) != NULL; i++) {
		struct um_spec *description;
		struct provider provider;
		struct um_error err;

		provider_open(&provider, delivery_file(i));
		if (secrets_of(&provider) != NULL) {
			assert_false(provider_try(&provider, NULL, &description,
				&err));
			assert_null(description);
			assert_error(&err, "/verify: the configuration has no");
		}
		provider_close(&provider);
	}
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_single_bit),
		cmocka_unit_test(every_length_of_the_body),
		cmocka_unit_test(another_secret),
		cmocka_unit_test(old_and_new_secrets),
		cmocka_unit_test(no_secret),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
