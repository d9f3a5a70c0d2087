/* SPDX-License-Identifier: MIT */
#include "crypto/ticket.h"

#include <string.h>

#include "core/base64.h"
#include "crypto/aead.h"

#define VERSION 1
#define INFO "urlmode ticket v1"
#define HEAD_LEN (2 + UM_NONCE_LEN)
#define EXPIRES_LEN 8
#define BYTES_MIN (HEAD_LEN + EXPIRES_LEN + 1 + UM_TAG_LEN)
#define BYTES_MAX (HEAD_LEN + EXPIRES_LEN + UM_SUBJECT_MAX + UM_TAG_LEN)

bool
um_ticket_open(char subject[static UM_SUBJECT_MAX + 1], struct um_str text,
	const struct um_keys *keys, int64_t now)
{
	uint8_t bytes[BYTES_MAX];
	uint8_t plain[EXPIRES_LEN + UM_SUBJECT_MAX];
	uint8_t derived[UM_AEAD_KEY_LEN];
	size_t len = text.len * 6 / 8;
	char aad[] = { VERSION, 0, 't', 'i', 'c', 'k', 'e', 't' };
	const struct um_key *key;
	struct um_str sealed;
	struct um_str name;
	uint64_t expires = 0;
	bool genuine;

	if (len < BYTES_MIN || len > BYTES_MAX
		|| !um_base64url_decode(bytes, len, text)
		|| bytes[0] != VERSION)
		return false;
	key = um_keys_find(keys, bytes[1]);
	if (key == NULL
		|| !um_hkdf_sha256(derived, key->secret, key->secret_len,
			um_str(NULL), um_str(INFO)))
		return false;
	aad[1] = (char)key->kid;
	sealed = (struct um_str){ (const char *)bytes + HEAD_LEN,
		len - HEAD_LEN };
	genuine = um_aead_open(plain, derived, bytes + 2,
		(struct um_str){ aad, sizeof(aad) }, sealed);
	explicit_bzero(derived, sizeof(derived));
	if (!genuine)
		return false;
	for (size_t i = 0; i < EXPIRES_LEN; i++)
		expires = expires << 8 | plain[i];
	name = (struct um_str){ (const char *)plain + EXPIRES_LEN,
		len - HEAD_LEN - EXPIRES_LEN - UM_TAG_LEN };
	if (now < 0 || expires <= (uint64_t)now || !um_str_is_text(name))
		return false;
	memcpy(subject, name.ptr, name.len);
	subject[name.len] = '\0';
	return true;
}
