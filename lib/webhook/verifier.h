/* SPDX-License-Identifier: MIT */
/*
 * Verifies signatures. A verifier has one algorithm and its keys; both are
 * fixed when it is made, so that no delivery can choose them.
 */
#ifndef UM_VERIFIER_H
#define UM_VERIFIER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/str.h"
#include "webhook/verifier_key.h"

#define UM_VERIFIER_KEYS_MAX 8     /* keys that are valid at the same time */
#define UM_SIGNATURES_MAX 16       /* signatures in one delivery */
#define UM_PUBLIC_SIGNATURES_MAX 4 /* the same for public keys */
#define UM_SIGNATURE_LEN_MAX 512   /* bytes of one: RSA with 4096 bits */

/* How a signature is written. The letters of hex are all of one case. */
enum um_encoding { UM_HEX, UM_BASE64 };

struct um_verifier;

/* NULL when out of memory. UM_TOKEN ignores the encoding. */
struct um_verifier *um_verifier_new(enum um_algorithm algorithm,
	enum um_encoding encoding);

/* Another one with its algorithm and encoding, and without keys. */
struct um_verifier *um_verifier_like(const struct um_verifier *verifier);

/* Adds a key. OK, or why it is refused. */
enum um_verify_error um_verifier_add_secret(struct um_verifier *verifier,
	enum um_key_form form, const char *text);

/*
 * Adds the key of each certificate in a PEM file. Certificates of authorities,
 * which often come in the same file, are left out: they sign certificates, not
 * deliveries. OK, or why the file is refused.
 */
enum um_verify_error um_verifier_add_certificates(struct um_verifier *verifier,
	const char *path);

size_t um_verifier_count_keys(const struct um_verifier *verifier);

/*
 * The last millisecond (Unix time) of the certificate that is valid longest.
 * False: the keys are not those of certificates.
 */
bool um_verifier_end(const struct um_verifier *verifier, int64_t *out);

/*
 * OK if one of the signatures, as texts, is right for one of the keys, and none
 * of them is malformed; otherwise why not. Compares in constant time. A
 * certificate is valid from its first to its last second; `now_ms` is Unix time.
 * UM_VERIFY_OUT_OF_DATE: none is valid now, or a signature is that of one that
 * is not. What an unsigned message can cost is limited: it is hashed once for
 * each key, or (RSA) once for all. More than UM_PUBLIC_SIGNATURES_MAX signatures
 * for public keys match none.
 */
enum um_verify_error um_verifier_match(const struct um_verifier *verifier,
	struct um_str message, const struct um_str *texts, size_t len,
	int64_t now_ms);

/*
 * Appends the MAC of the message with the first key, written as signatures are.
 * False for other algorithms than HMAC, and without a key.
 */
bool um_verifier_sign(const struct um_verifier *verifier, struct um_str message,
	struct um_buf *out);

/* Wipes and frees; NULL is fine. */
void um_verifier_free(struct um_verifier *verifier);

#endif
