/* SPDX-License-Identifier: MIT */
#include "crypto/evp.h"

#include <stdbool.h>
#include <threads.h>

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/params.h>

struct algorithms {
	bool looked_up;
	EVP_MD *sha256;
	EVP_CIPHER_CTX *aes_256_gcm;
	EVP_MAC_CTX *hmac_sha256;
};

static once_flag once = ONCE_FLAG_INIT;
static tss_t thread_end;
static bool has_thread_end; /* there are only so many */

static EVP_CIPHER_CTX *
new_aes_256_gcm(void)
{
	EVP_CIPHER *cipher = EVP_CIPHER_fetch(NULL, "AES-256-GCM", NULL);
	EVP_CIPHER_CTX *ctx = cipher != NULL ? EVP_CIPHER_CTX_new() : NULL;

	if (ctx != NULL
		&& EVP_EncryptInit_ex(ctx, cipher, NULL, NULL, NULL) != 1) {
		EVP_CIPHER_CTX_free(ctx);
		ctx = NULL;
	}
	EVP_CIPHER_free(cipher);
	return ctx;
}

static EVP_MAC_CTX *
new_hmac(void)
{
	EVP_MAC *mac = EVP_MAC_fetch(NULL, "HMAC", NULL);
	EVP_MAC_CTX *ctx = mac != NULL ? EVP_MAC_CTX_new(mac) : NULL;
	const OSSL_PARAM params[] = {
		OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST,
			(char *)"SHA256", 0),
		OSSL_PARAM_construct_end(),
	};

	EVP_MAC_free(mac);
	if (ctx != NULL && EVP_MAC_CTX_set_params(ctx, params) != 1) {
		EVP_MAC_CTX_free(ctx);
		ctx = NULL;
	}
	return ctx;
}

/* The thread's own. */
static struct algorithms *
mine(void)
{
	static _Thread_local struct algorithms known;

	return &known;
}

static void
forget(void)
{
	struct algorithms *known = mine();

	EVP_MD_free(known->sha256);
	EVP_CIPHER_CTX_free(known->aes_256_gcm);
	EVP_MAC_CTX_free(known->hmac_sha256);
}

static void
on_thread_end(void *unused)
{
	(void)unused;
	forget();
}

/* The main thread ends with the process, and not before. */
static void
set_ends(void)
{
	has_thread_end = tss_create(&thread_end, on_thread_end) == thrd_success;
	OPENSSL_atexit(forget);
}

static const struct algorithms *
look_up(void)
{
	struct algorithms *known = mine();

	if (known->looked_up)
		return known;
	known->looked_up = true;
	known->sha256 = EVP_MD_fetch(NULL, "SHA256", NULL);
	known->aes_256_gcm = new_aes_256_gcm();
	known->hmac_sha256 = new_hmac();
	call_once(&once, set_ends);
	if (has_thread_end)
		tss_set(thread_end, known);
	return known;
}

const EVP_MD *
um_evp_sha256(void)
{
	return look_up()->sha256;
}

EVP_CIPHER_CTX *
um_evp_aes_256_gcm(void)
{
	return look_up()->aes_256_gcm;
}

EVP_MAC_CTX *
um_evp_hmac_sha256(void)
{
	return look_up()->hmac_sha256;
}
