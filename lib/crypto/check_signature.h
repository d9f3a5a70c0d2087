/* SPDX-License-Identifier: MIT */
/*
 * The delivery that `urlmode check` sends to itself, through the web server: signed
 * with a key that is derived from the keys file, and known to be ignored.
 */
#ifndef UM_CHECK_SIGNATURE_H
#define UM_CHECK_SIGNATURE_H

#include <stdbool.h>

#include "core/str.h"
#include "crypto/keys.h"

/* The header: `<kid>.<64 hexadecimal digits>`, an HMAC-SHA256 of the body. */
#define UM_CHECK_SIGNATURE "Urlmode-Check-Signature"
#define UM_CHECK_SIGNATURE_MAX (3 + 1 + 2 * UM_HKDF_LEN)

/* Signs with the key that mints. False only when OpenSSL fails. */
bool um_check_signature_make(char out[static UM_CHECK_SIGNATURE_MAX + 1],
	const struct um_keys *keys, struct um_str body);

/* Whether one of the keys has signed it. `text` may be NULL. */
bool um_check_signature_is_good(const char *text, const struct um_keys *keys,
	struct um_str body);

#endif
