/* SPDX-License-Identifier: MIT */
#include "webhook/verifier.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/sha.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include "core/base64.h"
#include "core/hex.h"

#define ED25519_LEN 32

struct key {
	EVP_MAC_CTX *mac;                    /* HMAC, keyed, to be copied */
	EVP_PKEY *public;                    /* the other signatures */
	uint8_t token[SHA256_DIGEST_LENGTH]; /* of a static token */
	bool has_dates;
	int64_t from_ms, to_ms; /* of the certificate */
};

struct um_verifier {
	enum um_algorithm algorithm;
	enum um_encoding encoding;
	size_t len;
	struct key key[UM_VERIFIER_KEYS_MAX];
};

static bool
is_hmac(enum um_algorithm algorithm)
{
	return algorithm <= UM_HMAC_SHA512;
}

bool
um_verifier_accepts_key_form(enum um_algorithm algorithm, enum um_key_form form)
{
	if (is_hmac(algorithm))
		return form != UM_KEY_CERTIFICATE;
	if (algorithm == UM_TOKEN)
		return form == UM_KEY_UTF8;
	return form != UM_KEY_UTF8 && form != UM_KEY_SHA1;
}

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

size_t
um_verifier_count_keys(const struct um_verifier *verifier)
{
	return verifier->len;
}

void
um_verifier_free(struct um_verifier *verifier)
{
	if (verifier == NULL)
		return;
	for (size_t i = 0; i < verifier->len; i++) {
		EVP_MAC_CTX_free(verifier->key[i].mac);
		EVP_PKEY_free(verifier->key[i].public);
	}
	um_wipe_free(verifier, sizeof(*verifier));
}

