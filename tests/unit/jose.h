/* SPDX-License-Identifier: MIT */
/* Signed tokens and sets of public keys that the tests make themselves. */
#ifndef TEST_JOSE_H
#define TEST_JOSE_H

#include <openssl/evp.h>

#include "jose/jwks.h"

/*
 * A private key for signatures of this algorithm, the same for each call, or
 * `other`, a second one. RS256 and PS256 have the same RSA keys.
 */
EVP_PKEY *jose_key(enum um_jws_alg alg, bool other);
int jose_tear_down(void **state);

/*
 * The public key as a JWK, with more members after its own: `"kid":"1"`, or
 * nothing for NULL. The caller frees it.
 */
char *jose_jwk(EVP_PKEY *key, const char *members);

/* The set of these JWKs, which are freed; NULL ends them. The caller frees it. */
char *jose_set(char *jwk, ...);

/* The same, parsed; it must be good. */
struct um_jwks *jose_parse(char *set);

/* The token with this header and payload; the caller frees it. */
char *jose_token(EVP_PKEY *key, enum um_jws_alg alg, const char *header,
	const char *payload);

#endif
