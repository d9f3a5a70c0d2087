/* SPDX-License-Identifier: MIT */
#include "deliveries.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define FOLDER "tests/deliveries"

static int
compare(const void *a, const void *b)
{
	return strcmp(a, b);
}

const char *
delivery_file(size_t i)
{
	static char names[DELIVERY_FILES_MAX][64];
	static size_t len;
	const struct dirent *entry;
	DIR *dir;

	if (len != 0)
		return i < len ? names[i] : NULL;
	dir = opendir(FOLDER);
	if (dir == NULL) {
		fail_msg("no %s (the tests run at the top of the tree)",
			FOLDER);
		return NULL;
	}
	while ((entry = readdir(dir)) != NULL) {
		const char *dot = strrchr(entry->d_name, '.');

		if (dot == NULL || strcmp(dot, ".json") != 0)
			continue;
		assert_true(len < DELIVERY_FILES_MAX);
		snprintf(names[len++], sizeof(names[0]), "%.*s",
			(int)(dot - entry->d_name), entry->d_name);
	}
	closedir(dir);
	assert_true(len != 0);
	qsort(names, len, sizeof(names[0]), compare);
	return i < len ? names[i] : NULL;
}

static json_t *
read_json(const char *path)
{
	json_error_t err;
	json_t *root = json_load_file(path, JSON_REJECT_DUPLICATES, &err);

	if (root == NULL)
		fail_msg("%s:%d: %s", path, err.line, err.text);
	return root;
}

void
provider_open(struct provider *provider, const char *name)
{
	char path[128];
	FILE *shipped;

	*provider = (struct provider){ .name = name };
	snprintf(path, sizeof(path), FOLDER "/%s.json", name);
	provider->root = read_json(path);
	provider->now_ms = json_integer_value(
		json_object_get(provider->root, "now"));
	snprintf(provider->path, sizeof(provider->path),
		"lib/providers/%s.json", name);
	shipped = fopen(provider->path, "re");
	if (shipped != NULL)
		fclose(shipped);
	else
		snprintf(provider->path, sizeof(provider->path),
			"tests/descriptions/%s.json", name);
	provider->description = read_json(provider->path);
}

void
provider_close(struct provider *provider)
{
	json_decref(provider->root);
	json_decref(provider->description);
}

static const char *
constant(const char *name, size_t index, void *arg)
{
	const json_t *value = json_object_get(arg, name);

	if (json_is_array(value))
		return json_string_value(json_array_get(value, index));
	return index == 0 ? json_string_value(value) : NULL;
}

/* The strings of a list, which stay the list's. */
static size_t
strings_of(const char *out[static 8], const json_t *list)
{
	size_t len = json_array_size(list);

	assert_true(len <= 8);
	for (size_t i = 0; i < len; i++)
		out[i] = json_string_value(json_array_get(list, i));
	return len;
}

bool
provider_try(const struct provider *provider, const json_t *secrets,
	struct um_spec **out, struct um_error *err)
{
	const json_t *site = json_object_get(provider->root, "site");
	const char *texts[8] = { NULL }, *return_texts[8] = { NULL };
	const char *accounts[8] = { NULL };
	const char *mode = json_string_value(json_object_get(site, "mode"));
	struct um_provider_env env = {
		.secrets = texts,
		.return_secrets = return_texts,
		.accounts = accounts,
		.mode = mode == NULL                ? UM_MODE_DEFAULT
			: strcmp(mode, "test") == 0 ? UM_MODE_TEST
						    : UM_MODE_LIVE,
		.certificate = json_string_value(
			json_object_get(site, "certificate")),
		.constant = constant,
		.arg = json_object_get(site, "constants"),
	};

	env.secrets_len = strings_of(texts, secrets);
	env.return_secrets_len = strings_of(return_texts,
		json_object_get(site, "return_secrets"));
	env.accounts_len = strings_of(accounts,
		json_object_get(site, "accounts"));
	return um_spec_load(out, provider->path, &env, err);
}

struct um_spec *
provider_load_with(const struct provider *provider, const json_t *secrets)
{
	struct um_spec *spec;
	struct um_error err;

	if (!provider_try(provider, secrets, &spec, &err))
		fail_msg("%s", err.text);
	return spec;
}

struct um_spec *
provider_load(const struct provider *provider)
{
	return provider_load_with(provider,
		json_object_get(json_object_get(provider->root, "site"),
			"secrets"));
}

static char *
copy_of(const json_t *delivery, const char *key)
{
	const char *text = json_string_value(json_object_get(delivery, key));
	char *copy = strdup(text != NULL ? text : "");

	assert_non_null(copy);
	return copy;
}

