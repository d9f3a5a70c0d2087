/* SPDX-License-Identifier: MIT */
/*
 * Signatures: algorithms, keys and their encodings. A verifier has one
 * algorithm, fixed when it is made: nothing that a delivery says chooses it.
 */
#ifndef UM_VERIFIER_H
#define UM_VERIFIER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/str.h"

#define UM_VERIFIER_KEYS_MAX 8   /* keys that are good at the same time */
#define UM_SIGNATURES_MAX 16     /* signatures that one delivery may carry */
#define UM_SIGNATURE_LEN_MAX 512 /* bytes of one: RSA with 4096 bits */
#define UM_SECRET_TEXT_MAX 4096  /* characters of a secret */
#define UM_RSA_BITS_MIN 2048

enum um_algorithm {
	UM_HMAC_SHA1, /* RFC 2104 */
	UM_HMAC_SHA256,
	UM_HMAC_SHA512,
	UM_ED25519,    /* RFC 8032 */
	UM_ECDSA_P256, /* SHA-256, the signature as DER (RFC 3279 2.2.3) */
	UM_RSA_SHA256, /* RSASSA-PKCS1-v1_5 (RFC 8017 section 8.2) */
	UM_TOKEN,      /* the secret itself: equal or not */
};

/* How a signature is written. Of hex, all letters are of one case. */
enum um_encoding { UM_HEX, UM_BASE64, UM_BASE64URL };

/* How a key is written. */
enum um_key_form {
	UM_KEY_UTF8,   /* the text's own bytes */
	UM_KEY_BASE64, /* either alphabet, with or without padding */
	UM_KEY_HEX,
	UM_KEY_SHA1,        /* the SHA-1 of the text's bytes */
	UM_KEY_CERTIFICATE, /* pinned X.509 certificates, in a PEM file */
};

struct um_verifier;

/* Whether keys of this form can be keys of this algorithm. */
bool um_verifier_key_form_fits(enum um_algorithm algorithm,
	enum um_key_form form);

/* NULL when out of memory. The encoding does not matter to UM_TOKEN. */
struct um_verifier *um_verifier_new(enum um_algorithm algorithm,
	enum um_encoding encoding);

/*
 * One more key. A public key in base64 or hex is the 32 bytes of Ed25519, or
 * a SubjectPublicKeyInfo (RFC 5280 section 4.1). NULL when it is taken, or
 * why it is not.
 */
const char *um_verifier_add_secret(struct um_verifier *verifier,
	enum um_key_form form, const char *text);

/*
 * Every certificate of a PEM file whose own key signs, one more key each. A
 * CA's certificate in it (a chain is often handed out in one file) is left
 * out: it signs certificates, not deliveries. NULL, or why not.
 */
const char *um_verifier_add_certificates(struct um_verifier *verifier,
	const char *path);

size_t um_verifier_count_keys(const struct um_verifier *verifier);

/*
 * Whether one of the signatures, as text, is right with one of the keys, and
 * none of them is malformed.
 * Comparisons take the same time wherever two differ. A certificate counts
 * from its first to its last second (`now_ms` is Unix time).
 */
bool um_verifier_match(const struct um_verifier *verifier,
	struct um_str message, const struct um_str *signatures, size_t len,
	int64_t now_ms);

/* Wipes and frees; NULL is fine. */
void um_verifier_free(struct um_verifier *verifier);

#endif
