/* SPDX-License-Identifier: MIT */
/*
 * Why a key is refused, a signature is not right, or a delivery cannot be signed:
 * the codes of verifier, verifier_key, scheme and sign, and one function that
 * names them.
 */
#ifndef UM_VERIFY_ERROR_H
#define UM_VERIFY_ERROR_H

/*
 * name, and for a person: what follows "the secret", "the certificate", "the
 * signature" or "--sign:". DIGITS: a challenge would sign these for anyone.
 */
#define UM_VERIFY_ERRORS(X)                                                    \
	X(OK, "")                                                              \
	/* Of a secret or public key. */                                       \
	X(KEY_EMPTY, "is empty")                                               \
	X(KEY_BLANK, "begins or ends with a blank or a line end")              \
	X(KEY_TOO_LONG, "is too long")                                         \
	X(KEY_NOT_BASE64, "is not base64, or too long")                        \
	X(KEY_NOT_HEX, "is not hex, or too long")                              \
	X(KEY_UNUSABLE, "OpenSSL refuses it")                                  \
	X(KEY_NOT_PUBLIC, "is not a public key")                               \
	X(KEY_NOT_ED25519, "is not an Ed25519 key")                            \
	X(KEY_NOT_RSA, "is not an RSA key")                                    \
	X(KEY_SHORT, "is an RSA key of fewer than 2048 bits")                  \
	X(KEYS_TOO_MANY, "is more than a scheme can have")                     \
	/* Of a file of certificates. */                                       \
	X(FILE_UNREADABLE, "cannot be read")                                   \
	X(NO_CERTIFICATE, "has no certificate that can sign deliveries")       \
	X(NO_DATES, "has a certificate without dates")                         \
	X(CERTIFICATES_TOO_MANY, "has too many certificates")                  \
	/* Of the signature of a delivery. */                                  \
	X(NOT_PARAMETERS, "does not consist of parameters")                    \
	X(NO_FIELD, "has no parameter of this name")                           \
	X(NO_PREFIX, "does not begin with the prefix")                         \
	X(NOT_ENCODED, "is not hex or base64, as the description says")        \
	X(TOO_MANY, "is one of too many")                                      \
	X(OUT_OF_DATE, "cannot be verified: the certificate is not valid now") \
	X(VALUE_BAD, "cannot be verified: a signed value is not readable")     \
	X(DIGITS, "is of hexadecimal digits only")                             \
	X(NOT_A_JWT,                                                           \
		"is not a JSON Web Token with an algorithm that is accepted")  \
	X(UNKNOWN_KEY,                                                         \
		"cannot be verified: its key is not in the file of keys")      \
	X(OTHER_BODY, "has not the digest of this body")                       \
	X(WRONG, "is not that of this text and secret")                        \
	/* Of a request that is to be signed. */                               \
	X(NO_SECRET, "no scheme has a secret")                                 \
	X(NOT_HMAC, "only an HMAC can be made with what the site has")         \
	X(NOT_A_PLACE, "the request has no place for the signature")           \
	X(VALUE_ABSENT, "a value that is signed is not in the request")

enum um_verify_error {
#define X(name, text) UM_VERIFY_##name,
	UM_VERIFY_ERRORS(X)
#undef X
};

const char *um_verify_error_text(enum um_verify_error error);

#endif
