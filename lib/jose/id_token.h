/* SPDX-License-Identifier: MIT */
/*
 * The id token of OpenID Connect Core 1.0: who has signed in at the provider,
 * for whom the provider says so, and when (sections 2, 3.1.3.7 and 3.2.2.11).
 */
#ifndef UM_ID_TOKEN_H
#define UM_ID_TOKEN_H

#include <stdint.h>

#include "core/str.h"
#include "crypto/ticket.h"
#include "jose/jws.h"

#define UM_ID_TOKEN_SKEW 60      /* seconds that two clocks may differ */
#define UM_ID_TOKEN_AGE_MAX 600  /* seconds since it was issued */
#define UM_ID_TOKEN_CLAIM_MAX 64 /* characters of a claim's name */
#define UM_ID_TOKEN_NAME_MAX 128 /* bytes of a name */
#define UM_ID_TOKEN_HOW_MAX 128  /* bytes of how somebody has signed in */
/* Seconds that a provider's clock may be late for a sign-in that is fresh. */
#define UM_ID_TOKEN_FRESH_SKEW 5

struct um_id_token_user {
	char subject[UM_SUBJECT_MAX + 1]; /* UTF-8, 1 byte at least */
	/*
	 * What people call the user, or "": `preferred_username`, `email` or
	 * `name`, whichever there is first. Proves nothing.
	 */
	char name[UM_ID_TOKEN_NAME_MAX + 1];
	int64_t auth_time; /* when the user has signed in; 0: it is not said */
	int64_t issued_at; /* of the token, by the same clock */
	/* How: `amr` with spaces between, or `acr`, in the provider's words, or "". */
	char how[UM_ID_TOKEN_HOW_MAX + 1];
};

/* What an id token has to say. Times are in seconds. */
struct um_id_token_rules {
	struct um_str issuer;
	struct um_str client_id;
	struct um_str nonce;
	const char *claim; /* the one that is the subject */
	int64_t max_age;   /* since the user has signed in; 0: any */
	int64_t since;     /* no sign-in before counts; 0: any */
};

/* name, and what is wrong with the token, as the log says it */
#define UM_ID_TOKEN_VERDICTS(X)                                                \
	X(GOOD, NULL)                                                          \
	X(MALFORMED, "is not a signed token that can be read")                 \
	X(ALGORITHM, "is signed with an algorithm that is not accepted")       \
	X(UNKNOWN_KEY, "is signed with a key that is not in the file")         \
	X(FORGED, "has a signature that does not match")                       \
	X(CLAIMS, "has a payload that is not a JSON object")                   \
	X(ISSUER, "/iss is not the issuer")                                    \
	X(AUDIENCE, "/aud does not have the client")                           \
	X(AUTHORIZED_PARTY, "/azp is not the client")                          \
	X(EXPIRED, "/exp is over, or missing")                                 \
	X(NOT_BEFORE, "/nbf is in the future, or not a time")                  \
	X(ISSUED_AT, "/iat is too long ago, in the future, or missing")        \
	X(NONCE, "/nonce is not this browser's")                               \
	X(AUTH_TIME, "/auth_time is too long ago, in the future, or missing")  \
	X(SUBJECT, "has no subject in its claim")                              \
	X(EMAIL_UNVERIFIED, "/email_verified is not true")

enum um_id_token_verdict {
#define X(name, text) UM_ID_TOKEN_##name,
	UM_ID_TOKEN_VERDICTS(X)
#undef X
};

/* What is wrong with the token; a constant, NULL for GOOD. */
const char *um_id_token_text(enum um_id_token_verdict verdict);

/*
 * Verifies the token and checks its claims at `now` (Unix seconds). GOOD: sets
 * *user; otherwise it stays as it is.
 *
 * With an `azp` that is the client, the token may be for others, too (section
 * 2). The claim `email` counts only where `email_verified` is true (section
 * 5.7). `sub` has to be there whatever the claim is.
 */
enum um_id_token_verdict um_id_token_check(struct um_id_token_user *user,
	struct um_str token, const struct um_jwks *jwks,
	const struct um_id_token_rules *rules, int64_t now);

#endif
