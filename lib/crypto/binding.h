/* SPDX-License-Identifier: MIT */
/*
 * Whom an elicitation belongs to, and which browser may continue it, as
 * digests that a state token and a row of the database can carry.
 *
 * When OpenSSL fails, a digest is 16 bytes of 0xff, which equal no other
 * digest. They are not zeros, because zeros in a token mean that it is not
 * bound to a browser. No key is part of a digest: the keys lend their SHA-256
 * context.
 */
#ifndef UM_BINDING_H
#define UM_BINDING_H

#include <stdint.h>

#include "core/str.h"
#include "crypto/keys.h"

#define UM_BINDING_LEN 16
#define UM_BROWSER_LEN 16

/*
 * The owner: the first 16 bytes of
 * SHA-256("urlmode binding v1" 00 subject 00 session).
 */
void um_binding_digest(uint8_t out[static UM_BINDING_LEN],
	const struct um_keys *keys, struct um_str subject,
	struct um_str session);

/*
 * The browser: the first 16 bytes of
 * SHA-256("urlmode browser v1" 00 cookie value).
 */
void um_browser_digest(uint8_t out[static UM_BROWSER_LEN],
	const struct um_keys *keys, struct um_str cookie);

#endif
