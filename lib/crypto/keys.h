/* SPDX-License-Identifier: MIT */
/*
 * The keys file: one key a line, `<kid 0..255> <base64 or base64url>`. Empty
 * lines and lines that begin with `#` are ignored. The first key mints and
 * seals; every key opens.
 *
 * The keys own OpenSSL contexts, which are created once: OpenSSL 3 looks an
 * algorithm up by name for every new context (crypto(7), "Implicit fetching").
 * HKDF takes 30,300 instructions with a new context and 24,700 with a kept one,
 * AES-256-GCM 8,500 and 4,400 (callgrind), SHA-256 2,700 more with a new one. A
 * struct um_keys is therefore not thread-safe, although it is passed as const:
 * each thread loads the file for itself.
 */
#ifndef UM_KEYS_H
#define UM_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <openssl/evp.h>

#include "contract/limits.h"
#include "core/file.h"
#include "core/str.h"
#include "crypto/hkdf.h"

#define UM_KEYS_MAX 256 /* keys in a file, one for each kid */
#define UM_KEY_LEN 32   /* bytes of a derived key */

/* The uses for which one key serves all rows, derived without a salt. */
enum um_key_use {
	UM_USE_STATE,
	UM_USE_LINK,
	UM_USE_OUTCOME,       /* of an owner */
	UM_USE_EVENT_OUTCOME, /* of an event, which names none */
	UM_USE_TICKET,
	UM_USE_FOLLOW,
	UM_USE_SESSION,
	UM_USE_SIGNIN,
	UM_USE_FORM,
	UM_USE_PROBLEM,
	UM_USE_TYPED,
	UM_USE_READER,
	UM_USE_KEPT,
	UM_USE_FRESH,
	UM_USE_CONSOLE,
	UM_USE_VERIFIER,
	UM_USE_FULFILLED,
	UM_USES,
};

struct um_key {
	uint8_t kid;
	uint8_t of[UM_USES][UM_KEY_LEN]; /* derived at load */
	size_t secret_len;
	uint8_t secret[UM_SECRET_MAX];
};

struct um_keys;

/*
 * Reads the file. It is refused, with its name and the reason, when it cannot
 * be read, when others may read or write it, and for a malformed line, a key
 * that is too short or too long, a repeated kid, or no key at all. The caller
 * frees *out with um_keys_free().
 */
bool um_keys_load(struct um_keys **out, const char *path, struct um_error *err);

/*
 * The same of a text, whose lines commas separate as well as newlines. `name`
 * stands for the file's name in errors. The text stays the caller's.
 */
bool um_keys_parse(struct um_keys **out, const char *text, const char *name,
	struct um_error *err);

/* The version of the file when it was read; zeros for a text. */
struct um_file_version um_keys_version(const struct um_keys *keys);

/* The key that mints. */
const struct um_key *um_keys_minting(const struct um_keys *keys);

/* The key of this kid, or NULL. */
const struct um_key *um_keys_find(const struct um_keys *keys, uint8_t kid);

/*
 * Derives the key of one use from the secret of `key`, with
 * um_hkdf_sha256(). The caller wipes it. False only when OpenSSL fails.
 */
bool um_keys_derive(uint8_t out[static UM_KEY_LEN], const struct um_keys *keys,
	const struct um_key *key, struct um_str salt, struct um_str info);

/* An AES-256-GCM context; the caller sets key and nonce. */
EVP_CIPHER_CTX *um_keys_cipher(const struct um_keys *keys);

/* For um_hkdf_hmac(). */
EVP_MAC_CTX *um_keys_hmac(const struct um_keys *keys);

/* A SHA-256 context; EVP_DigestInit_ex(ctx, NULL, NULL) starts a new digest. */
EVP_MD_CTX *um_keys_sha256(const struct um_keys *keys);

/* Wipes and frees; NULL is fine. */
void um_keys_free(struct um_keys *keys);

#endif
