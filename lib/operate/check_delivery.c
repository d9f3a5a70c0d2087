/* SPDX-License-Identifier: MIT */
#include "operate/check_delivery.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

#include <jansson.h>

#include "config/config.h"
#include "core/clock.h"
#include "core/timestamp.h"
#include "description/spec_load.h"
#include "operate/explain.h"
#include "operate/saved_request.h"
#include "operate/sign.h"

#define SECRETS_MAX 8
#define CONSTANTS_MAX 8

struct options {
	const char *delivery, *provider, *description, *certificate;
	const char *secrets[SECRETS_MAX], *constants[CONSTANTS_MAX];
	size_t secrets_len, constants_len;
	int64_t now_ms;
	bool sign;
};

static bool
read_time(int64_t *out, const char *text)
{
	return um_timestamp_parse(out, um_str(text), UM_TIMESTAMP_UNIX)
		|| um_timestamp_parse(out, um_str(text), UM_TIMESTAMP_RFC3339);
}

/* Another value of an option that can be repeated. */
static bool
add(const char **list, size_t *len, size_t max, const char *value)
{
	if (*len == max)
		return false;
	list[(*len)++] = value;
	return true;
}

/* An option with a value; false if there are too many, or it is none. */
static bool
take_option(struct options *options, const char *name, const char *value)
{
	const struct {
		const char *name;
		const char **out;
	} single[] = {
		{ "--provider", &options->provider },
		{ "--description", &options->description },
		{ "--certificate", &options->certificate },
	};

	for (size_t i = 0; i < sizeof(single) / sizeof(single[0]); i++) {
		if (strcmp(name, single[i].name) != 0)
			continue;
		*single[i].out = value;
		return true;
	}
	if (strcmp(name, "--at") == 0)
		return read_time(&options->now_ms, value);
	if (strcmp(name, "--secret") == 0)
		return add(options->secrets, &options->secrets_len, SECRETS_MAX,
			value);
	return strcmp(name, "--constant") == 0 && strchr(value, '=') != NULL
		&& add(options->constants, &options->constants_len,
			CONSTANTS_MAX, value);
}

/* Messages name an option, and not its value, which may be a secret. */
static bool
read_options(struct options *options, char **args, size_t len,
	struct um_error *err)
{
	options->now_ms = um_clock_wall_ms();
	for (size_t i = 0; i < len; i++) {
		if (strcmp(args[i], "--sign") == 0) {
			options->sign = true;
		} else if (args[i][0] != '-' && options->delivery == NULL) {
			options->delivery = args[i];
		} else if (args[i][0] != '-') {
			return um_error(err, "one FILE at a time");
		} else if (i + 1 == len
			|| !take_option(options, args[i], args[i + 1])) {
			return um_error(err,
				"%s is no option, or has no such value",
				args[i]);
		} else {
			i++;
		}
	}
	if (options->delivery == NULL)
		return um_error(err, "which FILE?");
	if ((options->provider == NULL) == (options->description == NULL))
		return um_error(err, "either --provider or --description");
	if (options->provider != NULL
		&& (options->secrets_len != 0 || options->constants_len != 0
			|| options->certificate != NULL))
		return um_error(err,
			"--secret, --constant and --certificate belong to "
			"--description; a provider has its own");
	return true;
}

/* NAME=VALUE, as often as a constant has values. */
static const char *
constant(const char *name, size_t index, void *arg)
{
	const struct options *options = arg;
	size_t len = strlen(name);

	for (size_t i = 0; i < options->constants_len; i++)
		if (strncmp(options->constants[i], name, len) == 0
			&& options->constants[i][len] == '=' && index-- == 0)
			return options->constants[i] + len + 1;
	return NULL;
}

/* One that differs from the file in what editors and dashboards change. */
static bool
put_reading(struct um_buf *out, struct um_str body, int number)
{
	json_t *json = NULL;
	char *text = NULL;

	switch (number) {
	case 0: /* without the line end at its end */
		while (body.len != 0
			&& (body.ptr[body.len - 1] == '\n'
				|| body.ptr[body.len - 1] == '\r'))
			body.len--;
		um_buf_put(out, body.ptr, body.len);
		return true;
	case 1: /* with one more */
		um_buf_put(out, body.ptr, body.len);
		um_buf_puts(out, "\n");
		return true;
	case 2: /* without carriage returns */
		for (size_t i = 0; i < body.len; i++)
			if (body.ptr[i] != '\r')
				um_buf_put(out, body.ptr + i, 1);
		return true;
	default: /* JSON without blanks; with \/ as PHP writes it */
		json = json_loadb(body.ptr, body.len, 0, NULL);
		text = json_dumps(json,
			JSON_COMPACT | (number == 4 ? JSON_ESCAPE_SLASH : 0U));
		um_buf_puts(out, text != NULL ? text : "");
		json_decref(json);
		free(text);
		return json != NULL;
	}
}

