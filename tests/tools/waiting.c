/* SPDX-License-Identifier: MIT */
/*
 * The waiting side in C, as tests/waiting/README.md describes a driver. It
 * creates and claims accounts, and waits for one elicitation at a time.
 */
#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/um_wait.h"

#define REQUEST_MAX 65536

static const char *
text(const json_t *options, const char *name)
{
	return json_string_value(json_object_get(options, name));
}

static json_t *
failure(const char *code, const struct um_wait_error *err)
{
	return json_pack("{s:{s:s, s:s}}", "error", "code", code, "message",
		err->text);
}

static json_t *
create(struct um_wait *wait, const json_t *options)
{
	const json_t *ttl = json_object_get(options, "ttl_ms");
	const struct um_wait_ask ask = {
		.provider = text(options, "provider"),
		.kind = text(options, "kind"),
		.subject = text(options, "subject"),
		.session = text(options, "session"),
		.requester = "The driver in C",
		.target_url = text(options, "target_url"),
		.ttl_ms = ttl != NULL ? json_integer_value(ttl) : 300000,
	};
	struct um_wait_asked asked;
	struct um_wait_error err;

	if (!um_wait_create(wait, &ask, &asked, &err))
		return failure("DATABASE", &err);
	return json_pack("{s:{s:s, s:s, s:b}}", "answer", "elicitation_id",
		asked.id, "url", asked.url, "resumed", false);
}

static json_t *
wait_for(struct um_wait *wait, const json_t *options,
	struct um_wait_outcome *outcome)
{
	const json_t *timeout = json_object_get(options, "timeout_ms");
	struct um_wait_error err;
	enum um_wait_end end;
	json_t *answer;

	um_wait_outcome_free(outcome);
	end = um_wait_for(wait, text(options, "elicitation_id"),
		text(options, "subject"), text(options, "session"),
		timeout != NULL ? (int)json_integer_value(timeout) : INT_MAX,
		outcome, &err);
	if (end == UM_WAIT_TIMEOUT)
		return failure("ELICITATION_TIMEOUT", &err);
	if (end == UM_WAIT_FAILED)
		return failure("FAILED", &err);
	answer = json_pack("{s:s, s:s, s:s*}", "action", outcome->action,
		"reason", outcome->reason, "reference", outcome->reference);
	if (outcome->result != NULL)
		json_object_set_new(answer, "result",
			json_loads(outcome->result, 0, NULL));
	return json_pack("{s:o}", "answer", answer);
}

/* Claims the outcome of the last wait. */
static json_t *
claim(struct um_wait *wait, const json_t *options,
	const struct um_wait_outcome *outcome)
{
	struct um_wait_error err;
	bool claimed = false;

	if (!um_wait_claim(wait, text(options, "elicitation_id"),
		    text(options, "subject"), text(options, "session"), outcome,
		    &claimed, &err))
		return failure("FAILED", &err);
	return json_pack("{s:b}", "answer", claimed);
}

int
main(void)
{
	static char line[REQUEST_MAX];
	struct um_wait_outcome outcome = { 0 };
	struct um_wait_error err;
	struct um_wait *wait;

	if (!um_wait_open(&wait, getenv("URLMODE_DATABASE_URL"),
		    getenv("URLMODE_KEYS_FILE"), getenv("URLMODE_BASE_URL"),
		    &err)) {
		fprintf(stderr, "waiting: %s\n", err.text);
		return EXIT_FAILURE;
	}
	while (fgets(line, sizeof(line), stdin) != NULL) {
		json_t *request = json_loads(line, 0, NULL);
		const char *verb = text(request, "do");
		const json_t *options = json_object_get(request, "with");
		json_t *said = NULL;

		if (verb != NULL && strcmp(verb, "create") == 0)
			said = create(wait, options);
		else if (verb != NULL && strcmp(verb, "wait") == 0)
			said = wait_for(wait, options, &outcome);
		else if (verb != NULL && strcmp(verb, "claim") == 0)
			said = claim(wait, options, &outcome);
		if (said == NULL)
			return EXIT_FAILURE;
		json_object_set(said, "id", json_object_get(request, "id"));
		json_dumpf(said, stdout, JSON_COMPACT);
		putchar('\n');
		fflush(stdout);
		json_decref(said);
		json_decref(request);
	}
	um_wait_outcome_free(&outcome);
	um_wait_close(wait);
	return EXIT_SUCCESS;
}
