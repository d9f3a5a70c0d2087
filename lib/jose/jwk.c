/* SPDX-License-Identifier: MIT */
#include "jose/jwk.h"

#include <string.h>

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/param_build.h>

#include "core/encode.h"

#define MODULUS_MAX (UM_JWK_BITS_MAX / 8 + 1) /* some write a leading zero */
#define EXPONENT_MAX 4
#define COORDINATE_LEN 32
#define ED25519_LEN 32

bool
um_jws_alg_of(struct um_str alg, enum um_jws_alg *out)
{
	static const char *const names[UM_JWS_ALGS] = { "RS256", "PS256",
		"ES256", "EdDSA" };

	for (unsigned i = 0; i < UM_JWS_ALGS; i++)
		if (um_str_is(alg, names[i])) {
			*out = (enum um_jws_alg)i;
			return true;
		}
	return false;
}

static const struct um_json_node *
member(const struct um_json_node *node, const char *name)
{
	return um_json_member(node, um_str(name));
}

static bool
is(const struct um_json_node *node, const char *text)
{
	return um_json_string_eq(node, um_str(text));
}

/* A member that is base64url of 1 to `max` bytes. */
static bool
get_bytes(const struct um_json_node *node, const char *name, uint8_t *out,
	size_t max, size_t *len)
{
	const struct um_json_node *value = member(node, name);

	if (!um_json_is(value, UM_JSON_STRING))
		return false;
	*len = (size_t)value->len * 6 / 8;
	return *len > 0 && *len <= max
		&& um_base64url_decode(out, *len, um_json_str(value));
}

/* The same of exactly `len` bytes. */
static bool
get_exact(const struct um_json_node *node, const char *name, uint8_t *out,
	size_t len)
{
	size_t got;

	return get_bytes(node, name, out, len, &got) && got == len;
}

/* NULL where OpenSSL refuses the key, which it does off the curve. */
static EVP_PKEY *
key_of_params(const char *type, OSSL_PARAM_BLD *build)
{
	OSSL_PARAM *params = OSSL_PARAM_BLD_to_param(build);
	EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new_from_name(NULL, type, NULL);
	EVP_PKEY *key = NULL;

	if (params != NULL && ctx != NULL && EVP_PKEY_fromdata_init(ctx) == 1
		&& EVP_PKEY_fromdata(ctx, &key, EVP_PKEY_PUBLIC_KEY, params)
			!= 1)
		key = NULL;
	EVP_PKEY_CTX_free(ctx);
	OSSL_PARAM_free(params);
	return key;
}

/* RFC 7518 section 6.3.1. */
static EVP_PKEY *
read_rsa(const struct um_json_node *node)
{
	uint8_t modulus[MODULUS_MAX], exponent[EXPONENT_MAX];
	size_t modulus_len, exponent_len;
	OSSL_PARAM_BLD *build = NULL;
	BIGNUM *n = NULL, *e = NULL;
	EVP_PKEY *key = NULL;

	if (!get_bytes(node, "n", modulus, sizeof(modulus), &modulus_len)
		|| !get_bytes(node, "e", exponent, sizeof(exponent),
			&exponent_len))
		return NULL;
	n = BN_bin2bn(modulus, (int)modulus_len, NULL);
	e = BN_bin2bn(exponent, (int)exponent_len, NULL);
	build = OSSL_PARAM_BLD_new();
	if (n != NULL && e != NULL && build != NULL
		&& BN_num_bits(n) >= UM_JWK_BITS_MIN
		&& BN_num_bits(n) <= UM_JWK_BITS_MAX && BN_is_odd(n)
		&& BN_is_odd(e) && !BN_is_one(e)
		&& OSSL_PARAM_BLD_push_BN(build, OSSL_PKEY_PARAM_RSA_N, n) == 1
		&& OSSL_PARAM_BLD_push_BN(build, OSSL_PKEY_PARAM_RSA_E, e) == 1)
		key = key_of_params("RSA", build);
	OSSL_PARAM_BLD_free(build);
	BN_free(n);
	BN_free(e);
	return key;
}

