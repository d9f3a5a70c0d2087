/* SPDX-License-Identifier: MIT */
#include "deliveries.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/conf.h"

#define FOLDER "build/deliveries"

/* The file and the delivery that are tried, for what fails. */
static char current[160];

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

static const char *
text_of(const json_t *event, const char *key)
{
	const char *text = json_string_value(json_object_get(event, key));

	return text != NULL ? text : "";
}

/* A key that nobody reads would look as if it were tested. */
static void
check_keys(const char *where, json_t *object, const char *const *keys)
{
	struct um_error err;
	struct um_conf_loc at = um_conf_root(where, &err);

	if (!um_conf_check_keys(&at, object, keys))
		fail_msg("%s", err.text);
}

static void
check_deliveries(const char *file, const char *list, json_t *root)
{
	static const char *const keys[] = { "name", "query", "content_type",
		"headers", "body", "verdict", "events", "method", "reply",
		NULL };
	static const char *const event_keys[] = { "effect", "type", "identity",
		"id", "reference", "refund", "checkout", "amount", "currency",
		"details", NULL };
	const json_t *all = json_object_get(root, list);

	for (size_t i = 0; i < json_array_size(all); i++) {
		json_t *delivery = json_array_get(all, i);
		const json_t *events = json_object_get(delivery, "events");
		char where[160];

		snprintf(where, sizeof(where), "%s, %s", file,
			text_of(delivery, "name"));
		check_keys(where, delivery, keys);
		for (size_t j = 0; j < json_array_size(events); j++)
			check_keys(where, json_array_get(events, j),
				event_keys);
	}
}

void
deliveries_check(const char *file, json_t *root)
{
	static const char *const keys[] = { "now", "site", "answer",
		"deliveries", "returns", NULL };
	static const char *const site_keys[] = { "kind", "secrets",
		"return_secrets", "certificate", "jwks_file", "constants",
		"mode", "accounts", NULL };

	check_keys(file, root, keys);
	check_keys(file, json_object_get(root, "site"), site_keys);
	check_deliveries(file, "deliveries", root);
	check_deliveries(file, "returns", root);
}