static size_t
first_difference(struct um_str a, struct um_str b)
{
	size_t i = 0;

	while (i < a.len && i < b.len && a.ptr[i] == b.ptr[i])
		i++;
	return i;
}

/* Whether the body of the file is not quite the one that was signed. */
static void
put_other_readings(const struct um_spec_part *part,
	const struct um_delivery *delivery, struct um_buf *out)
{
	static const char *const names[] = { "without the line end at its end",
		"with a line end at its end", "without carriage returns",
		"as JSON without blanks and line ends",
		"the same, with \\/ for each slash" };
	struct um_event *events = calloc(UM_EVENTS_MAX, sizeof(events[0]));

	for (int i = 0; i < 5 && events != NULL; i++) {
		struct um_delivery other = *delivery;
		struct um_buf body = { 0 };
		enum um_verdict verdict = UM_DELIVERY_FORGED;
		size_t len;

		if (put_reading(&body, delivery->body, i)) {
			other.body = um_buf_str(&body);
			verdict = um_spec_read(part, &other, events, &len);
		}
		if (verdict != UM_DELIVERY_UNSIGNED
			&& verdict != UM_DELIVERY_FORGED)
			um_buf_printf(out,
				"!! The signature is right for the body %s: "
				"the file differs from what was signed, first "
				"at byte %zu of the body.\n",
				names[i],
				first_difference(delivery->body, other.body));
		um_buf_free(&body);
	}
	free(events);
}

static bool
set(const char *name, struct um_str value, void *arg)
{
	return um_saved_request_set(arg, name, value);
}

static void
put_answer(const struct um_spec *spec, struct um_buf *out)
{
	struct um_spec_answer answer = spec->answer;

	um_buf_printf(out, "answer: %d %s %s\n", answer.status,
		answer.body[0] != '\0' ? answer.content_type : "", answer.body);
}

/* Explains or signs; the exit status. */
static int
run(const struct options *options, const struct um_spec *spec,
	struct um_saved_request *request, struct um_error *err)
{
	const struct um_spec_part *part = &spec->webhook;
	const char *type = um_saved_request_header("content-type", request);
	struct um_delivery delivery = { .query = request->query,
		.content_type = um_str(type),
		.body = request->body,
		.header = um_saved_request_header,
		.arg = request,
		.now_ms = options->now_ms };
	enum um_verdict verdict = UM_DELIVERY_GOOD;
	struct um_buf out = { 0 };
	json_t *description = um_conf_read_file(spec->path, err);

	if (options->sign) {
		enum um_verify_error error = um_sign(part, &delivery, set);

		if (error != UM_VERIFY_OK)
			um_error(err, "--sign: %s",
				um_verify_error_text(error));
		verdict = error != UM_VERIFY_OK ? UM_DELIVERY_UNSIGNED
						: verdict;
		if (error == UM_VERIFY_OK)
			um_saved_request_put(request, &out);
	} else if (description != NULL) {
		um_buf_cat(&out, "description: ", spec->path, "\n");
		verdict = um_explain(part, description, &delivery, &out);
		if (verdict == UM_DELIVERY_FORGED)
			put_other_readings(part, &delivery, &out);
		if (verdict == UM_DELIVERY_GOOD)
			put_answer(spec, &out);
	}
	fwrite(out.len != 0 ? out.ptr : "", 1, out.len, stdout);
	um_buf_free(&out);
	json_decref(description);
	return verdict == UM_DELIVERY_GOOD ? 0 : 1;
}

/* The description with the site's configuration, or with the arguments. */
static const struct um_spec *
load(const struct options *options, const char *path, struct um_config **config,
	struct um_spec **own, struct um_error *err)
{
	const struct um_provider_env env = { .secrets = options->secrets,
		.secrets_len = options->secrets_len,
		.certificate = options->certificate,
		.constant = constant,
		.arg = (void *)options };
	const struct um_provider *provider;

	if (options->description != NULL) {
		if (um_spec_load(own, options->description, &env, err)
			&& !(*own)->has_webhook) {
			um_error(err, "%s: has no webhook",
				options->description);
			return NULL;
		}
		return *own;
	}
	if (!um_config_load(config, path, err))
		return NULL;
	provider = um_config_provider(*config, um_str(options->provider));
	if (provider == NULL || provider->spec == NULL) {
		um_error(err,
			"the configuration has no such provider, or it "
			"has no description with a webhook");
		return NULL;
	}
	return provider->spec;
}

int
um_check_delivery(char **args, size_t len, const char *config_path,
	struct um_error *err)
{
	struct options options = { 0 };
	struct um_saved_request request = { 0 };
	struct um_config *config = NULL;
	struct um_spec *own = NULL;
	const struct um_spec *spec;
	int status = 1;

	if (!read_options(&options, args, len, err))
		return EX_USAGE;
	spec = load(&options, config_path, &config, &own, err);
	if (spec != NULL
		&& um_saved_request_read(&request, options.delivery, err))
		status = run(&options, spec, &request, err);
	um_saved_request_free(&request);
	um_spec_free(own);
	um_config_free(config);
	return status;
}
