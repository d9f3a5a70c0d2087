/* SPDX-License-Identifier: MIT */
/*
 * The state token, which travels as `state` (RFC 6749 section 10.12): an
 * envelope (crypto/envelope.h) that is bound to one purpose, provider, user,
 * session and browser.
 *
 *   plaintext  id(16) || expires(8, big-endian Unix seconds)
 *              || binding(16) || browser(16)
 *   key        HKDF-SHA256(secret of kid, no salt, "urlmode state v1")
 *   context    purpose || 00 || provider
 *   text       base64url without padding, always 115 characters
 */
#ifndef UM_TOKEN_H
#define UM_TOKEN_H

#include <stdbool.h>
#include <stdint.h>

#include "contract/limits.h"
#include "core/str.h"
#include "core/uuid.h"
#include "crypto/binding.h"
#include "crypto/envelope.h"
#include "crypto/keys.h"

#define UM_TOKEN_LEN 115

enum um_purpose {
	UM_PURPOSE_CONNECT,
	UM_PURPOSE_RETURN,
	UM_PURPOSE_CANCEL,
	UM_PURPOSE_WEBHOOK,
	UM_PURPOSE_FORM,
};

struct um_token {
	uint8_t id[UM_UUID_LEN];
	int64_t expires; /* Unix seconds; no longer valid in that second */
	uint8_t binding[UM_BINDING_LEN];
	uint8_t browser[UM_BROWSER_LEN]; /* zeros: any browser */
};

enum um_token_state {
	UM_TOKEN_GOOD,
	UM_TOKEN_INVALID,
	UM_TOKEN_UNKNOWN_KEY,
	UM_TOKEN_EXPIRED
};

/*
 * Mints with the first key. False: the provider's name is too long, or OpenSSL
 * failed.
 */
bool um_token_mint(char text[static UM_TOKEN_LEN + 1],
	const struct um_token *token, const struct um_keys *keys,
	enum um_purpose purpose, const char *provider,
	const uint8_t nonce[static UM_NONCE_LEN]);

/*
 * Opens with any key of the file. INVALID: the text is not a token for this
 * purpose and provider; *token is zeroed. UNKNOWN_KEY: it has the form of a
 * token, but the file has no key with its kid; *token is zeroed. EXPIRED: it is
 * genuine, but `now`, in Unix seconds, is not before its expiry.
 */
enum um_token_state um_token_open(struct um_token *token, struct um_str text,
	const struct um_keys *keys, enum um_purpose purpose,
	const char *provider, int64_t now);

/* Whether the token is bound to a browser. */
bool um_token_is_bound(const struct um_token *token);

/* Whether a browser with this cookie value may use the token. */
bool um_token_fits_browser(const struct um_token *token,
	const struct um_keys *keys, struct um_str cookie);

#endif
