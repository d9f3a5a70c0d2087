/* SPDX-License-Identifier: MIT */
#include "webhook/verify_error.h"

const char *
um_verify_error_text(enum um_verify_error error)
{
	static const char *const texts[] = {
		[UM_VERIFY_OK] = "",
		[UM_VERIFY_KEY_EMPTY] = "is empty",
		[UM_VERIFY_KEY_BLANK] =
			"begins or ends with a blank or a line end",
		[UM_VERIFY_KEY_TOO_LONG] = "is too long",
		[UM_VERIFY_KEY_NOT_BASE64] = "is not base64, or too long",
		[UM_VERIFY_KEY_NOT_HEX] = "is not hex, or too long",
		[UM_VERIFY_KEY_UNUSABLE] = "OpenSSL refuses it",
		[UM_VERIFY_KEY_NOT_PUBLIC] = "is not a public key",
		[UM_VERIFY_KEY_NOT_ED25519] = "is not an Ed25519 key",
		[UM_VERIFY_KEY_NOT_RSA] = "is not an RSA key",
		[UM_VERIFY_KEY_SHORT] = "is an RSA key of fewer than 2048 bits",
		[UM_VERIFY_KEYS_TOO_MANY] = "is more than a scheme can have",
		[UM_VERIFY_FILE_UNREADABLE] = "cannot be read",
		[UM_VERIFY_NO_CERTIFICATE] =
			"has no certificate that can sign deliveries",
		[UM_VERIFY_NO_DATES] = "has a certificate without dates",
		[UM_VERIFY_CERTIFICATES_TOO_MANY] = "has too many certificates",
		[UM_VERIFY_NOT_PARAMETERS] = "does not consist of parameters",
		[UM_VERIFY_NO_FIELD] = "has no parameter of this name",
		[UM_VERIFY_NO_PREFIX] = "does not begin with the prefix",
		[UM_VERIFY_NOT_ENCODED] =
			"is not hex or base64, as the description says",
		[UM_VERIFY_TOO_MANY] = "is one of too many",
		[UM_VERIFY_OUT_OF_DATE] =
			"cannot be verified: the certificate is not valid now",
		[UM_VERIFY_VALUE_BAD] =
			"cannot be verified: a signed value is not readable",
		[UM_VERIFY_DIGITS] = /* A challenge would sign these for anyone. */
		"is of hexadecimal digits only",
		[UM_VERIFY_NOT_A_JWT] =
			("is not a JSON Web Token with an algorithm that is "
			 "accepted"),
		[UM_VERIFY_UNKNOWN_KEY] = ("cannot be verified: its key is not "
					   "in the file of keys"),
		[UM_VERIFY_OTHER_BODY] = "has not the digest of this body",
		[UM_VERIFY_WRONG] = "is not that of this text and secret",
		[UM_VERIFY_NO_SECRET] = "no scheme has a secret",
		[UM_VERIFY_NOT_HMAC] =
			"only an HMAC can be made with what the site has",
		[UM_VERIFY_NOT_A_PLACE] =
			"the request has no place for the signature",
		[UM_VERIFY_VALUE_ABSENT] =
			"a value that is signed is not in the request",
	};

	return texts[error];
}
