/* SPDX-License-Identifier: MIT */
/* Deliveries with one thing changed: a bit, a byte, a key. */
#include "deliveries.h"

#include <stdlib.h>
#include <string.h>

#include "operate/explain.h"

/* A good delivery, what it is read as, and the copy that is changed. */
struct target {
	const struct provider *provider;
	const struct um_spec *spec;
	const json_t *delivery;
	const char *trust;
	bool is_return;
	struct delivery_copy copy;
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
try(struct target *target, const char *where, size_t at, bool may_be_same)
{
	struct um_event events[UM_EVENTS_MAX];
	bool same;
	size_t len;

	if (delivery_copy_read(&target->copy, target->spec, target->is_return,
		    events, &len)
		!= UM_DELIVERY_GOOD)
		return;
	same = len == target->len;
	for (size_t i = 0; same && i < len; i++)
		same = is_same(&events[i], &target->events[i]);
	if (may_be_same ? !same && decides_something(events, len) : true)
		fail_msg("%s: taken although its %s changed at %zu",
			target->provider->name, where, at);
}

static void
flip_bits(struct target *target, const char *where, char *text, size_t len,
	bool is_text, bool may_be_same)
{
	for (size_t i = 0; i < 8 * len; i += mutation_step()) {
		char bit = (char)(1U << i % 8);

		text[i / 8] = (char)(text[i / 8] ^ bit);
		/* What comes as text has no NUL. */
		if (!is_text || text[i / 8] != '\0')
			try(target, where, i, may_be_same);
		text[i / 8] = (char)(text[i / 8] ^ bit);
	}
}

static void
flip_headers(struct target *target)
{
	json_t *headers = json_object_get(target->delivery, "headers");
	const char *key;
	json_t *value;

	json_object_foreach (headers, key, value) {
		char *text = strdup(json_string_value(value));

		assert_non_null(text);
		target->copy.changed = key;
		target->copy.changed_to = text;
		flip_bits(target, key, text, strlen(text), true, true);
		target->copy.changed = NULL;
		free(text);
	}
}

static void
flip_everything(struct target *target)
{
	struct delivery_copy *copy = &target->copy;
	bool whole = strcmp(target->trust, "body") == 0;

	flip_headers(target);
	flip_bits(target, "body", copy->body, copy->body_len, false, !whole);
	flip_bits(target, "query", copy->query, strlen(copy->query), true,
		true);
	flip_bits(target, "content type", copy->content_type,
		strlen(copy->content_type), true, true);
}

static void
cut_body(struct target *target)
{
	struct delivery_copy *copy = &target->copy;
	bool whole = strcmp(target->trust, "body") == 0;
	size_t len = copy->body_len;

	for (copy->body_len = 0; copy->body_len < len;
		copy->body_len += mutation_step())
		try(target, "length", copy->body_len, !whole);
	/* The NUL at the end of it. */
	copy->body_len = len + 1;
	try(target, "length", copy->body_len, !whole);
	copy->body_len = len;
}

/* The first delivery, and the first return, that is good. */
static void
each_first(void (*tests)(struct target *target))
{
	for (size_t i = 0; delivery_file(i) != NULL; i++) {
		struct provider provider;
		struct um_spec *spec;

		row_begin("%s", delivery_file(i));
		provider_open(&provider, delivery_file(i));
		spec = provider_load(&provider);
		for (size_t back = 0; back < 2; back++) {
			struct target target = { .provider = &provider,
				.spec = spec,
				.is_return = back == 1 };
			const json_t *part = back == 1
				? json_object_get(provider.description,
					"return")
				: provider.description;

			target.delivery =
				json_array_get(json_object_get(provider.root,
						       back == 1
							       ? "returns"
							       : "deliveries"),
					0);
			if (target.delivery == NULL)
				continue;
			assert_true(is_good(target.delivery));
			target.trust = json_string_value(
				json_object_get(part, "trust"));
			delivery_copy_open(&target.copy, &provider,
				target.delivery);
			assert_int_equal(delivery_copy_read(&target.copy, spec,
						 target.is_return,
						 target.events, &target.len),
				UM_DELIVERY_GOOD);
			tests(&target);
			delivery_copy_close(&target.copy);
		}
		um_spec_free(spec);
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

/* Nothing signs a GET, and some providers not the POST that asks for an answer. */
static bool
is_unsigned_challenge(const struct provider *provider,
	const struct delivery_copy *copy)
{
	const json_t *challenge = json_object_get(provider->description,
		"challenge");

	return copy->is_get
		|| (json_is_false(json_object_get(challenge, "signed"))
			&& copy->reply->given);
}

static void
read_one(const struct provider *provider, const struct um_spec *spec,
	const json_t *delivery, bool is_right)
{
	struct um_event events[UM_EVENTS_MAX];
	struct um_reply reply = { 0 };
	enum um_verdict verdict;
	struct delivery_copy copy;
	size_t len;

	delivery_copy_open(&copy, provider, delivery);
	copy.reply = &reply;
	verdict = delivery_copy_read(&copy, spec, false, events, &len);
	if (!is_right && verdict != UM_DELIVERY_UNSIGNED
		&& verdict != UM_DELIVERY_FORGED
		&& !is_unsigned_challenge(provider, &copy))
		fail_msg("%s: taken with another secret", provider->name);
	if (is_right) {
		assert_string_equal(um_explain_verdict(verdict),
			json_string_value(
				json_object_get(delivery, "verdict")));
		assert_events(delivery, events, len);
	}
	um_buf_free(&reply.body);
	delivery_copy_close(&copy);
}

static void
read_all(const struct provider *provider, const struct um_spec *spec,
	bool is_right)
{
	const json_t *all = json_object_get(provider->root, "deliveries");

	for (size_t i = 0; i < json_array_size(all); i++)
		read_one(provider, spec, json_array_get(all, i), is_right);
}

TEST(another_secret)
{
	size_t tried = 0, have_secrets = 0;

	for (size_t i = 0; delivery_file(i) != NULL; i++) {
		struct um_spec *spec;
		struct provider provider;
		struct um_error err;
		json_t *others;

		provider_open(&provider, delivery_file(i));
		others = other_secrets(secrets_of(&provider));
		/* A public key that is changed may be none any more. */
		if (json_array_size(others) != 0
			&& provider_try(&provider, others, &spec, &err)) {
			read_all(&provider, spec, false);
			um_spec_free(spec);
			tried++;
		}
		have_secrets += json_array_size(others) != 0;
		json_decref(others);
		provider_close(&provider);
	}
	assert_in_range(tried, have_secrets - 1, have_secrets);
}

/* One list after the other; the caller gives it back. */
static json_t *
joined(const json_t *first, const json_t *second)
{
	json_t *list = json_array();

	assert_int_equal(json_array_extend(list, (json_t *)first), 0);
	assert_int_equal(json_array_extend(list, (json_t *)second), 0);
	return list;
}

/* Whether the description takes these secrets, and then its deliveries. */
static bool
serves(const struct provider *provider, const json_t *secrets)
{
	struct um_spec *spec;
	struct um_error err;

	if (!provider_try(provider, secrets, &spec, &err))
		return false;
	read_all(provider, spec, true);
	um_spec_free(spec);
	return true;
}

/*
 * While secrets are rotated both the old and the new one are configured, in
 * either order: what is signed with the one is taken beside the other. (With
 * the other alone it is not: another_secret.)
 */
TEST(old_and_new_secrets)
{
	size_t tried = 0, all = 0;

	for (size_t i = 0; delivery_file(i) != NULL; i++) {
		const json_t *right;
		struct provider provider;

		provider_open(&provider, delivery_file(i));
		right = secrets_of(&provider);
		if (json_array_size(right) != 0) {
			json_t *others = other_secrets(right);
			json_t *before = joined(others, right);
			json_t *after = joined(right, others);

			tried += serves(&provider, before)
				&& serves(&provider, after);
			all++;
			json_decref(others);
			json_decref(before);
			json_decref(after);
		}
		provider_close(&provider);
	}
	/* A public key that is changed may be none any more. */
	assert_in_range(tried, all - 2, all);
}

/* Nothing is ever verified "only if there is a secret". */
TEST(no_secret)
{
	for (size_t i = 0; delivery_file(i) != NULL; i++) {
		struct um_spec *spec;
		struct provider provider;
		struct um_error err;

		row_begin("%s", delivery_file(i));
		provider_open(&provider, delivery_file(i));
		if (secrets_of(&provider) != NULL) {
			assert_false(
				provider_try(&provider, NULL, &spec, &err));
			assert_null(spec);
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