/* A keyed HMAC, or NULL. */
static EVP_MAC_CTX *
hmac_new(enum um_algorithm algorithm, const uint8_t *bytes, size_t len)
{
	static const char *const digests[] = { "SHA1", "SHA256", "SHA512" };
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

static bool
is_p256(const EVP_PKEY *public)
{
	char group[32] = "";

	return EVP_PKEY_get_group_name(public, group, sizeof(group), NULL) == 1
		&& strcmp(group, "prime256v1") == 0;
}

static const char *
check_public(enum um_algorithm algorithm, const EVP_PKEY *public)
{
	if (public == NULL)
		return "is not a public key";
	if (algorithm == UM_ED25519)
		return EVP_PKEY_is_a(public, "ED25519")
			? NULL
			: "is not an Ed25519 key";
	if (algorithm == UM_ECDSA_P256)
		return is_p256(public) ? NULL
				       : "is not a key on the curve P-256";
	if (!EVP_PKEY_is_a(public, "RSA"))
		return "is not an RSA key";
	return EVP_PKEY_get_bits(public) >= UM_RSA_BITS_MIN
		? NULL
		: "is an RSA key of fewer than 2048 bits";
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

/* Decodes the bytes of a key. NULL, or why it is refused. */
static const char *
decode_key(uint8_t *out, size_t max, size_t *len, enum um_key_form form,
	struct um_str text)
{
	switch (form) {
	case UM_KEY_BASE64:
		if (!um_base64_decode(out, max, len, text))
			return "is not base64, or too long";
		break;
	case UM_KEY_HEX:
		if (!um_hex_decode(out, max, len, text))
			return "is not hex, or too long";
		break;
	case UM_KEY_SHA1:
		SHA1((const uint8_t *)text.ptr, text.len, out);
		*len = SHA_DIGEST_LENGTH;
		break;
	default:
		if (text.len > max)
			return "is too long";
		memcpy(out, text.ptr, text.len);
		*len = text.len;
	}
	return *len != 0 ? NULL : "is empty";
}

const char *
um_verifier_add_secret(struct um_verifier *verifier, enum um_key_form form,
	const char *text)
{
	struct key *key = &verifier->key[verifier->len];
	uint8_t bytes[UM_SECRET_TEXT_MAX];
	const char *reason;
	size_t len = 0;

	if (verifier->len == UM_VERIFIER_KEYS_MAX)
		return "is more than a scheme can have";
	*key = (struct key){ 0 };
	if (text[0] == '\0')
		return "is empty";
	reason = decode_key(bytes, sizeof(bytes), &len, form, um_str(text));
	if (reason != NULL)
		goto out;
	if (is_hmac(verifier->algorithm)) {
		key->mac = hmac_new(verifier->algorithm, bytes, len);
		reason = key->mac != NULL ? NULL : "OpenSSL refuses it";
	} else if (verifier->algorithm == UM_TOKEN) {
		SHA256(bytes, len, key->token);
	} else {
		key->public = public_of_bytes(verifier->algorithm, bytes, len);
		reason = check_public(verifier->algorithm, key->public);
	}
	if (reason == NULL)
		verifier->len++;
	else
		EVP_PKEY_free(key->public);
out:
	explicit_bzero(bytes, sizeof(bytes));
	return reason;
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

static const char *
add_certificate(struct um_verifier *verifier, X509 *certificate)
{
	struct key *key = &verifier->key[verifier->len];
	const char *reason;

	if (verifier->len == UM_VERIFIER_KEYS_MAX)
		return "has too many certificates";
	*key = (struct key){ .has_dates = true };
	if (!unix_ms_of(X509_get0_notBefore(certificate), &key->from_ms)
		|| !unix_ms_of(X509_get0_notAfter(certificate), &key->to_ms))
		return "has a certificate without dates";
	key->to_ms += 999;
	key->public = X509_get_pubkey(certificate);
	reason = check_public(verifier->algorithm, key->public);
	if (reason == NULL)
		verifier->len++;
	else
		EVP_PKEY_free(key->public);
	return reason;
}

const char *
um_verifier_add_certificates(struct um_verifier *verifier, const char *path)
{
	BIO *bio = BIO_new_file(path, "r");
	const char *reason = NULL;
	size_t before = verifier->len;
	X509 *certificate;

	if (bio == NULL)
		return "cannot be read";
	while (reason == NULL
		&& (certificate = PEM_read_bio_X509(bio, NULL, NULL, NULL))
			!= NULL) {
		if (X509_check_ca(certificate) != 1)
			reason = add_certificate(verifier, certificate);
		X509_free(certificate);
	}
	BIO_free(bio);
	if (reason == NULL && verifier->len == before)
		reason = "has no certificate that can sign deliveries";
	return reason;
}

static bool
decode_signature(uint8_t out[static UM_SIGNATURE_LEN_MAX], size_t *len,
	enum um_encoding encoding, struct um_str text)
{
	/* Only the named alphabet: a signature has a single spelling. */
	const char *foreign = encoding == UM_BASE64 ? "-_" : "+/";

	if (encoding == UM_HEX)
		return um_hex_decode(out, UM_SIGNATURE_LEN_MAX, len, text);
	if (text.len == 0 || (encoding == UM_BASE64 && text.len % 4 != 0)
		|| memchr(text.ptr, foreign[0], text.len) != NULL
		|| memchr(text.ptr, foreign[1], text.len) != NULL)
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

/* One computation for all signatures: a body may have a megabyte. */
static bool
match_hmac(const struct key *key, struct um_str message,
	const struct signatures *signatures)
{
	EVP_MAC_CTX *ctx = EVP_MAC_CTX_dup(key->mac);
	uint8_t expected[EVP_MAX_MD_SIZE];
	size_t expected_len = 0;
	bool done = ctx != NULL
		&& EVP_MAC_update(ctx, (const uint8_t *)message.ptr,
			   message.len)
			== 1
		&& EVP_MAC_final(ctx, expected, &expected_len, sizeof(expected))
			== 1;
	bool ok = false;

	for (size_t i = 0; done && i < signatures->len; i++)
		ok |= signatures->signature[i].len == expected_len
			&& CRYPTO_memcmp(signatures->signature[i].bytes,
				   expected, expected_len)
				== 0;
	explicit_bzero(expected, sizeof(expected));
	EVP_MAC_CTX_free(ctx);
	return ok;
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

static bool
match_token(const struct key *key, struct um_str token)
{
	uint8_t digest[SHA256_DIGEST_LENGTH];

	if (token.len == 0)
		return false;
	/* Comparing digests does not reveal the length of the secret. */
	SHA256((const uint8_t *)token.ptr, token.len, digest);
	return CRYPTO_memcmp(digest, key->token, sizeof(digest)) == 0;
}

static bool
match_token_of(const struct um_verifier *verifier, struct um_str token)
{
	bool ok = false;

	for (size_t k = 0; k < verifier->len; k++)
		ok |= match_token(&verifier->key[k], token);
	return ok;
}

static bool
match_hmac_of(const struct um_verifier *verifier, struct um_str message,
	const struct signatures *signatures)
{
	bool ok = false;

	for (size_t k = 0; k < verifier->len && !ok; k++)
		ok = match_hmac(&verifier->key[k], message, signatures);
	return ok;
}

static bool
match_public_of(const struct um_verifier *verifier, struct um_str message,
	const struct signatures *signatures, int64_t now_ms)
{
	bool ed25519 = verifier->algorithm == UM_ED25519, ok = false;
	uint8_t digest[SHA256_DIGEST_LENGTH];

	if (signatures->len > UM_PUBLIC_SIGNATURES_MAX)
		return false;
	if (!ed25519)
		SHA256((const uint8_t *)message.ptr, message.len, digest);
	for (size_t k = 0; k < verifier->len; k++) {
		const struct key *key = &verifier->key[k];

		if (key->has_dates
			&& (now_ms < key->from_ms || now_ms > key->to_ms))
			continue;
		for (size_t i = 0; i < signatures->len && !ok; i++)
			ok = ed25519 ? match_ed25519(key->public, message,
				     &signatures->signature[i])
				     : match_digest(key->public, digest,
					     &signatures->signature[i]);
	}
	return ok;
}

bool
um_verifier_match(const struct um_verifier *verifier, struct um_str message,
	const struct um_str *texts, size_t len, int64_t now_ms)
{
	struct signatures signatures = { .len = len };
	bool ok = false;

	if (len > UM_SIGNATURES_MAX)
		return false;
	if (verifier->algorithm == UM_TOKEN) {
		for (size_t i = 0; i < len; i++)
			ok |= match_token_of(verifier, texts[i]);
		return ok;
	}
	/* A malformed signature is refused even beside a right one. */
	for (size_t i = 0; i < len; i++)
		if (!decode_signature(signatures.signature[i].bytes,
			    &signatures.signature[i].len, verifier->encoding,
			    texts[i]))
			return false;
	return is_hmac(verifier->algorithm)
		? match_hmac_of(verifier, message, &signatures)
		: match_public_of(verifier, message, &signatures, now_ms);
}
