/* SPDX-License-Identifier: MIT */
/*
 * The session ticket: an MCP server with a web session of its own on the
 * same site says who the browser's user is, in a cookie of a few minutes.
 *
 *   bytes      01 || kid || nonce(12) || ciphertext || tag(16)
 *   plaintext  expires(8, big-endian Unix seconds) || subject
 *   key        HKDF-SHA256(secret of kid, no salt, "urlmode ticket v1")
 *   AAD        01 || kid || "ticket"
 *   text       base64url without padding
 */
#ifndef UM_TICKET_H
#define UM_TICKET_H

#include <stdbool.h>
#include <stdint.h>

#include "core/str.h"
#include "crypto/keys.h"

#define UM_TICKET_COOKIE "__Host-urlmode-ticket"
#define UM_SUBJECT_MAX 512 /* bytes */

/*
 * Opens with any key of the file; the subject goes to `subject`, with a NUL.
 * False: not genuine, expired at `now` (Unix seconds), or no usable subject.
 */
bool um_ticket_open(char subject[static UM_SUBJECT_MAX + 1], struct um_str text,
	const struct um_keys *keys, int64_t now);

#endif
