/* SPDX-License-Identifier: MIT */
#include "server/check_delivery.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "config/config.h"
#include "core/clock.h"
#include "core/timestamp.h"
#include "server/saved_request.h"
#include "webhook/explain.h"
#include "webhook/sign.h"

#define SECRETS_MAX 8
#define CONSTANTS_MAX 8

static const char usage[] =
	"usage: webhook --check --delivery FILE --provider NAME [OPTION]...\n"
	"       webhook --check --delivery FILE --description FILE.json\n"
	"               [--secret SECRET]... [--constant NAME=VALUE]...\n"
	"               [--certificate FILE.pem] [OPTION]...\n\n"
	"Says how a request that was saved would be read, and writes nothing. "
	"FILE has its\n"
	"headers, an empty line, and the body to its last byte; before them "
	"may "
	"be the first\n"
	"line (POST /webhook/NAME?a=b HTTP/1.1). NAME is a provider of the "
	"configuration\n"
	"that URLMODE_CONFIG names. Others can see the arguments of a program: "
	"give it the\n"
	"secrets of tests only.\n\n"
	"  --at TIME  as if it arrived then: Unix seconds, or "
	"2023-11-14T22:13:20Z\n"
	"  --sign     prints the request with a signature that is made with "
	"the "
	"secret\n";

struct options {
	const char *delivery, *provider, *description, *certificate;
	const char *secrets[SECRETS_MAX], *constants[CONSTANTS_MAX];
	size_t secrets_len, constants_len;
	int64_t now_ms;
	bool sign;
};

bool
um_check_delivery_is_meant(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (strcmp(argv[i], "--delivery") == 0)
			return true;
	return false;
}

static bool
read_time(int64_t *out, const char *text)
{
	return um_timestamp_parse(out, um_str(text), UM_TIMESTAMP_UNIX)
		|| um_timestamp_parse(out, um_str(text), UM_TIMESTAMP_RFC3339);
}

/* An option with a value; false if there are too many, or it is none. */
static bool
take_option(struct options *options, const char *name, const char *value)
{
	const struct {
		const char *name;
		const char **out;
	} single[] = {
		{ "--delivery", &options->delivery },
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
	if (strcmp(name, "--secret") == 0
		&& options->secrets_len < SECRETS_MAX) {
		options->secrets[options->secrets_len++] = value;
		return true;
	}
	if (strcmp(name, "--constant") == 0
		&& options->constants_len < CONSTANTS_MAX
		&& strchr(value, '=') != NULL) {
		options->constants[options->constants_len++] = value;
		return true;
	}
	return false;
}

static bool
read_options(struct options *options, int argc, char **argv)
{
	options->now_ms = um_clock_wall_ms();
	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--check") == 0)
			continue;
		if (strcmp(argv[i], "--sign") == 0) {
			options->sign = true;
			continue;
		}
		if (i + 1 == argc
			|| !take_option(options, argv[i], argv[i + 1]))
			return false;
		i++;
	}
	return options->delivery != NULL
		&& (options->provider == NULL) != (options->description == NULL)
		&& (options->provider == NULL
			|| (options->secrets_len == 0
				&& options->constants_len == 0
				&& options->certificate == NULL));
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
			verdict = um_spec_part_read(part, &other, events,
				part->has_events ? UM_EVENTS_MAX : 1, &len);
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
	struct um_spec_answer answer = um_spec_answer(spec);

	um_buf_printf(out, "answer: %d %s %s\n", answer.status,
		answer.body[0] != '\0' ? answer.content_type : "", answer.body);
}

/* Explains or signs; the exit status. */
static int
run(const struct options *options, const struct um_spec *spec,
	struct um_saved_request *request, struct um_error *err)
{
	const struct um_spec_part *part = um_spec_webhook(spec);
	const char *type = um_saved_request_header("content-type", request);
	struct um_delivery delivery = { .query = request->query,
		.content_type = um_str(type),
		.body = request->body,
		.header = um_saved_request_header,
		.arg = request,
		.now_ms = options->now_ms };
	enum um_verdict verdict = UM_DELIVERY_GOOD;
	struct um_buf out = { 0 };
	json_t *description = um_conf_read_file(um_spec_path(spec), err);

	if (options->sign) {
		const char *reason = um_sign(part, &delivery, set);

		if (reason != NULL)
			um_error(err, "--sign: %s", reason);
		verdict = reason != NULL ? UM_DELIVERY_UNSIGNED : verdict;
		if (reason == NULL)
			um_saved_request_put(request, &out);
	} else if (description != NULL) {
		um_buf_cat(&out, "description: ", um_spec_path(spec), "\n");
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
load(const struct options *options, struct um_config **config,
	struct um_spec **own, struct um_error *err)
{
	const char *path = getenv("URLMODE_CONFIG");
	const struct um_provider_env env = { .secrets = options->secrets,
		.secrets_len = options->secrets_len,
		.certificate = options->certificate,
		.constant = constant,
		.arg = (void *)options };
	const struct um_provider *provider;

	if (options->description != NULL) {
		if (um_spec_load(own, options->description, &env, err)
			&& !um_spec_has_webhook(*own)) {
			um_error(err, "%s: has no webhook",
				options->description);
			return NULL;
		}
		return *own;
	}
	if (!um_config_load(config, path != NULL ? path : UM_CONFIG_FILE, err))
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
um_check_delivery(int argc, char **argv)
{
	struct options options = { 0 };
	struct um_saved_request request = { 0 };
	struct um_config *config = NULL;
	struct um_spec *own = NULL;
	const struct um_spec *spec;
	struct um_error err = { "" };
	int status = 1;

	if (!read_options(&options, argc, argv)) {
		fputs(usage, stderr);
		return 2;
	}
	spec = load(&options, &config, &own, &err);
	if (spec != NULL
		&& um_saved_request_read(&request, options.delivery, &err))
		status = run(&options, spec, &request, &err);
	if (err.text[0] != '\0')
		fprintf(stderr, "urlmode webhook: %s\n", err.text);
	um_saved_request_free(&request);
	um_spec_free(own);
	um_config_free(config);
	return status;
}
