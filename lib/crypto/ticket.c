/* SPDX-License-Identifier: MIT */
#include "crypto/ticket.h"

#include <string.h>

#include "crypto/sealed_text.h"

static const struct um_seal_purpose purpose = { UM_USE_TICKET,
	{ "ticket", 6 } };

bool
um_ticket_put(struct um_buf *out, const char *subject, int64_t expires,
	const struct um_keys *keys, const uint8_t nonce[static UM_NONCE_LEN])
{
	return um_sealed_text_put(out, um_str(subject), expires, keys, &purpose,
		nonce);
}

bool
um_ticket_open(char subject[static UM_SUBJECT_MAX + 1], struct um_str text,
	const struct um_keys *keys, int64_t now)
{
	struct um_buf name = { 0 };
	bool good = um_sealed_text_open(&name, text, keys, &purpose, now)
			== UM_SEALED_TEXT_GOOD
		&& name.len > 0 && name.len <= UM_SUBJECT_MAX
		&& um_str_is_text(um_buf_str(&name));

	if (good) {
		memcpy(subject, name.ptr, name.len);
		subject[name.len] = '\0';
	}
	um_buf_free(&name);
	return good;
}
