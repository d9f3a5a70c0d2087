/* SPDX-License-Identifier: MIT */
#include "jose/jws.h"

#include <stdlib.h>
#include <strings.h>

#include <openssl/ecdsa.h>
#include <openssl/evp.h>
#include <openssl/rsa.h>

#include "core/encode.h"
#include "core/json.h"

#define HEADER_VALUES_MAX 64
#define ES256_HALF 32    /* bytes of r and of s (RFC 7518 section 3.4) */
#define ES256_DER_MAX 80 /* bytes of both in DER */
#define SIGNATURE_MAX (UM_JWK_BITS_MAX / 8)

/* The three parts, still encoded. */
struct parts {
	struct um_str header, payload, signature;
	struct um_str input; /* what is signed: header, dot, payload */
};

static bool
split(struct parts *parts, struct um_str token)
{
	struct um_str rest = token;

	if (token.len > UM_JWS_MAX)
		return false;
	parts->header = um_str_cut(&rest, ".");
	if (rest.ptr == NULL)
		return false;
	parts->payload = um_str_cut(&rest, ".");
	parts->signature = rest;
	parts->input = (struct um_str){ token.ptr,
		parts->header.len + 1 + parts->payload.len };
	return parts->header.len != 0 && rest.ptr != NULL;
}

/* Appends the bytes of one part. */
static bool
decode(struct um_buf *out, struct um_str part)
{
	size_t len = part.len * 6 / 8;

	if (!um_buf_reserve(out, len + 1)
		|| !um_base64url_decode((uint8_t *)out->ptr + out->len, len,
			part))
		return false;
	out->len += len;
	return true;
}

static struct um_json_node *
parse_header(struct um_str part)
{
	struct um_buf text = { 0 };
	struct um_json_node *header = NULL;

	if (part.len <= UM_BASE64_LEN(UM_JWS_HEADER_MAX) && decode(&text, part))
		header = um_json_parse(um_buf_str(&text), HEADER_VALUES_MAX,
			NULL);
	um_buf_free(&text);
	return header;
}

/* Sets *out to a member that is a string, or to nothing where it is missing. */
static bool
get_text(const struct um_json_node *header, const char *name,
	struct um_str *out)
{
	const struct um_json_node *node = um_json_member(header, um_str(name));

	*out = (struct um_str){ 0 };
	if (node == NULL)
		return true;
	*out = um_json_str(node);
	return node->kind == UM_JSON_STRING;
}

/*
 * An access token, a logout token and others of the same provider say in `typ`
 * what they are (RFC 8725 section 3.11).
 */
static bool
is_plain_type(struct um_str typ)
{
	return typ.ptr == NULL
		|| (typ.len == 3 && strncasecmp(typ.ptr, "JWT", 3) == 0);
}

static enum um_jws_verdict
check_header(enum um_jws_alg *alg, struct um_str *kid,
	const struct um_json_node *header)
{
	struct um_str name, typ;

	if (!um_json_is(header, UM_JSON_OBJECT)
		|| !get_text(header, "alg", &name)
		|| !get_text(header, "kid", kid)
		|| !get_text(header, "typ", &typ) || !is_plain_type(typ)
		|| um_json_member(header, um_str("crit")) != NULL)
		return UM_JWS_MALFORMED;
	return um_jws_alg_of(name, alg) ? UM_JWS_GOOD : UM_JWS_ALGORITHM;
}

static enum um_jws_verdict
find_key(const struct um_jwk **key, enum um_jws_alg *alg,
	const struct um_json_node *header, const struct um_jwks *jwks)
{
	struct um_str kid;
	enum um_jws_verdict verdict = check_header(alg, &kid, header);

	if (verdict != UM_JWS_GOOD)
		return verdict;
	*key = um_jwks_find(jwks, *alg, kid);
	return *key != NULL ? UM_JWS_GOOD : UM_JWS_UNKNOWN_KEY;
}

/* r and s as ECDSA-Sig-Value (RFC 3279 section 2.2.3); 0 where that fails. */
static size_t
der_of_es256(uint8_t out[static ES256_DER_MAX],
	const uint8_t raw[static 2 * ES256_HALF])
{
	ECDSA_SIG *pair = ECDSA_SIG_new();
	BIGNUM *r = BN_bin2bn(raw, ES256_HALF, NULL);
	BIGNUM *s = BN_bin2bn(raw + ES256_HALF, ES256_HALF, NULL);
	uint8_t *end = out;
	int len = 0;

	if (pair != NULL && r != NULL && s != NULL
		&& ECDSA_SIG_set0(pair, r, s) == 1) {
		r = s = NULL; /* the pair owns them */
		len = i2d_ECDSA_SIG(pair, &end);
	}
	BN_free(r);
	BN_free(s);
	ECDSA_SIG_free(pair);
	return len > 0 ? (size_t)len : 0;
}

static bool
verify(EVP_PKEY *key, enum um_jws_alg alg, struct um_str input,
	const uint8_t *signature, size_t len)
{
	const EVP_MD *digest = alg == UM_JWS_EDDSA ? NULL : EVP_sha256();
	EVP_MD_CTX *ctx = EVP_MD_CTX_new();
	EVP_PKEY_CTX *key_ctx;
	bool ok = ctx != NULL
		&& EVP_DigestVerifyInit(ctx, &key_ctx, digest, NULL, key) == 1;

	/* RFC 7518 section 3.5: the salt is as long as the digest. */
	if (ok && alg == UM_JWS_PS256)
		ok = EVP_PKEY_CTX_set_rsa_padding(key_ctx,
			     RSA_PKCS1_PSS_PADDING)
				== 1
			&& EVP_PKEY_CTX_set_rsa_pss_saltlen(key_ctx,
				   RSA_PSS_SALTLEN_DIGEST)
				== 1;
	ok = ok
		&& EVP_DigestVerify(ctx, signature, len,
			   (const uint8_t *)input.ptr, input.len)
			== 1;
	EVP_MD_CTX_free(ctx);
	return ok;
}

static bool
matches(const struct um_jwk *key, enum um_jws_alg alg,
	const struct parts *parts)
{
	uint8_t bytes[SIGNATURE_MAX], der[ES256_DER_MAX];
	size_t len = parts->signature.len * 6 / 8;

	if (len == 0 || len > sizeof(bytes)
		|| !um_base64url_decode(bytes, len, parts->signature))
		return false;
	if (alg != UM_JWS_ES256)
		return verify(key->public, alg, parts->input, bytes, len);
	if (len != (size_t)2 * ES256_HALF)
		return false;
	len = der_of_es256(der, bytes);
	return len != 0 && verify(key->public, alg, parts->input, der, len);
}

enum um_jws_verdict
um_jws_verify(struct um_buf *payload, struct um_str token,
	const struct um_jwks *jwks)
{
	const struct um_jwk *key = NULL;
	struct um_json_node *header = NULL;
	enum um_jws_verdict verdict;
	enum um_jws_alg alg;
	struct parts parts;

	if (!split(&parts, token))
		return UM_JWS_MALFORMED;
	header = parse_header(parts.header);
	verdict = find_key(&key, &alg, header, jwks);
	free(header);
	if (verdict != UM_JWS_GOOD)
		return verdict;
	if (!matches(key, alg, &parts))
		return UM_JWS_FORGED;
	return decode(payload, parts.payload) ? UM_JWS_GOOD : UM_JWS_MALFORMED;
}
