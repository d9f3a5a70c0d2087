/* SPDX-License-Identifier: MIT */
/*
 * The URLs of an elicitation: the link to /connect, and where the provider sends
 * the browser and its own deliveries afterwards.
 */
#ifndef UM_CALLBACK_URLS_H
#define UM_CALLBACK_URLS_H

#include <stdbool.h>
#include <stdint.h>

#include "app/program.h"
#include "config/provider.h"
#include "core/str.h"
#include "core/uuid.h"
#include "crypto/binding.h"

struct um_callback_row {
	const uint8_t *id;      /* UM_UUID_LEN bytes */
	const uint8_t *binding; /* UM_BINDING_LEN */
	const char *provider;
	enum um_kind kind;
	int64_t expires; /* Unix seconds, of the row */
};

/*
 * Puts the members return_url, cancel_url and webhook_url, null where the kind has
 * none. The same row has the same URLs each time, as long as the same key mints.
 * False: OpenSSL failed.
 */
bool um_callback_urls_put(struct um_buf *json, const struct um_context *context,
	const struct um_callback_row *row);

/*
 * Puts the member `url`, or approval_url where others decide: the link of the key
 * with this kid, or of the minting one for -1.
 */
bool um_callback_link_put(struct um_buf *json, const struct um_context *context,
	const struct um_callback_row *row, int kid, bool by_others);

#endif
