/* SPDX-License-Identifier: MIT */
/*
 * A set of public keys in a file: a JWK Set (RFC 7517 section 5). A provider
 * publishes it, and `urlmode jwks refresh` keeps a copy on disk.
 */
#ifndef UM_JWKS_H
#define UM_JWKS_H

#include <stdbool.h>
#include <stddef.h>

#include "core/str.h"
#include "jose/jwk.h"

#define UM_JWKS_FILE_MAX 131072 /* bytes of a file */
#define UM_JWKS_MAX 64          /* keys in it, with those that are ignored */

struct um_jwks;

/*
 * Reads a set. Refuses, with the reason, a text that is not a JSON object with
 * an array `keys`, or that exceeds a limit; duplicate names in an object; a
 * private or symmetric key; and two keys with the same kid, or without one, for
 * one algorithm. In a set at least one key must verify signatures. The caller
 * frees *out with um_jwks_free().
 */
bool um_jwks_parse(struct um_jwks **out, struct um_str text,
	struct um_error *err);

/* The same of a file, whose name is then part of the reason. */
bool um_jwks_load(struct um_jwks **out, const char *path, struct um_error *err);

/* Of the keys that can verify a signature. */
size_t um_jwks_count(const struct um_jwks *jwks);

/*
 * The key that verifies signatures of this algorithm and has this id. Where
 * kid.ptr is NULL: the only key of the set for the algorithm, whatever its id
 * (OpenID Connect Core section 10.1). NULL: there is none, or more than one.
 * No set (NULL) has no key.
 */
const struct um_jwk *um_jwks_find(const struct um_jwks *jwks,
	enum um_jws_alg alg, struct um_str kid);

/* NULL is fine. */
void um_jwks_free(struct um_jwks *jwks);

#endif
