/* SPDX-License-Identifier: MIT */
/*
 * The keys of the OpenID provider (jwks_file), which `urlmode jwks refresh`
 * fetches: read for the end of a sign-in, and asked for when one is missing.
 */
#ifndef UM_ISSUER_KEYS_H
#define UM_ISSUER_KEYS_H

#include "app/exchange.h"

#define UM_ISSUER_KEYS_PAUSE_S 60 /* between two touches of refresh_file */

/*
 * Before the plan of a request: where it ends a sign-in, and the file is not
 * `*seen`, reads it into context->jwks. False: the file is refused, and the keys
 * stay as they were.
 */
bool um_issuer_keys_look(struct um_context *context,
	const struct um_exchange *ex, struct um_file_version *seen,
	struct um_error *err);

/*
 * After the response: where a token names a key that the file does not have,
 * touches refresh_file, on which systemd runs the refresh. False: it cannot be
 * touched.
 */
bool um_issuer_keys_ask(const struct um_context *context,
	const struct um_exchange *ex, struct um_error *err);

#endif
