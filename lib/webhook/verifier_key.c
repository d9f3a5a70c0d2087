/* SPDX-License-Identifier: MIT */
#include "webhook/verifier_key.h"

#include <string.h>
#include <time.h>

#include <openssl/core_names.h>

#include "core/encode.h"

#define ED25519_LEN 32

bool
um_verifier_accepts_key_form(enum um_algorithm algorithm, enum um_key_form form)
{
	if (algorithm == UM_JWT || form == UM_KEY_JWKS)
		return algorithm == UM_JWT && form == UM_KEY_JWKS;
	if (um_verifier_is_hmac(algorithm))
		return form != UM_KEY_CERTIFICATE;
	if (algorithm == UM_TOKEN)
		return form == UM_KEY_UTF8;
	return form != UM_KEY_UTF8;
}

/* A keyed HMAC, or NULL. */
static EVP_MAC_CTX *
hmac_new(enum um_algorithm algorithm, const uint8_t *bytes, size_t len)
{
	static const char *const digests[] = { "SHA256", "SHA512" };
	EVP_MAC *mac = EVP_MAC_fetch(NULL, "HMAC", NULL);
	EVP_MAC_CTX *ctx = mac != NULL ? EVP_MAC_CTX_new(mac) : NULL;
	OSSL_PARAM params[] = {
		OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST,
			(char *)digests[algorithm], 0),
		OSSL_PARAM_construct_end(),
	};

	EVP_MAC_free(mac);
	if (ctx != NULL && EVP_MAC_init(ctx, bytes, len, params) != 1) {
		EVP_MAC_CTX_free(ctx);
		ctx = NULL;
	}
	return ctx;
}

static enum um_verify_error
check_public(enum um_algorithm algorithm, const EVP_PKEY *public)
{
	if (public == NULL)
		return UM_VERIFY_KEY_NOT_PUBLIC;
	if (algorithm == UM_ED25519)
		return EVP_PKEY_is_a(public, "ED25519")
			? UM_VERIFY_OK
			: UM_VERIFY_KEY_NOT_ED25519;
	if (!EVP_PKEY_is_a(public, "RSA"))
		return UM_VERIFY_KEY_NOT_RSA;
	return EVP_PKEY_get_bits(public) >= UM_RSA_BITS_MIN
		? UM_VERIFY_OK
		: UM_VERIFY_KEY_SHORT;
}

static EVP_PKEY *
public_of_bytes(enum um_algorithm algorithm, const uint8_t *bytes, size_t len)
{
	const uint8_t *at = bytes;
	EVP_PKEY *public;

	if (algorithm == UM_ED25519 && len == ED25519_LEN)
		return EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, NULL,
			bytes, len);
	public = d2i_PUBKEY(NULL, &at, (long)len);
	if (public != NULL && at != bytes + len) {
		EVP_PKEY_free(public);
		public = NULL;
	}
	return public;
}

/* Decodes the bytes of a key. OK, or why it is refused. */
static enum um_verify_error
decode_key(uint8_t *out, size_t max, size_t *len, enum um_key_form form,
	struct um_str text)
{
	switch (form) {
	case UM_KEY_BASE64:
		if (!um_base64_decode(out, max, len, text))
			return UM_VERIFY_KEY_NOT_BASE64;
		break;
	case UM_KEY_HEX:
		if (!um_hex_decode(out, max, len, text))
			return UM_VERIFY_KEY_NOT_HEX;
		break;
	default:
		if (text.len > max)
			return UM_VERIFY_KEY_TOO_LONG;
		memcpy(out, text.ptr, text.len);
		*len = text.len;
	}
	return *len != 0 ? UM_VERIFY_OK : UM_VERIFY_KEY_EMPTY;
}

enum um_verify_error
um_verifier_key_read(struct um_verifier_key *key, enum um_algorithm algorithm,
	enum um_key_form form, const char *text)
{
	uint8_t bytes[UM_SECRET_TEXT_MAX];
	enum um_verify_error error;
	size_t len = 0;

	*key = (struct um_verifier_key){ 0 };
	if (text[0] == '\0')
		return UM_VERIFY_KEY_EMPTY;
	/* As an editor or a shell leaves it, and no provider gives it. */
	if (um_str_trim(um_str(text)).len != strlen(text)
		|| strpbrk(text, "\r\n") != NULL)
		return UM_VERIFY_KEY_BLANK;
	error = decode_key(bytes, sizeof(bytes), &len, form, um_str(text));
	if (error != UM_VERIFY_OK)
		goto out;
	if (um_verifier_is_hmac(algorithm)) {
		key->mac = hmac_new(algorithm, bytes, len);
		error = key->mac != NULL ? UM_VERIFY_OK
					 : UM_VERIFY_KEY_UNUSABLE;
	} else if (algorithm == UM_TOKEN) {
		SHA256(bytes, len, key->token);
	} else {
		key->public = public_of_bytes(algorithm, bytes, len);
		error = check_public(algorithm, key->public);
	}
	if (error != UM_VERIFY_OK)
		um_verifier_key_free(key);
out:
	explicit_bzero(bytes, sizeof(bytes));
	return error;
}

static bool
unix_ms_of(const ASN1_TIME *when, int64_t *out)
{
	struct tm tm;
	time_t seconds;

	if (ASN1_TIME_to_tm(when, &tm) != 1)
		return false;
	seconds = timegm(&tm);
	*out = (int64_t)seconds * 1000;
	return true;
}

enum um_verify_error
um_verifier_key_of_certificate(struct um_verifier_key *key,
	enum um_algorithm algorithm, X509 *certificate)
{
	enum um_verify_error error;

	*key = (struct um_verifier_key){ .has_dates = true };
	if (!unix_ms_of(X509_get0_notBefore(certificate), &key->from_ms)
		|| !unix_ms_of(X509_get0_notAfter(certificate), &key->to_ms))
		return UM_VERIFY_NO_DATES;
	key->to_ms += 999;
	key->public = X509_get_pubkey(certificate);
	error = check_public(algorithm, key->public);
	if (error != UM_VERIFY_OK)
		um_verifier_key_free(key);
	return error;
}

void
um_verifier_key_free(struct um_verifier_key *key)
{
	EVP_MAC_CTX_free(key->mac);
	EVP_PKEY_free(key->public);
	key->mac = NULL;
	key->public = NULL;
}
