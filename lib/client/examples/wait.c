/* SPDX-License-Identifier: MIT */
/*
 * An MCP server's waiting side in C: creates an elicitation, waits, opens the
 * result, and claims it.
 *
 *     cc -Ilib/client lib/client/examples/wait.c build/liburlmode.a -lpq -lcrypto -o wait
 *     URLMODE_DATABASE_URL= URLMODE_KEYS_FILE= URLMODE_BASE_URL= ./wait SUBJECT
 */
#include <stdio.h>
#include <stdlib.h>

#include "um_wait.h"

#define MINUTES_5_MS 300000

int
main(int argc, char **argv)
{
	const struct um_wait_ask ask = {
		.provider = "demo",
		.kind = "oauth",
		.subject = argc > 1 ? argv[1] : "user-42",
		.requester = "An example in C",
		.target_url = "https://provider.example/authorize?client_id=a",
		.ttl_ms = MINUTES_5_MS,
	};
	struct um_wait *wait;
	struct um_wait_asked asked;
	struct um_wait_outcome outcome;
	struct um_wait_error err;
	enum um_wait_end end;
	bool claimed = false;

	if (!um_wait_open(&wait, getenv("URLMODE_DATABASE_URL"),
		    getenv("URLMODE_KEYS_FILE"), getenv("URLMODE_BASE_URL"),
		    &err)
		|| !um_wait_create(wait, &ask, &asked, &err)) {
		fprintf(stderr, "wait: %s\n", err.text);
		return EXIT_FAILURE;
	}
	printf("elicit with %s\n", asked.url);
	fflush(stdout);

	end = um_wait_for(wait, asked.id, ask.subject, ask.session,
		MINUTES_5_MS, &outcome, &err);
	if (end == UM_WAIT_COMPLETED
		&& um_wait_claim(wait, asked.id, ask.subject, ask.session,
			&outcome, &claimed, &err))
		printf("%s %s %s\n%s\n", outcome.action, outcome.reason,
			outcome.result != NULL ? outcome.result : "null",
			claimed ? "claimed" : "claimed by another call");
	else
		fprintf(stderr, "wait: %s\n",
			end == UM_WAIT_TIMEOUT ? "nobody came" : err.text);
	um_wait_outcome_free(&outcome);
	um_wait_close(wait);
	return claimed ? EXIT_SUCCESS : EXIT_FAILURE;
}
