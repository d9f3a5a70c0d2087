/* SPDX-License-Identifier: MIT */
/* The link that a user is sent to, and the id that it carries. */
#ifndef UM_LINK_H
#define UM_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/str.h"
#include "core/uuid.h"
#include "crypto/keys.h"
#include "crypto/token.h"

/* A random UUID (RFC 9562 section 5.4). False: OpenSSL failed. */
bool um_link_make_id(uint8_t id[static UM_UUID_LEN]);

/*
 * Writes BASE_URL/connect/PROVIDER?state=TOKEN, with a NUL, into `size` bytes.
 * False, with the reason: it does not fit, or OpenSSL failed.
 */
bool um_link_format(char *out, size_t size, const char *base_url,
	const char *provider, const struct um_token *token,
	const struct um_keys *keys, struct um_error *err);

#endif
