/* SPDX-License-Identifier: MIT */
/*
 * OpenSSL's algorithms, each looked up once. OpenSSL 3 looks EVP_sha256() and
 * its like up by name whenever they are used (crypto(7), "Implicit fetching"),
 * which was more than what they then do for a request.
 *
 * Each thread has its own, until it ends.
 */
#ifndef UM_EVP_H
#define UM_EVP_H

#include <openssl/evp.h>

/* NULL where OpenSSL does not have it: what they are given to fails then. */
const EVP_MD *um_evp_sha256(void);

/* Each to be given a key, and keeps it until the next: one for all callers. */
EVP_CIPHER_CTX *um_evp_aes_256_gcm(void);
EVP_MAC_CTX *um_evp_hmac_sha256(void); /* RFC 2104 */

#endif
