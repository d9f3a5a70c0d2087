/* SPDX-License-Identifier: MIT */
/* Keys of the tests, and signatures that they make themselves. */
#ifndef SIGNING_H
#define SIGNING_H

#include <openssl/evp.h>

#include "core/str.h"

/*
 * The private key in tests/unit/keys/NAME.pem. Making an RSA key takes half a
 * minute under valgrind.
 */
EVP_PKEY *key_of_tests(const char *name);

/* The signature in base64; no digest for Ed25519. */
void sign_text(EVP_PKEY *key, const EVP_MD *digest, struct um_str message,
	char out[static 1024]);

/* HMAC-SHA256 of the text, in lower-case hexadecimal digits. */
void hmac_hex(char out[static 65], const char *secret, struct um_str text);

#endif
