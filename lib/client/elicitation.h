/* SPDX-License-Identifier: MIT */
/* The id of an elicitation, and the link that its user is sent to. */
#ifndef UM_ELICITATION_H
#define UM_ELICITATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/str.h"
#include "core/uuid.h"
#include "crypto/keys.h"

/* A random UUID (RFC 9562 section 5.4). False: OpenSSL failed. */
bool um_elicitation_make_id(uint8_t id[static UM_UUID_LEN]);

/*
 * Writes BASE_URL/connect/PROVIDER?state=LINK, with a NUL, into `size` bytes.
 * False, with the reason: it does not fit, or OpenSSL failed.
 */
bool um_elicitation_url(char *out, size_t size, const char *base_url,
	const char *provider, const uint8_t id[static UM_UUID_LEN],
	const struct um_keys *keys, struct um_error *err);

#endif
