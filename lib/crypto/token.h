/* SPDX-License-Identifier: MIT */
/*
 * The state token, which travels as `state` (RFC 6749 section 10.12): sealed,
 * bound to one purpose, provider, user, session and browser.
 *
 *   bytes      01 || kid || nonce(12) || ciphertext(56) || tag(16)
 *   plaintext  id(16) || expires(8, big-endian Unix seconds)
 *              || binding(16) || browser(16)
 *   key        HKDF-SHA256(secret of kid, no salt, "urlmode state v1")
 *   AAD        01 || kid || purpose || 00 || provider
 *   text       base64url without padding, always 115 characters
 */
#ifndef UM_TOKEN_H
#define UM_TOKEN_H

#include <stdbool.h>
#include <stdint.h>

#include "core/str.h"
#include "core/uuid.h"
#include "crypto/aead.h"
#include "crypto/keys.h"

#define UM_TOKEN_LEN 115
#define UM_BINDING_LEN 16
#define UM_BROWSER_LEN 16
#define UM_PROVIDER_MAX 64 /* characters of a provider's name */

enum um_purpose { UM_PURPOSE_CONNECT, UM_PURPOSE_RETURN, UM_PURPOSE_CANCEL };

struct um_token {
	uint8_t id[UM_UUID_LEN];
	int64_t expires; /* Unix seconds; good until the second before */
	uint8_t binding[UM_BINDING_LEN];
	uint8_t browser[UM_BROWSER_LEN]; /* all zero: any browser */
};

enum um_token_state { UM_TOKEN_GOOD, UM_TOKEN_INVALID, UM_TOKEN_EXPIRED };

/* Mints with the first key. False only when OpenSSL fails. */
bool um_token_mint(char text[static UM_TOKEN_LEN + 1],
	const struct um_token *token, const struct um_keys *keys,
	enum um_purpose purpose, const char *provider,
	const uint8_t nonce[static UM_NONCE_LEN]);

/*
 * Opens with any key of the file. INVALID is everything that is not exactly
 * a token for this purpose and provider; *token is zeroed then. EXPIRED is a
 * genuine one at or past its expiry; `now` is in Unix seconds.
 */
enum um_token_state um_token_open(struct um_token *token, struct um_str text,
	const struct um_keys *keys, enum um_purpose purpose,
	const char *provider, int64_t now);

/* Whether the token may be used by the browser with this cookie value. */
bool um_token_fits_browser(const struct um_token *token, struct um_str cookie);
bool um_token_is_bound(const struct um_token *token);

/* SHA-256("urlmode binding v1" 00 subject 00 session), its first 16 bytes. */
void um_binding_digest(uint8_t out[static UM_BINDING_LEN],
	struct um_str subject, struct um_str session);

/* SHA-256("urlmode browser v1" 00 cookie value), its first 16 bytes. */
void um_browser_digest(uint8_t out[static UM_BROWSER_LEN],
	struct um_str cookie);

#endif