void
delivery_copy_open(struct delivery_copy *copy, const struct provider *provider,
	const json_t *delivery)
{
	*copy = (struct delivery_copy){
		.headers = json_deep_copy(json_object_get(delivery, "headers")),
		.query = copy_of(delivery, "query"),
		.content_type = copy_of(delivery, "content_type"),
		.body = copy_of(delivery, "body"),
		.now_ms = provider->now_ms,
	};
	copy->body_len = strlen(copy->body);
}

void
delivery_copy_close(struct delivery_copy *copy)
{
	json_decref(copy->headers);
	free(copy->query);
	free(copy->content_type);
	free(copy->body);
}

static const char *
header(const char *name, void *arg)
{
	const struct delivery_copy *copy = arg;
	const char *key;
	json_t *value;

	if (copy->changed != NULL && strcasecmp(copy->changed, name) == 0)
		return copy->changed_to;
	json_object_foreach (copy->headers, key, value)
		if (strcasecmp(key, name) == 0)
			return json_string_value(value);
	return NULL;
}

enum um_verdict
delivery_copy_read(const struct delivery_copy *copy, const struct um_spec *spec,
	bool is_return, struct um_event events[static UM_EVENTS_MAX],
	size_t *len)
{
	/* Exactly as long as it is, so that ASan sees a step beyond. */
	char *body = malloc(copy->body_len + 1);
	struct um_delivery delivery = {
		.query = um_str(copy->query),
		.content_type = um_str(copy->content_type),
		.body = { body, copy->body_len },
		.header = header,
		.arg = (void *)copy,
		.now_ms = copy->now_ms,
	};
	enum um_verdict verdict;

	assert_non_null(body);
	memcpy(body, copy->body, copy->body_len);
	if (is_return) {
		verdict = um_spec_read_return(spec, &delivery, events);
		*len = verdict == UM_DELIVERY_GOOD;
	} else {
		verdict = um_spec_read(spec, &delivery, events, len);
	}
	free(body);
	return verdict;
}

const char *
verdict_word(enum um_verdict verdict)
{
	static const char *const words[] = { "good", "unsigned", "forged",
		"stale", "malformed" };

	return words[verdict];
}

const char *
effect_word(enum um_effect effect)
{
	static const char *const words[] = {
		[UM_EFFECT_IGNORE] = "ignore",
		[UM_EFFECT_PAID] = "paid",
		[UM_EFFECT_FAILED] = "failed",
		[UM_EFFECT_CANCELLED] = "cancelled",
		[UM_EFFECT_EXPIRED] = "expired",
		[UM_EFFECT_PROCESSING] = "processing",
		[UM_EFFECT_ATTEMPT_FAILED] = "attempt_failed",
		[UM_EFFECT_REFUNDED] = "refunded",
		[UM_EFFECT_OTHER_MODE] = "other_mode",
		[UM_EFFECT_OTHER_ACCOUNT] = "other_account",
		[UM_EFFECT_RECHECK] = "recheck",
	};

	return words[effect];
}

static const char *
text_of(const json_t *event, const char *key)
{
	const char *text = json_string_value(json_object_get(event, key));

	return text != NULL ? text : "";
}

static void
assert_event(const json_t *expected, const struct um_event *event)
{
	const char *id = text_of(expected, "id");
	const json_t *amount = json_object_get(expected, "amount");

	assert_string_equal(effect_word(event->effect),
		text_of(expected, "meaning"));
	assert_string_equal(event->type, text_of(expected, "type"));
	assert_string_equal(event->identity, text_of(expected, "identity"));
	assert_string_equal(event->reference, text_of(expected, "reference"));
	assert_string_equal(event->attempt, text_of(expected, "attempt"));
	assert_int_equal(event->has_id, id[0] != '\0');
	if (event->has_id) {
		char uuid[UM_UUID_TEXT_LEN + 1];

		um_uuid_format(uuid, event->id);
		assert_string_equal(uuid, id);
	}
	assert_int_equal(event->has_amount, amount != NULL);
	assert_int_equal(event->amount, json_integer_value(amount));
	assert_string_equal(event->currency, text_of(expected, "currency"));
}

void
assert_events(const json_t *delivery, const struct um_event *events, size_t len)
{
	const json_t *expected = json_object_get(delivery, "events");

	assert_int_equal(len, json_array_size(expected));
	for (size_t i = 0; i < len; i++)
		assert_event(json_array_get(expected, i), &events[i]);
}