void
provider_open(struct provider *provider, const char *name)
{
	char path[128];
	FILE *example;

	*provider = (struct provider){ .name = name };
	snprintf(path, sizeof(path), FOLDER "/%s.json", name);
	provider->root = read_json(path);
	deliveries_check(path, provider->root);
	provider->now_ms = json_integer_value(
		json_object_get(provider->root, "now"));
	snprintf(provider->path, sizeof(provider->path),
		"tests/deliveries/descriptions/%s.json", name);
	example = fopen(provider->path, "re");
	if (example != NULL)
		fclose(example);
	else
		snprintf(provider->path, sizeof(provider->path),
			"lib/providers/%s.json", name);
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
		.jwks_file = json_string_value(
			json_object_get(site, "jwks_file")),
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
	snprintf(current, sizeof(current), FOLDER "/%s.json, %s",
		provider->name, text_of(delivery, "name"));
	*copy = (struct delivery_copy){
		.headers = json_deep_copy(json_object_get(delivery, "headers")),
		.query = copy_of(delivery, "query"),
		.content_type = copy_of(delivery, "content_type"),
		.body = copy_of(delivery, "body"),
		.is_get = strcmp(text_of(delivery, "method"), "GET") == 0,
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
	struct um_reply unread = { 0 };
	/* Exactly as long as it is, so that ASan sees a step beyond. */
	char *body = malloc(copy->body_len + 1);
	struct um_delivery delivery = {
		.query = um_str(copy->query),
		.content_type = um_str(copy->content_type),
		.body = { body, copy->body_len },
		.header = header,
		.arg = (void *)copy,
		.now_ms = copy->now_ms,
		.is_get = copy->is_get,
		.reply = copy->reply != NULL ? copy->reply : &unread,
	};
	enum um_verdict verdict;

	assert_non_null(body);
	memcpy(body, copy->body, copy->body_len);
	verdict = um_spec_read(is_return ? &spec->back : &spec->webhook,
		&delivery, events, len);
	um_buf_free(&unread.body);
	free(body);
	return verdict;
}

const char *
effect_word(enum um_effect effect)
{
	static const char *const words[] = {
		[UM_EFFECT_IGNORE] = "ignore",
		[UM_EFFECT_PAID] = "paid",
		[UM_EFFECT_ACCEPTED] = "accepted",
		[UM_EFFECT_FAILED] = "failed",
		[UM_EFFECT_CANCELLED] = "cancelled",
		[UM_EFFECT_EXPIRED] = "expired",
		[UM_EFFECT_PROCESSING] = "processing",
		[UM_EFFECT_ATTEMPT_FAILED] = "attempt_failed",
		[UM_EFFECT_REFUNDED] = "refunded",
		[UM_EFFECT_REFUND_REVERSED] = "refund_reversed",
		[UM_EFFECT_DISPUTED] = "disputed",
		[UM_EFFECT_RENEWED] = "renewed",
		[UM_EFFECT_NAMED] = "named",
		[UM_EFFECT_SUBSCRIPTION] = "subscription",
		[UM_EFFECT_OTHER_MODE] = "other_mode",
		[UM_EFFECT_OTHER_ACCOUNT] = "other_account",
		[UM_EFFECT_RECHECK] = "recheck",
	};

	return words[effect];
}

static void
assert_text(const char *is, const json_t *expected, const char *key, size_t i)
{
	if (strcmp(is, text_of(expected, key)) != 0)
		fail_msg("%s: the %s of event %zu is `%s`, not `%s`", current,
			key, i, is, text_of(expected, key));
}

/* Without any, none are expected. */
static void
assert_details(const json_t *expected, const struct um_details *details,
	size_t i)
{
	struct um_buf put = { 0 };
	json_t *is;

	um_details_put(&put, details);
	is = json_loadb(put.len != 0 ? put.ptr : "", put.len, 0, NULL);
	if (expected == NULL ? is != NULL : !json_equal(is, expected))
		fail_msg("%s: the details of event %zu are `%.*s`", current, i,
			(int)put.len, put.len != 0 ? put.ptr : "");
	json_decref(is);
	um_buf_free(&put);
}

static void
assert_event(const json_t *expected, const struct um_event *event, size_t i)
{
	const json_t *amount = json_object_get(expected, "amount");
	char uuid[UM_UUID_TEXT_LEN + 1] = "", minor[24] = "";

	if (event->has_id)
		um_uuid_format(uuid, event->id);
	assert_text(effect_word(event->effect), expected, "effect", i);
	assert_text(event->type, expected, "type", i);
	assert_text(event->identity, expected, "identity", i);
	assert_text(event->reference, expected, "reference", i);
	assert_text(event->refund, expected, "refund", i);
	assert_text(event->checkout, expected, "checkout", i);
	assert_text(event->currency, expected, "currency", i);
	assert_text(uuid, expected, "id", i);
	assert_details(json_object_get(expected, "details"), &event->details,
		i);
	if (event->has_amount)
		snprintf(minor, sizeof(minor), "%lld",
			(long long)event->amount);
	if (event->has_amount != (amount != NULL)
		|| event->amount != json_integer_value(amount))
		fail_msg("%s: the amount of event %zu is `%s`, not `%lld`",
			current, i, minor, json_integer_value(amount));
}

void
assert_events(const json_t *delivery, const struct um_event *events, size_t len)
{
	const json_t *expected = json_object_get(delivery, "events");

	if (len != json_array_size(expected))
		fail_msg("%s: it has %zu events, not %zu", current, len,
			json_array_size(expected));
	for (size_t i = 0; i < len; i++)
		assert_event(json_array_get(expected, i), &events[i], i);
}
