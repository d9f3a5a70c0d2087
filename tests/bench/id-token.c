/* SPDX-License-Identifier: MIT */
/*
 * What an id token costs, from its text to the user whom it names:
 *
 *   id-token JWKS_FILE ISSUER CLIENT_ID NONCE ROUNDS <tokens
 *
 * Prints the microseconds of processor time for each token, one line each. Its
 * own clock counts, so that other work of the machine changes little.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "jose/id_token.h"

static double
processor_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static bool
measure(struct um_str token, const struct um_jwks *jwks,
	const struct um_id_token_rules *rules, long rounds)
{
	struct um_id_token_user user;
	double from = processor_us();
	int64_t now = time(NULL);

	for (long i = 0; i < rounds; i++) {
		enum um_id_token_verdict verdict = um_id_token_check(&user,
			token, jwks, rules, now);

		if (verdict != UM_ID_TOKEN_GOOD) {
			fprintf(stderr, "id-token: the token %s\n",
				um_id_token_text(verdict));
			return false;
		}
	}
	printf("%.1f\n", (processor_us() - from) / (double)rounds);
	return true;
}

int
main(int argc, char **argv)
{
	struct um_error err = { "" };
	struct um_jwks *jwks;
	char line[UM_JWS_MAX + 2];
	bool ok = true;

	if (argc != 6 || !um_jwks_load(&jwks, argv[1], &err)) {
		fprintf(stderr, "id-token: %s\n", err.text);
		return 1;
	}
	while (ok && fgets(line, sizeof(line), stdin) != NULL) {
		const struct um_id_token_rules rules = {
			.issuer = um_str(argv[2]),
			.client_id = um_str(argv[3]),
			.nonce = um_str(argv[4]),
			.claim = "sub",
		};

		line[strcspn(line, "\n")] = '\0';
		ok = measure(um_str(line), jwks, &rules,
			strtol(argv[5], NULL, 10));
	}
	um_jwks_free(jwks);
	return ok ? 0 : 1;
}
