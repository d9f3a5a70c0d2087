/* SPDX-License-Identifier: MIT */
/*
 * What `urlmode jwks` and `urlmode setup` fetch from an OpenID provider, read
 * for them. Each function prints lines, and returns false with the reason when
 * the file is refused.
 */
#ifndef UM_ISSUER_H
#define UM_ISSUER_H

#include <stdbool.h>

#include "core/str.h"

/* A set of public keys: how many of them can verify a signature. */
bool um_issuer_print_keys(const char *path, struct um_error *err);

/*
 * A discovery document (OpenID Connect Discovery 1.0 section 3), which has to be
 * that of this issuer: its `jwks_uri`, `authorization_endpoint` and
 * `end_session_endpoint`, and `id_token no` or `form_post no` where it says that
 * the provider does not answer in this way. One line each: name, value.
 */
bool um_issuer_print_discovery(const char *path, const char *issuer,
	struct um_error *err);

#endif
