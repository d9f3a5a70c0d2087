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
#include "operate/readings.h"
#include "operate/saved_request.h"
#include "operate/sign.h"
#include "operate/variants.h"

#define SECRETS_MAX 8
#define CONSTANTS_MAX 8

struct options {
	const char *delivery, *provider, *description, *certificate, *jwks_file;
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

/* Takes an option with a value; false if it is no option, or one too many. */
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
		{ "--jwks", &options->jwks_file },
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
			|| options->certificate != NULL
			|| options->jwks_file != NULL))
		return um_error(err,
			"--secret, --constant, --certificate and --jwks belong "
			"to --description; a provider has its own");
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

static void
put_answer(const struct um_spec *spec, struct um_buf *out)
{
	struct um_spec_answer answer = spec->answer;

	um_buf_printf(out, "answer: %d %s %s\n", answer.status,
		answer.body[0] != '\0' ? answer.content_type : "", answer.body);
}

/* What a request in the file is. */
enum what { WEBHOOK, CHALLENGE, BACK };

/* A GET is a challenge, or at the end of its path the browser's return. */
static enum what
what_is(const struct um_saved_request *request)
{
	struct um_str rest = request->line, path;

	if (!request->is_get)
		return WEBHOOK;
	um_str_cut(&rest, " ");
	path = um_str_cut(&rest, " ");
	path = um_str_cut(&path, "?");
	return um_str_take_suffix(&path, "/return") ? BACK : CHALLENGE;
}

/*
 * The secrets, of which the loaded description has only the keys: those of the
 * arguments, or of the provider's entry. NULL where there are none.
 */
static json_t *
secrets_of(const struct options *options, const char *config_path,
	enum what what)
{
	struct um_error ignored;
	json_t *list = NULL, *config = NULL;
	const json_t *entry;

	if (options->provider == NULL) {
		list = json_array();
		for (size_t i = 0; i < options->secrets_len; i++)
			json_array_append_new(list,
				json_string(options->secrets[i]));
		return list;
	}
	config = um_conf_read_file(config_path, &ignored);
	entry = json_object_get(json_object_get(config, "providers"),
		options->provider);
	if (what == BACK)
		list = json_object_get(entry, "return_secrets");
	if (list == NULL)
		list = json_object_get(entry, "secrets");
	json_incref(list);
	json_decref(config);
	return list;
}

/* What else could have been signed, or how, if the signature is not right. */
static void
put_causes(const struct options *options, const char *config_path,
	enum what what, enum um_verdict verdict, struct um_spec_part *part,
	const struct um_delivery *delivery,
	const struct um_saved_request *request, struct um_buf *out)
{
	json_t *secrets;

	if (verdict != UM_DELIVERY_FORGED && verdict != UM_DELIVERY_UNSIGNED)
		return;
	if (verdict == UM_DELIVERY_FORGED)
		um_readings_put(part, delivery, out);
	secrets = secrets_of(options, config_path, what);
	um_variants_put(part, delivery, request, secrets, out);
	json_decref(secrets);
}

/* Prints how it is read. */
static enum um_verdict
explain(struct um_spec *spec, enum what what,
	const struct um_delivery *delivery, json_t *description,
	struct um_buf *out)
{
	bool is_back = what == BACK;
	struct um_spec_part *part = is_back ? &spec->back : &spec->webhook;
	enum um_verdict verdict;

	um_buf_cat(out, "description: ", spec->path,
		is_back ? ", the browser's return\n" : "\n");
	verdict = um_explain(part,
		is_back ? json_object_get(description, "return") : description,
		delivery, what == CHALLENGE, out);
	if (verdict == UM_DELIVERY_GOOD && what == WEBHOOK)
		put_answer(spec, out);
	return verdict;
}

static enum um_verdict
sign(const struct um_spec_part *part, const struct um_delivery *delivery,
	struct um_saved_request *request, struct um_buf *out,
	struct um_error *err)
{
	enum um_verify_error error = um_sign(part, delivery, request);

	if (error != UM_VERIFY_OK) {
		um_error(err, "--sign: %s", um_verify_error_text(error));
		return UM_DELIVERY_UNSIGNED;
	}
	um_saved_request_put(request, out);
	return UM_DELIVERY_GOOD;
}

/* Explains or signs; the exit status. */
static int
run(const struct options *options, const char *config_path,
	struct um_spec *spec, struct um_saved_request *request,
	struct um_error *err)
{
	const char *type = um_saved_request_header("content-type", request);
	const struct um_delivery delivery = { .query = request->query,
		.content_type = um_str(type),
		.body = request->body,
		.header = um_saved_request_header,
		.arg = request,
		.now_ms = options->now_ms };
	enum um_verdict verdict = UM_DELIVERY_UNSIGNED;
	enum what what = what_is(request);
	struct um_buf out = { 0 };
	json_t *description = um_conf_read_file(spec->path, err);

	if (what == BACK && !spec->has_return)
		um_error(err, "%s: has no `return`", spec->path);
	else if (what == CHALLENGE && !spec->webhook.challenge.is_get)
		um_error(err, "%s: has no challenge that is a GET", spec->path);
	else if (options->sign)
		verdict = sign(what == BACK ? &spec->back : &spec->webhook,
			&delivery, request, &out, err);
	else if (description != NULL) {
		verdict = explain(spec, what, &delivery, description, &out);
		if (what != CHALLENGE)
			put_causes(options, config_path, what, verdict,
				what == BACK ? &spec->back : &spec->webhook,
				&delivery, request, &out);
	}
	if (!request->has_body && what == WEBHOOK)
		um_buf_puts(&out,
			"!! No empty line ends the headers: the file has no "
			"body.\n");
	fwrite(out.len != 0 ? out.ptr : "", 1, out.len, stdout);
	um_buf_free(&out);
	json_decref(description);
	return verdict == UM_DELIVERY_GOOD ? 0 : 1;
}

/* The description with the site's configuration, or with the arguments. */
static struct um_spec *
load(const struct options *options, const char *path, struct um_config **config,
	struct um_spec **own, struct um_error *err)
{
	const struct um_provider_env env = { .secrets = options->secrets,
		.secrets_len = options->secrets_len,
		.certificate = options->certificate,
		.jwks_file = options->jwks_file,
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
	struct um_spec *spec;
	int status = 1;

	if (!read_options(&options, args, len, err))
		return EX_USAGE;
	spec = load(&options, config_path, &config, &own, err);
	if (spec != NULL
		&& um_saved_request_read(&request, options.delivery, err))
		status = run(&options, config_path, spec, &request, err);
	um_saved_request_free(&request);
	um_spec_free(own);
	um_config_free(config);
	return status;
}
