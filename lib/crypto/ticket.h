/* SPDX-License-Identifier: MIT */
/*
 * The session ticket: the subject as sealed text (crypto/sealed_text.h) in a
 * cookie of a few minutes, in which an MCP server that has a web session of its
 * own on the same site says who the browser's user is.
 *
 *   info       "urlmode ticket v1"
 *   context    "ticket"
 */
#ifndef UM_TICKET_H
#define UM_TICKET_H

#include <stdbool.h>
#include <stdint.h>

#include "contract/limits.h"
#include "contract/seals.h"
#include "core/str.h"
#include "crypto/keys.h"

/*
 * Appends a ticket for this subject, until `expires` (Unix seconds), as an MCP
 * server makes it. False: OpenSSL failed, or memory ran out.
 */
bool um_ticket_put(struct um_buf *out, const char *subject, int64_t expires,
	const struct um_keys *keys, const uint8_t nonce[static UM_NONCE_LEN]);

/*
 * Opens with any key of the file; the subject goes to `subject`, with a NUL.
 * False: the ticket is not genuine, has expired at `now` (Unix seconds), or
 * its subject is not UTF-8 text of 1 to UM_SUBJECT_MAX bytes without a NUL.
 */
bool um_ticket_open(char subject[static UM_SUBJECT_MAX + 1], struct um_str text,
	const struct um_keys *keys, int64_t now);

#endif
