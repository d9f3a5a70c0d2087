/* SPDX-License-Identifier: MIT */
/*
 * The keys file: one key a line, `<kid 0..255> <base64 or base64url>`; empty
 * lines and lines that begin with `#` do not count. The first key mints, all
 * of them open.
 */
#ifndef UM_KEYS_H
#define UM_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/str.h"

#define UM_SECRET_MIN 32 /* bytes of one secret */
#define UM_SECRET_MAX 256
#define UM_KEYS_MAX 256 /* keys in a file: one a kid */

struct um_key {
	uint8_t kid;
	uint8_t state_key[32]; /* for state tokens, derived from the secret */
	size_t secret_len;
	uint8_t secret[UM_SECRET_MAX];
};

struct um_keys;

/*
 * Reads the file. Refused, with the file's name and the reason: not readable,
 * readable by others, a malformed line, a short or long key, a repeated kid,
 * no key. The caller frees *out with um_keys_free().
 */
bool um_keys_load(struct um_keys **out, const char *path, struct um_error *err);

/* The key that mints. */
const struct um_key *um_keys_minting(const struct um_keys *keys);

/* The key of this kid, or NULL. */
const struct um_key *um_keys_find(const struct um_keys *keys, uint8_t kid);

/* Wipes and frees; NULL is fine. */
void um_keys_free(struct um_keys *keys);

/*
 * HKDF-SHA256 (RFC 5869): 32 bytes for one use of a secret.
 * False only when OpenSSL cannot do it.
 */
bool um_hkdf_sha256(uint8_t out[static 32], const uint8_t *secret,
	size_t secret_len, struct um_str salt, struct um_str info);

#endif
