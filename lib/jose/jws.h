/* SPDX-License-Identifier: MIT */
/*
 * A signed token: JWS in the compact form (RFC 7515 section 7.1), as JWTs
 * (RFC 7519) are written, verified with the advice of RFC 8725.
 *
 * Nothing in the token chooses how it is verified: `alg` has to be one that
 * the key is for, `kid` chooses among the keys of the set, and the members that
 * bring a key along or say where to fetch one (jwk, jku, x5c, x5u) are not
 * read. There is neither `none` nor HMAC.
 */
#ifndef UM_JWS_H
#define UM_JWS_H

#include "contract/limits.h"
#include "core/str.h"
#include "jose/jwks.h"

#define UM_JWS_MAX 16384       /* characters of a token */
#define UM_JWS_HEADER_MAX 2048 /* bytes of its header, decoded */

enum um_jws_verdict {
	UM_JWS_GOOD,
	UM_JWS_MALFORMED,   /* not a token, over a limit, or a refused header */
	UM_JWS_ALGORITHM,   /* signed with an algorithm that is not accepted */
	UM_JWS_UNKNOWN_KEY, /* no key of the set is the one it names */
	UM_JWS_FORGED,      /* the signature is not this key's */
};

/*
 * Appends the payload of the token to `payload` when it is GOOD, and nothing
 * otherwise. The header is a JSON object without a name twice; it has a string
 * `alg`, perhaps a string `kid`, a `typ` of "JWT" or none, and no `crit`: no
 * extension is understood here (RFC 7515 section 4.1.11).
 */
enum um_jws_verdict um_jws_verify(struct um_buf *payload, struct um_str token,
	const struct um_jwks *jwks);

#endif
