/* SPDX-License-Identifier: MIT */
/*
 * The short state of the link that is elicited. It names an elicitation, and
 * proves that an SDK made it; expiry and owner are the row's. The same
 * elicitation has the same link each time, as long as the same key mints it.
 *
 *   bytes      01 || kid || id(16) || mac(14)
 *   mac        the first 14 bytes of HMAC-SHA256 over
 *              01 || kid || purpose || 00 || provider || 00 || id
 *   purpose    "connect", or "approve" for others than the starter, who decide
 *   key        HKDF-SHA256(secret of kid, no salt, "urlmode link v1")
 *   text       base64url without padding, always 43 characters
 *
 * In JavaScript: lib/node/src/core/link.js.
 */
#ifndef UM_LINK_H
#define UM_LINK_H

#include <stdbool.h>
#include <stdint.h>

#include "core/str.h"
#include "core/uuid.h"
#include "crypto/keys.h"
#include "crypto/token.h"

#define UM_LINK_LEN 43

/*
 * Mints with the first key. False: the provider's name is too long, or OpenSSL
 * failed.
 */
bool um_link_mint(char text[static UM_LINK_LEN + 1],
	const uint8_t id[static UM_UUID_LEN], const struct um_keys *keys,
	const char *provider);

/*
 * The same with the key of this kid, if the file still has it, so that the link of
 * an elicitation stays the same; for an approval by others with `by_others`.
 */
bool um_link_mint_with(char text[static UM_LINK_LEN + 1],
	const uint8_t id[static UM_UUID_LEN], const struct um_keys *keys,
	int kid, const char *provider, bool by_others);

/*
 * Opens with any key of the file: UM_TOKEN_GOOD, or what um_token_open() says of
 * a token that is not good, and `id` is zeroed. It never expires.
 */
enum um_token_state um_link_open(uint8_t id[static UM_UUID_LEN],
	struct um_str text, const struct um_keys *keys, const char *provider);

/* The same for the link to an approval by others. */
enum um_token_state um_link_open_approval(uint8_t id[static UM_UUID_LEN],
	struct um_str text, const struct um_keys *keys, const char *provider);

#endif