/* RFC 7518 section 6.2.1; the point as SEC 1 section 2.3.3 has it. */
static EVP_PKEY *
read_p256(const struct um_json_node *node)
{
	uint8_t point[1 + 2 * COORDINATE_LEN] = { 4 };
	OSSL_PARAM_BLD *build = NULL;
	EVP_PKEY *key = NULL;

	if (!is(member(node, "crv"), "P-256")
		|| !get_exact(node, "x", point + 1, COORDINATE_LEN)
		|| !get_exact(node, "y", point + 1 + COORDINATE_LEN,
			COORDINATE_LEN))
		return NULL;
	build = OSSL_PARAM_BLD_new();
	if (build != NULL
		&& OSSL_PARAM_BLD_push_utf8_string(build,
			   OSSL_PKEY_PARAM_GROUP_NAME, "prime256v1", 0)
			== 1
		&& OSSL_PARAM_BLD_push_octet_string(build,
			   OSSL_PKEY_PARAM_PUB_KEY, point, sizeof(point))
			== 1)
		key = key_of_params("EC", build);
	OSSL_PARAM_BLD_free(build);
	return key;
}

/* RFC 8037 section 2. */
static EVP_PKEY *
read_ed25519(const struct um_json_node *node)
{
	uint8_t bytes[ED25519_LEN];

	if (!is(member(node, "crv"), "Ed25519")
		|| !get_exact(node, "x", bytes, sizeof(bytes)))
		return NULL;
	return EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, NULL, bytes,
		sizeof(bytes));
}

/* RFC 7517 sections 4.2 and 4.3. */
static bool
may_verify(const struct um_json_node *node)
{
	const struct um_json_node *use = member(node, "use");
	const struct um_json_node *ops = member(node, "key_ops");
	const struct um_json_node *op = NULL;

	if (use != NULL && !is(use, "sig"))
		return false;
	if (ops == NULL)
		return true;
	while ((op = um_json_next(ops, op)) != NULL)
		if (is(op, "verify"))
			return true;
	return false;
}

/* Leaves of the algorithms of a key's type the one that `alg` names. */
static bool
narrow(struct um_jwk *key, const struct um_json_node *alg)
{
	enum um_jws_alg only;

	if (alg == NULL)
		return true;
	if (!um_json_is(alg, UM_JSON_STRING)
		|| !um_jws_alg_of(um_json_str(alg), &only)
		|| !key->for_alg[only])
		return false;
	memset(key->for_alg, 0, sizeof(key->for_alg));
	key->for_alg[only] = true;
	return true;
}

static bool
read_kid(struct um_jwk *key, const struct um_json_node *kid)
{
	if (kid == NULL)
		return true;
	if (!um_json_is(kid, UM_JSON_STRING) || kid->len > sizeof(key->kid))
		return false;
	key->has_kid = true;
	key->kid_len = kid->len;
	memcpy(key->kid, kid->text, kid->len);
	return true;
}

enum um_jwk_state
um_jwk_read(struct um_jwk *key, const struct um_json_node *node)
{
	const struct um_json_node *kty = member(node, "kty");

	*key = (struct um_jwk){ 0 };
	if (is(kty, "oct") || member(node, "d") != NULL)
		return UM_JWK_PRIVATE;
	key->for_alg[UM_JWS_RS256] = key->for_alg[UM_JWS_PS256] = is(kty,
		"RSA");
	key->for_alg[UM_JWS_ES256] = is(kty, "EC");
	key->for_alg[UM_JWS_EDDSA] = is(kty, "OKP");
	if (!may_verify(node) || !narrow(key, member(node, "alg"))
		|| !read_kid(key, member(node, "kid")))
		return UM_JWK_IGNORED;
	if (is(kty, "RSA"))
		key->public = read_rsa(node);
	else if (is(kty, "EC"))
		key->public = read_p256(node);
	else if (is(kty, "OKP"))
		key->public = read_ed25519(node);
	return key->public != NULL ? UM_JWK_GOOD : UM_JWK_IGNORED;
}

void
um_jwk_free(struct um_jwk *key)
{
	EVP_PKEY_free(key->public);
	*key = (struct um_jwk){ 0 };
}
