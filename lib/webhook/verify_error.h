/* SPDX-License-Identifier: MIT */
/*
 * Why a key is refused, a signature is not right, or a delivery cannot be signed:
 * the codes of verifier, verifier_key, scheme and sign, and one function that
 * names them.
 */
#ifndef UM_VERIFY_ERROR_H
#define UM_VERIFY_ERROR_H

enum um_verify_error {
	UM_VERIFY_OK,
	/* Of a secret or public key. */
	UM_VERIFY_KEY_EMPTY,
	UM_VERIFY_KEY_BLANK,
	UM_VERIFY_KEY_TOO_LONG,
	UM_VERIFY_KEY_NOT_BASE64,
	UM_VERIFY_KEY_NOT_HEX,
	UM_VERIFY_KEY_UNUSABLE,
	UM_VERIFY_KEY_NOT_PUBLIC,
	UM_VERIFY_KEY_NOT_ED25519,
	UM_VERIFY_KEY_NOT_RSA,
	UM_VERIFY_KEY_SHORT,
	UM_VERIFY_KEYS_TOO_MANY,
	/* Of a file of certificates. */
	UM_VERIFY_FILE_UNREADABLE,
	UM_VERIFY_NO_CERTIFICATE,
	UM_VERIFY_NO_DATES,
	UM_VERIFY_CERTIFICATES_TOO_MANY,
	/* Of the signature of a delivery. */
	UM_VERIFY_NOT_PARAMETERS,
	UM_VERIFY_NO_FIELD,
	UM_VERIFY_NO_PREFIX,
	UM_VERIFY_NOT_ENCODED,
	UM_VERIFY_TOO_MANY,
	UM_VERIFY_OUT_OF_DATE,
	UM_VERIFY_VALUE_BAD,
	UM_VERIFY_DIGITS,
	UM_VERIFY_NOT_A_JWT,
	UM_VERIFY_UNKNOWN_KEY,
	UM_VERIFY_OTHER_BODY,
	UM_VERIFY_WRONG,
	/* Of a request that is to be signed. */
	UM_VERIFY_NO_SECRET,
	UM_VERIFY_NOT_HMAC,
	UM_VERIFY_NOT_A_PLACE,
	UM_VERIFY_VALUE_ABSENT,
};

/*
 * For a person: what follows "the secret", "the certificate", "the signature" or
 * "--sign:".
 */
const char *um_verify_error_text(enum um_verify_error error);

#endif
