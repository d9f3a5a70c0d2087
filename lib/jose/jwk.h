/* SPDX-License-Identifier: MIT */
/* One public key as JSON: a JWK (RFC 7517, RFC 7518 section 6, RFC 8037). */
#ifndef UM_JWK_H
#define UM_JWK_H

#include <stdbool.h>

#include <openssl/evp.h>

#include "core/json.h"

#define UM_KID_MAX 256       /* bytes of a key's id */
#define UM_JWK_BITS_MIN 2048 /* of an RSA key */
#define UM_JWK_BITS_MAX 4096

/* The algorithms of signatures: all that are accepted (RFC 7518, RFC 8037). */
enum um_jws_alg {
	UM_JWS_RS256, /* RSASSA-PKCS1-v1_5 with SHA-256 */
	UM_JWS_PS256, /* RSASSA-PSS with SHA-256 */
	UM_JWS_ES256, /* ECDSA on P-256 with SHA-256 */
	UM_JWS_EDDSA, /* Ed25519 */
	UM_JWS_ALGS,
};

/* False where `alg` is not the name of one of these. */
bool um_jws_alg_of(struct um_str alg, enum um_jws_alg *out);

struct um_jwk {
	EVP_PKEY *public;
	bool for_alg[UM_JWS_ALGS]; /* which signatures it may verify */
	bool has_kid;
	size_t kid_len;
	char kid[UM_KID_MAX];
};

enum um_jwk_state {
	UM_JWK_GOOD,
	UM_JWK_IGNORED, /* cannot be used here */
	UM_JWK_PRIVATE, /* a private or a symmetric key */
};

/*
 * Reads a key that verifies signatures. As RFC 7517 section 5 says, a key is
 * ignored when its type, curve, use or algorithm is another one, when it is
 * malformed, and when it is over or under a limit. GOOD: the caller frees it
 * with um_jwk_free().
 */
enum um_jwk_state um_jwk_read(struct um_jwk *key,
	const struct um_json_node *node);

void um_jwk_free(struct um_jwk *key);

#endif
