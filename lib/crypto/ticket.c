/* SPDX-License-Identifier: MIT */
#include "crypto/ticket.h"

#include <string.h>

#include "core/base64.h"
#include "crypto/envelope.h"

#define EXPIRES_LEN 8
#define BYTES_MIN (UM_ENVELOPE_OVERHEAD + EXPIRES_LEN + 1)
#define BYTES_MAX (UM_ENVELOPE_OVERHEAD + EXPIRES_LEN + UM_SUBJECT_MAX)

bool
um_ticket_open(char subject[static UM_SUBJECT_MAX + 1], struct um_str text,
	const struct um_keys *keys, int64_t now)
{
	uint8_t bytes[BYTES_MAX];
	uint8_t plain[EXPIRES_LEN + UM_SUBJECT_MAX];
	uint8_t derived[UM_KEY_LEN];
	const struct um_str envelope = { (const char *)bytes,
		text.len * 6 / 8 };
	const struct um_key *key;
	struct um_str name;
	uint64_t expires = 0;
	bool genuine;

	if (envelope.len < BYTES_MIN || envelope.len > BYTES_MAX
		|| !um_base64url_decode(bytes, envelope.len, text))
		return false;
	key = um_envelope_key(envelope, 1, keys);
	if (key == NULL)
		return false;
	genuine = um_keys_derive(derived, keys, key, um_str(NULL),
			  um_str("urlmode ticket v1"))
		&& um_envelope_open(plain, keys, derived, um_str("ticket"),
			envelope);
	explicit_bzero(derived, sizeof(derived));
	if (!genuine)
		return false;
	for (size_t i = 0; i < EXPIRES_LEN; i++)
		expires = expires << 8 | plain[i];
	name = (struct um_str){ (const char *)plain + EXPIRES_LEN,
		envelope.len - UM_ENVELOPE_OVERHEAD - EXPIRES_LEN };
	if (now < 0 || expires <= (uint64_t)now || !um_str_is_text(name))
		return false;
	memcpy(subject, name.ptr, name.len);
	subject[name.len] = '\0';
	return true;
}
