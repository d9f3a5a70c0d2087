/* SPDX-License-Identifier: MIT */
/*
 * Binds an authorization code to the request for it: with a code verifier (PKCE,
 * RFC 7636) and, for OpenID Connect, a nonce (Core section 3.1.2.1).
 */
#ifndef UM_PKCE_H
#define UM_PKCE_H

#include <stdbool.h>

#include "core/str.h"

/*
 * Appends the authorization URL with an S256 challenge to `url`, and what is to be
 * sealed, { code_verifier, nonce }, to `verifier`. A nonce is added if the scope has
 * `openid` and the URL has no nonce. NULL, or why the URL cannot be taken.
 */
const char *um_pkce_add(struct um_buf *url, struct um_buf *verifier,
	struct um_str target_url, void (*random)(void *out, size_t len));

/* Whether the query has a parameter with this name. */
bool um_pkce_has(struct um_str url, const char *name);

#endif
