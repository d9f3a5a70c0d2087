/* SPDX-License-Identifier: MIT */
/* One key: a secret, a public key, or that of a certificate. */
#ifndef UM_VERIFIER_KEY_H
#define UM_VERIFIER_KEY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <openssl/evp.h>
#include <openssl/sha.h>
#include <openssl/x509.h>

#include "core/str.h"
#include "webhook/verify_error.h"

#define UM_SECRET_TEXT_MAX 4096 /* characters of a secret */
#define UM_RSA_BITS_MIN 2048

enum um_algorithm {
	UM_HMAC_SHA256, /* RFC 2104 */
	UM_HMAC_SHA512,
	UM_ED25519,    /* RFC 8032 */
	UM_RSA_SHA256, /* RSASSA-PKCS1-v1_5 (RFC 8017 section 8.2) */
	UM_TOKEN,      /* the secret itself is compared */
	UM_JWT,        /* a JSON Web Token that has the body's digest */
};

/* How a key is written. */
enum um_key_form {
	UM_KEY_UTF8,   /* the text's own bytes */
	UM_KEY_BASE64, /* either alphabet, with or without padding */
	UM_KEY_HEX,
	UM_KEY_CERTIFICATE, /* pinned X.509 certificates, in a PEM file */
	UM_KEY_JWKS,        /* public keys (RFC 7517), in a file */
};

/* It is in a file, and is no secret. */
static inline bool
um_key_is_file(enum um_key_form form)
{
	return form >= UM_KEY_CERTIFICATE;
}

struct um_verifier_key {
	EVP_MAC_CTX *mac;                    /* HMAC, keyed, to be copied */
	EVP_PKEY *public;                    /* the other signatures */
	uint8_t token[SHA256_DIGEST_LENGTH]; /* of a static token */
	bool has_dates;
	int64_t from_ms, to_ms; /* of the certificate */
};

static inline bool
um_verifier_is_hmac(enum um_algorithm algorithm)
{
	return algorithm <= UM_HMAC_SHA512;
}

/* Whether a key of this form can be used with this algorithm. */
bool um_verifier_accepts_key_form(enum um_algorithm algorithm,
	enum um_key_form form);

/*
 * Reads a key. A public key, in base64 or hex, is the 32 bytes of Ed25519 or a
 * SubjectPublicKeyInfo (RFC 5280 section 4.1). OK, or why it is refused.
 */
enum um_verify_error um_verifier_key_read(struct um_verifier_key *key,
	enum um_algorithm algorithm, enum um_key_form form, const char *text);

/* The same of a certificate, with its dates. */
enum um_verify_error um_verifier_key_of_certificate(struct um_verifier_key *key,
	enum um_algorithm algorithm, X509 *certificate);

/* Frees its members. The caller wipes the key itself. */
void um_verifier_key_free(struct um_verifier_key *key);

#endif
