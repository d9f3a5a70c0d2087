/* SPDX-License-Identifier: MIT */
/*
 * The keys file: one key a line, `<kid 0..255> <base64 or base64url>`. Empty
 * lines and lines that begin with `#` are ignored. The first key mints and
 * seals; every key opens.
 *
 * The keys own the OpenSSL contexts that work with them. OpenSSL 3 looks an
 * algorithm up by name for every new context (crypto(7), "Implicit fetching"):
 * HKDF takes 30,300 instructions so and 24,700 with a context that is kept,
 * AES-256-GCM 8,500 and 4,400 (callgrind), and SHA-256 2,700 more without one.
 * So they are created once. A struct um_keys is therefore not thread-safe,
 * although it is passed as const: two threads load the file once each.
 */
#ifndef UM_KEYS_H
#define UM_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include <openssl/evp.h>

#include "core/str.h"
#include "crypto/hkdf.h"

#define UM_SECRET_MIN 32 /* bytes of one secret */
#define UM_SECRET_MAX 256
#define UM_KEYS_MAX 256 /* keys in a file: one a kid */
#define UM_KEY_LEN 32   /* bytes of an AES-256 key */

struct um_key {
	uint8_t kid;
	/* Of state tokens and of both versions of outcomes; derived at load. */
	uint8_t state_key[UM_KEY_LEN];
	uint8_t outcome_key[UM_KEY_LEN];
	uint8_t event_outcome_key[UM_KEY_LEN];
	size_t secret_len;
	uint8_t secret[UM_SECRET_MAX];
};

struct um_keys;

/* Tells one content of a keys file from the next one. */
struct um_keys_version {
	dev_t dev;
	ino_t ino;
	off_t size;
	struct timespec changed; /* st_ctim, which also moves with st_mtim */
};

/*
 * Reads the file. It is refused, with its name and the reason, when it cannot
 * be read, when others may read or write it, and for a malformed line, a key
 * that is too short or too long, a repeated kid, or no key at all. The caller
 * frees *out with um_keys_free().
 */
bool um_keys_load(struct um_keys **out, const char *path, struct um_error *err);

/* Of the file, as it was read. */
struct um_keys_version um_keys_version(const struct um_keys *keys);

/*
 * Whether the file is there and is not `*seen`, which is then set to what it
 * is. Reads nothing of it: one stat(2).
 */
bool um_keys_changed(struct um_keys_version *seen, const char *path);

/* The key that mints. */
const struct um_key *um_keys_minting(const struct um_keys *keys);

/* The key of this kid, or NULL. */
const struct um_key *um_keys_find(const struct um_keys *keys, uint8_t kid);

/*
 * Derives the AES key of one use from the secret of `key`, with
 * um_hkdf_sha256(). The caller wipes it. False only when OpenSSL fails.
 */
bool um_keys_derive(uint8_t out[static UM_KEY_LEN], const struct um_keys *keys,
	const struct um_key *key, struct um_str salt, struct um_str info);

/* An AES-256-GCM context; whoever uses it sets key and nonce first. */
EVP_CIPHER_CTX *um_keys_cipher(const struct um_keys *keys);

/* A SHA-256 context; EVP_DigestInit_ex(ctx, NULL, NULL) begins with it anew. */
EVP_MD_CTX *um_keys_sha256(const struct um_keys *keys);

/* Wipes and frees; NULL is fine. */
void um_keys_free(struct um_keys *keys);

#endif
