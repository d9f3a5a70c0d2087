/* SPDX-License-Identifier: MIT */
/*
 * The owner of an elicitation, and the browser that may continue it, as digests
 * in state tokens and in rows of the database.
 *
 * When OpenSSL fails, a digest is 16 bytes of 0xff, which equal no other
 * digest. They are not zeros, because zeros in a token mean that it is not
 * bound to a browser. No key is part of a digest; only the SHA-256 context of
 * the keys is used.
 */
#ifndef UM_BINDING_H
#define UM_BINDING_H

#include <stdbool.h>
#include <stdint.h>

#include "contract/seals.h"
#include "core/str.h"
#include "crypto/keys.h"

#define UM_BINDING_LEN UM_DIGEST_LEN
#define UM_BROWSER_LEN UM_DIGEST_LEN
#define UM_SIGNIN_NONCE_LEN 43 /* characters: 32 bytes as base64url */

/*
 * The owner: the first 16 bytes of
 * SHA-256("urlmode binding v1" 00 subject 00 session).
 */
void um_binding_digest(uint8_t out[static UM_BINDING_LEN],
	const struct um_keys *keys, struct um_str subject,
	struct um_str session);

/*
 * The same of a tenant, one of several in a deployment: the first 16 bytes of
 * SHA-256("urlmode binding v2" 00 tenant 00 subject 00 session). An empty tenant
 * has the digest above.
 */
void um_binding_digest_of(uint8_t out[static UM_BINDING_LEN],
	const struct um_keys *keys, struct um_str tenant, struct um_str subject,
	struct um_str session);

/*
 * The browser: the first 16 bytes of
 * SHA-256("urlmode browser v1" 00 cookie value).
 */
void um_browser_digest(uint8_t out[static UM_BROWSER_LEN],
	const struct um_keys *keys, struct um_str cookie);

/*
 * The nonce of a sign-in at an OpenID provider, with a NUL: base64url of
 * SHA-256("urlmode nonce v1" 00 cookie value 00 state). False only when OpenSSL
 * fails.
 */
bool um_signin_nonce(char out[static UM_SIGNIN_NONCE_LEN + 1],
	const struct um_keys *keys, struct um_str cookie, struct um_str state);

/* The first 16 bytes of SHA-256(label 00 text), of what is compared later. */
void um_digest_of(uint8_t out[static UM_DIGEST_LEN], const struct um_keys *keys,
	const char *label, struct um_str text);

#endif
