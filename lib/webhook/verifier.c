/* SPDX-License-Identifier: MIT */
#include "webhook/verifier.h"

#include <stdlib.h>
#include <string.h>

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/sha.h>
#include <openssl/x509v3.h>

#include "core/encode.h"

struct um_verifier {
	enum um_algorithm algorithm;
	enum um_encoding encoding;
	size_t len;
	struct um_verifier_key key[UM_VERIFIER_KEYS_MAX];
};

struct um_verifier *
um_verifier_new(enum um_algorithm algorithm, enum um_encoding encoding)
{
	struct um_verifier *verifier = calloc(1, sizeof(*verifier));

	if (verifier == NULL)
		return NULL;
	verifier->algorithm = algorithm;
	verifier->encoding = encoding;
	return verifier;
}

struct um_verifier *
um_verifier_like(const struct um_verifier *verifier)
{
	return um_verifier_new(verifier->algorithm, verifier->encoding);
}

size_t
um_verifier_count_keys(const struct um_verifier *verifier)
{
	return verifier->len;
}

bool
um_verifier_end(const struct um_verifier *verifier, int64_t *out)
{
	bool any = false;

	for (size_t i = 0; i < verifier->len; i++) {
		const struct um_verifier_key *key = &verifier->key[i];

		if (key->has_dates && (!any || key->to_ms > *out))
			*out = key->to_ms;
		any |= key->has_dates;
	}
	return any;
}

void
um_verifier_free(struct um_verifier *verifier)
{
	if (verifier == NULL)
		return;
	for (size_t i = 0; i < verifier->len; i++)
		um_verifier_key_free(&verifier->key[i]);
	um_wipe_free(verifier, sizeof(*verifier));
}

enum um_verify_error
um_verifier_add_secret(struct um_verifier *verifier, enum um_key_form form,
	const char *text)
{
	enum um_verify_error error;

	if (verifier->len == UM_VERIFIER_KEYS_MAX)
		return UM_VERIFY_KEYS_TOO_MANY;
	error = um_verifier_key_read(&verifier->key[verifier->len],
		verifier->algorithm, form, text);
	verifier->len += error == UM_VERIFY_OK;
	return error;
}

static enum um_verify_error
add_certificate(struct um_verifier *verifier, X509 *certificate)
{
	enum um_verify_error error;

	if (verifier->len == UM_VERIFIER_KEYS_MAX)
		return UM_VERIFY_CERTIFICATES_TOO_MANY;
	error = um_verifier_key_of_certificate(&verifier->key[verifier->len],
		verifier->algorithm, certificate);
	verifier->len += error == UM_VERIFY_OK;
	return error;
}

enum um_verify_error
um_verifier_add_certificates(struct um_verifier *verifier, const char *path)
{
	BIO *bio = BIO_new_file(path, "r");
	enum um_verify_error error = UM_VERIFY_OK;
	size_t before = verifier->len;
	X509 *certificate;

	if (bio == NULL)
		return UM_VERIFY_FILE_UNREADABLE;
	while (error == UM_VERIFY_OK
		&& (certificate = PEM_read_bio_X509(bio, NULL, NULL, NULL))
			!= NULL) {
		if (X509_check_ca(certificate) != 1)
			error = add_certificate(verifier, certificate);
		X509_free(certificate);
	}
	BIO_free(bio);
	if (error == UM_VERIFY_OK && verifier->len == before)
		error = UM_VERIFY_NO_CERTIFICATE;
	return error;
}

static bool
decode_signature(uint8_t out[static UM_SIGNATURE_LEN_MAX], size_t *len,
	enum um_encoding encoding, struct um_str text)
{
	if (encoding == UM_HEX)
		return um_hex_decode(out, UM_SIGNATURE_LEN_MAX, len, text);
	/* One alphabet and all padding: a signature has a single spelling. */
	if (text.len == 0 || text.len % 4 != 0
		|| memchr(text.ptr, '-', text.len) != NULL
		|| memchr(text.ptr, '_', text.len) != NULL)
		return false;
	return um_base64_decode(out, UM_SIGNATURE_LEN_MAX, len, text);
}

/* The signatures of one delivery, decoded. */
struct signatures {
	size_t len;
	struct signature {
		size_t len;
		uint8_t bytes[UM_SIGNATURE_LEN_MAX];
	} signature[UM_SIGNATURES_MAX];
};

static bool
hmac_of(const struct um_verifier_key *key, struct um_str message,
	uint8_t out[static EVP_MAX_MD_SIZE], size_t *len)
{
	EVP_MAC_CTX *ctx = EVP_MAC_CTX_dup(key->mac);
	bool ok = ctx != NULL
		&& EVP_MAC_update(ctx, (const uint8_t *)message.ptr,
			   message.len)
			== 1
		&& EVP_MAC_final(ctx, out, len, EVP_MAX_MD_SIZE) == 1;

	EVP_MAC_CTX_free(ctx);
	return ok;
}

/* One computation with each key for all signatures: a body may have a megabyte. */
static enum um_verify_error
match_hmac(const struct um_verifier *verifier, struct um_str message,
	const struct signatures *signatures)
{
	uint8_t expected[EVP_MAX_MD_SIZE];
	bool ok = false;

	for (size_t k = 0; k < verifier->len && !ok; k++) {
		size_t expected_len = 0;
		bool done = hmac_of(&verifier->key[k], message, expected,
			&expected_len);

		for (size_t i = 0; done && i < signatures->len; i++)
			ok |= signatures->signature[i].len == expected_len
				&& CRYPTO_memcmp(signatures->signature[i].bytes,
					   expected, expected_len)
					== 0;
	}
	explicit_bzero(expected, sizeof(expected));
	return ok ? UM_VERIFY_OK : UM_VERIFY_WRONG;
}

