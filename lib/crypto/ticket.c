/* SPDX-License-Identifier: MIT */
#include "crypto/ticket.h"

#include <string.h>

#include "crypto/sealed_text.h"

bool
um_ticket_open(char subject[static UM_SUBJECT_MAX + 1], struct um_str text,
	const struct um_keys *keys, int64_t now)
{
	static const struct um_seal_purpose purpose = { UM_USE_TICKET,
		{ "ticket", 6 } };
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
