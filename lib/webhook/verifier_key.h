/* SPDX-License-Identifier: MIT */
/* What a verifier consists of: for verifier.c and verifier_key.c alone. */
#ifndef UM_VERIFIER_KEY_H
#define UM_VERIFIER_KEY_H

#include <openssl/evp.h>
#include <openssl/sha.h>

#include "webhook/verifier.h"

struct um_verifier_key {
	EVP_MAC_CTX *mac;                    /* HMAC, keyed, to be copied */
	EVP_PKEY *public;                    /* the other signatures */
	uint8_t token[SHA256_DIGEST_LENGTH]; /* of a static token */
	bool has_dates;
	int64_t from_ms, to_ms; /* of the certificate */
};

struct um_verifier {
	enum um_algorithm algorithm;
	enum um_encoding encoding;
	size_t len;
	struct um_verifier_key key[UM_VERIFIER_KEYS_MAX];
};

static inline bool
um_verifier_is_hmac(enum um_algorithm algorithm)
{
	return algorithm <= UM_HMAC_SHA512;
}

#endif
