/* SPDX-License-Identifier: MIT */
/*
 * The file `api-keys`: who may call the api, and as which tenant. One key a line,
 * `<name> <tenant, or -> <hexadecimal SHA-256 of the key's text>`. Empty lines and
 * lines that begin with `#` are ignored. The text of a key is "umk_" and base64url
 * of 32 random bytes. It stands nowhere in the file.
 */
#ifndef UM_API_KEYS_H
#define UM_API_KEYS_H

#include <stdbool.h>
#include <stdint.h>

#include "contract/limits.h"
#include "core/str.h"

#define UM_API_KEY_PREFIX "umk_"
#define UM_API_KEY_LEN 47    /* characters of a key's text */
#define UM_API_KEY_DIGEST 32 /* bytes of its SHA-256 */
#define UM_API_KEYS_MAX 1024 /* in a file */
#define UM_API_NAME_MAX 64   /* characters of a name */

struct um_api_key {
	char name[UM_API_NAME_MAX + 1];
	char tenant[UM_TENANT_MAX + 1]; /* "": the file has - */
	uint8_t digest[UM_API_KEY_DIGEST];
};

struct um_api_keys;

/*
 * Reads the file. One that does not exist has no keys. It is refused, with its
 * name and the reason, when it cannot be read, when everybody may write it, and
 * for a malformed line, a name or a key that is there twice, and more than
 * UM_API_KEYS_MAX keys. The caller frees *out with um_api_keys_free().
 */
bool um_api_keys_load(struct um_api_keys **out, const char *path,
	struct um_error *err);

/*
 * The key of an Authorization header (RFC 6750 section 2.1), or NULL. The time
 * that it takes does not depend on which bytes are right.
 */
const struct um_api_key *um_api_keys_find(const struct um_api_keys *keys,
	const char *authorization);

/* Whether there is a key with this digest, of this tenant. */
bool um_api_keys_has(const struct um_api_keys *keys,
	const uint8_t digest[static UM_API_KEY_DIGEST], const char *tenant);

/* NULL is fine. */
void um_api_keys_free(struct um_api_keys *keys);

#endif