/* Ed25519 signs the message itself (RFC 8032), the others its SHA-256. */
static bool
match_ed25519(EVP_PKEY *public, struct um_str message,
	const struct signature *signature)
{
	EVP_MD_CTX *ctx = EVP_MD_CTX_new();
	bool ok = ctx != NULL
		&& EVP_DigestVerifyInit(ctx, NULL, NULL, NULL, public) == 1
		&& EVP_DigestVerify(ctx, signature->bytes, signature->len,
			   (const uint8_t *)message.ptr, message.len)
			== 1;

	EVP_MD_CTX_free(ctx);
	return ok;
}

static bool
match_digest(EVP_PKEY *public, const uint8_t digest[SHA256_DIGEST_LENGTH],
	const struct signature *signature)
{
	EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new(public, NULL);
	bool ok = ctx != NULL && EVP_PKEY_verify_init(ctx) == 1
		&& EVP_PKEY_CTX_set_signature_md(ctx, EVP_sha256()) == 1
		&& EVP_PKEY_verify(ctx, signature->bytes, signature->len,
			   digest, SHA256_DIGEST_LENGTH)
			== 1;

	EVP_PKEY_CTX_free(ctx);
	return ok;
}

/* Comparing digests does not reveal the length of the secret. */
static enum um_verify_error
match_tokens(const struct um_verifier *verifier, const struct um_str *tokens,
	size_t len)
{
	uint8_t digest[SHA256_DIGEST_LENGTH];
	bool ok = false;

	for (size_t i = 0; i < len; i++) {
		if (tokens[i].len == 0)
			continue;
		SHA256((const uint8_t *)tokens[i].ptr, tokens[i].len, digest);
		for (size_t k = 0; k < verifier->len; k++)
			ok |= CRYPTO_memcmp(digest, verifier->key[k].token,
				      sizeof(digest))
				== 0;
	}
	return ok ? UM_VERIFY_OK : UM_VERIFY_WRONG;
}

static enum um_verify_error
match_public(const struct um_verifier *verifier, struct um_str message,
	const struct signatures *signatures, int64_t now_ms)
{
	bool ed25519 = verifier->algorithm == UM_ED25519, ok = false;
	bool is_old = false, none_valid = true;
	uint8_t digest[SHA256_DIGEST_LENGTH];

	if (signatures->len > UM_PUBLIC_SIGNATURES_MAX)
		return UM_VERIFY_TOO_MANY;
	if (!ed25519)
		SHA256((const uint8_t *)message.ptr, message.len, digest);
	for (size_t k = 0; k < verifier->len; k++) {
		const struct um_verifier_key *key = &verifier->key[k];
		bool is_valid = !key->has_dates
			|| (now_ms >= key->from_ms && now_ms <= key->to_ms);
		bool *is_right = is_valid ? &ok : &is_old;

		none_valid = none_valid && !is_valid;
		for (size_t i = 0; i < signatures->len && !ok && !*is_right;
			i++)
			*is_right = ed25519 ? match_ed25519(key->public,
					    message, &signatures->signature[i])
					    : match_digest(key->public, digest,
						    &signatures->signature[i]);
	}
	if (ok)
		return UM_VERIFY_OK;
	return none_valid || is_old ? UM_VERIFY_OUT_OF_DATE : UM_VERIFY_WRONG;
}

enum um_verify_error
um_verifier_match(const struct um_verifier *verifier, struct um_str message,
	const struct um_str *texts, size_t len, int64_t now_ms)
{
	struct signatures signatures; /* 8 KB, of which few are needed */

	if (len > UM_SIGNATURES_MAX)
		return UM_VERIFY_TOO_MANY;
	if (verifier->algorithm == UM_TOKEN)
		return match_tokens(verifier, texts, len);
	/* A malformed signature is refused even beside a right one. */
	signatures.len = len;
	for (size_t i = 0; i < len; i++)
		if (!decode_signature(signatures.signature[i].bytes,
			    &signatures.signature[i].len, verifier->encoding,
			    texts[i]))
			return UM_VERIFY_NOT_ENCODED;
	switch (verifier->algorithm) {
	case UM_HMAC_SHA256:
	case UM_HMAC_SHA512:
		return match_hmac(verifier, message, &signatures);
	default:
		return match_public(verifier, message, &signatures, now_ms);
	}
}

bool
um_verifier_sign(const struct um_verifier *verifier, struct um_str message,
	struct um_buf *out)
{
	uint8_t mac[EVP_MAX_MD_SIZE];
	char text[2 * EVP_MAX_MD_SIZE + 1];
	size_t len;

	if (!um_verifier_is_hmac(verifier->algorithm) || verifier->len == 0
		|| !hmac_of(&verifier->key[0], message, mac, &len))
		return false;
	if (verifier->encoding == UM_HEX)
		um_hex_encode(text, mac, len);
	else
		EVP_EncodeBlock((unsigned char *)text, mac, (int)len);
	um_buf_puts(out, text);
	return true;
}
