/* SPDX-License-Identifier: MIT */
/* Signed tokens: the examples of the RFCs, and every way to break one. */
#include <stdlib.h>
#include <string.h>

#include "core/encode.h"
#include "jose.h"
#include "jose/jws.h"
#include "support.h"

#define JOE                                                                    \
	"eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtc"    \
	"GxlLmNvbS9pc19yb290Ijp0cnVlfQ"
#define JOE_TEXT                                                               \
	"{\"iss\":\"joe\",\r\n \"exp\":1300819380,\r\n "                       \
	"\"http://example.com/is_root\":true}"
#define RFC7515_RSA                                                            \
	"{\"kty\":\"RSA\",\"n\":\"ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQo"   \
	"Tbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2mJPMEzP1Pt0Bm4d4QlL-yRT-SFd2l"   \
	"ZS-pCgNMsD1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaS"   \
	"HSXndS5z5rexMdbBYUsLA9e-KXBdQOS-UTo7WTBEMa2R2CapHg665xsmtdVMTBQY4u"   \
	"DZlxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxXFvUK-DWNmoudF8NAco9_h9iaGNj8q"   \
	"2ethFkMLs91kzk2PAcDTW9gb54h4FRWyuXpoQ\",\"e\":\"AQAB\"}"
#define RFC7515_EC                                                             \
	"{\"kty\":\"EC\",\"crv\":\"P-256\","                                   \
	"\"x\":\"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU\","               \
	"\"y\":\"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0\"}"
#define RFC8037_OKP                                                            \
	"{\"kty\":\"OKP\",\"crv\":\"Ed25519\","                                \
	"\"x\":\"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo\"}"
#define HEADER "{\"alg\":\"ES256\",\"kid\":\"1\"}"

static enum um_jws_verdict
verify(struct um_str token, const struct um_jwks *jwks)
{
	struct um_buf payload = { 0 };
	enum um_jws_verdict verdict = um_jws_verify(&payload, token, jwks);

	assert_true(verdict == UM_JWS_GOOD || payload.len == 0);
	um_buf_free(&payload);
	return verdict;
}

TEST(examples_of_the_rfcs)
{
	static const struct {
		const char *label, *token, *payload;
		enum um_jws_verdict verdict;
	} rows[] = {
		{ "RFC 7515 A.2, RS256",
			"eyJhbGciOiJSUzI1NiJ9." JOE
			".cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu"
			"3XOiZj5RZmh7AAuHIm4Bh-0Qc_lF5YKt_O8W2Fp5jujGbds9uJdbF"
			"9CUAr7t1dnZcAcQjbKBYNX4BAynRFdiuB--f_nZLgrnbyTyWzO75v"
			"RK5h6xBArLIARNPvkSjtQBMHlb1L07Qe7K0GarZRmB_eSN9383LcO"
			"Ln6_dO--xi12jzDwusC-eOkHWEsqtFZESc6BfI7noOPqvhJ1phCnv"
			"Wh6IeYI2w9QOYEUipUTI8np6LbgGY9Fs98rqVt5AXLIhWkWywlVmt"
			"VrBp0igcN_IoypGlUPQGe77Rw",
			JOE_TEXT, UM_JWS_GOOD },
		{ "RFC 7515 A.3, ES256",
			"eyJhbGciOiJFUzI1NiJ9." JOE
			".DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw"
			"5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q",
			JOE_TEXT, UM_JWS_GOOD },
		{ "RFC 8037 A.4, EdDSA",
			"eyJhbGciOiJFZERTQSJ9."
			"RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc."
			"hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4"
			"ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg",
			"Example of Ed25519 signing", UM_JWS_GOOD },
		{ "RFC 7519 3.1, HS256",
			"eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9." JOE
			".dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk",
			NULL, UM_JWS_ALGORITHM },
		{ "RFC 7519 6.1, none", "eyJhbGciOiJub25lIn0." JOE ".", NULL,
			UM_JWS_ALGORITHM },
	};
	struct um_jwks *jwks = jose_parse(jose_set(strdup(RFC7515_RSA),
		strdup(RFC7515_EC), strdup(RFC8037_OKP), (char *)NULL));

	for (size_t i = 0; i < LENGTH(rows); i++) {
		struct um_buf payload = { 0 };

		row_begin("%s", rows[i].label);
		assert_int_equal(um_jws_verify(&payload, um_str(rows[i].token),
					 jwks),
			rows[i].verdict);
		assert_true(um_str_is(um_buf_str(&payload), rows[i].payload));
		um_buf_free(&payload);
	}
	um_jwks_free(jwks);
}

static const struct {
	const char *name, *header;
} algs[UM_JWS_ALGS] = {
	{ "RS256", "{\"alg\":\"RS256\",\"kid\":\"k\"}" },
	{ "PS256", "{\"alg\":\"PS256\",\"kid\":\"k\"}" },
	{ "ES256", "{\"alg\":\"ES256\",\"kid\":\"k\"}" },
	{ "EdDSA", "{\"alg\":\"EdDSA\",\"kid\":\"k\"}" },
};

/* Signed as one algorithm, announced as another, with a key of each. */
TEST(only_the_algorithm_of_the_header_and_the_key)
{
	for (int signs = 0; signs < UM_JWS_ALGS; signs++)
		for (int says = 0; says < UM_JWS_ALGS; says++) {
			EVP_PKEY *key = jose_key((enum um_jws_alg)signs, false);
			struct um_jwks *jwks = jose_parse(
				jose_set(jose_jwk(key, "\"kid\":\"k\""),
					(char *)NULL));
			char *token = jose_token(key, (enum um_jws_alg)signs,
				algs[says].header, "{}");
			bool rsa = signs <= UM_JWS_PS256
				&& says <= UM_JWS_PS256;

			row_begin("%s as %s", algs[signs].name,
				algs[says].name);
			assert_int_equal(verify(um_str(token), jwks),
				signs == says ? UM_JWS_GOOD
					: rsa ? UM_JWS_FORGED
					      : UM_JWS_UNKNOWN_KEY);
			free(token);
			um_jwks_free(jwks);
		}
}

/* Neither another key under this kid, nor a public key as HMAC's secret. */
TEST(a_key_of_somebody_else)
{
	for (int alg = 0; alg < UM_JWS_ALGS; alg++) {
		struct um_jwks *jwks = jose_parse(
			jose_set(jose_jwk(jose_key((enum um_jws_alg)alg, false),
					 "\"kid\":\"k\""),
				(char *)NULL));
		char *token = jose_token(jose_key((enum um_jws_alg)alg, true),
			(enum um_jws_alg)alg, algs[alg].header, "{}");

		assert_row(algs[alg].name,
			verify(um_str(token), jwks) == UM_JWS_FORGED);
		free(token);
		um_jwks_free(jwks);
	}
}

TEST(each_flipped_bit)
{
	for (int alg = 0; alg < UM_JWS_ALGS; alg++) {
		EVP_PKEY *key = jose_key((enum um_jws_alg)alg, false);
		struct um_jwks *jwks = jose_parse(
			jose_set(jose_jwk(key, "\"kid\":\"k\""), (char *)NULL));
		char *token = jose_token(key, (enum um_jws_alg)alg,
			algs[alg].header, "{\"sub\":\"ada\"}");
		size_t len = strlen(token);

		row_begin("%s", algs[alg].name);
		assert_int_equal(verify(um_str(token), jwks), UM_JWS_GOOD);
		for (size_t bit = 0; bit < 8 * len; bit += mutation_step()) {
			token[bit / 8] = (char)(token[bit / 8] ^ 1 << bit % 8);
			assert_int_not_equal(verify((struct um_str){ token,
							    len },
						     jwks),
				UM_JWS_GOOD);
			token[bit / 8] = (char)(token[bit / 8] ^ 1 << bit % 8);
		}
		for (size_t cut = 0; cut < len; cut += mutation_step())
			assert_int_not_equal(verify((struct um_str){ token,
							    cut },
						     jwks),
				UM_JWS_GOOD);
		free(token);
		um_jwks_free(jwks);
	}
}

TEST(headers)
{
	static const struct {
		const char *header;
		enum um_jws_verdict verdict;
	} rows[] = {
		{ HEADER, UM_JWS_GOOD },
		{ "{\"alg\":\"ES256\"}", UM_JWS_GOOD },
		{ "{\"alg\":\"ES256\",\"kid\":\"1\",\"typ\":\"JWT\"}",
			UM_JWS_GOOD },
		{ "{\"alg\":\"ES256\",\"kid\":\"1\",\"typ\":\"jwt\"}",
			UM_JWS_GOOD },
		/* What brings a key along is not read. */
		{ "{\"alg\":\"ES256\",\"kid\":\"1\",\"jku\":\"https://evil/\","
		  "\"x5u\":\"https://evil/\",\"x5c\":[],\"jwk\":{}}",
			UM_JWS_GOOD },
		{ "{\"alg\":\"ES256\",\"kid\":\"2\"}", UM_JWS_UNKNOWN_KEY },
		{ "{\"alg\":\"ES256\",\"kid\":\"2\",\"jku\":\"https://evil/\","
		  "\"jwk\":" RFC7515_EC "}",
			UM_JWS_UNKNOWN_KEY },
		{ "{\"alg\":\"ES256\",\"kid\":\"\"}", UM_JWS_UNKNOWN_KEY },
		{ "{\"alg\":\"ES256\",\"kid\":\"1\\u0000\"}",
			UM_JWS_MALFORMED },
		{ "{\"alg\":\"none\",\"kid\":\"1\"}", UM_JWS_ALGORITHM },
		{ "{\"alg\":\"nOnE\",\"kid\":\"1\"}", UM_JWS_ALGORITHM },
		{ "{\"alg\":\"\",\"kid\":\"1\"}", UM_JWS_ALGORITHM },
		{ "{\"alg\":\"HS256\",\"kid\":\"1\"}", UM_JWS_ALGORITHM },
		{ "{\"alg\":\"es256\",\"kid\":\"1\"}", UM_JWS_ALGORITHM },
		{ "{\"alg\":\"ES256K\",\"kid\":\"1\"}", UM_JWS_ALGORITHM },
		{ "{\"alg\":\"ES512\",\"kid\":\"1\"}", UM_JWS_ALGORITHM },
		{ "{\"alg\":\"RS256\",\"kid\":\"1\"}", UM_JWS_UNKNOWN_KEY },
		{ "{\"kid\":\"1\"}", UM_JWS_ALGORITHM },
		{ "{\"alg\":[\"ES256\"],\"kid\":\"1\"}", UM_JWS_MALFORMED },
		{ "{\"alg\":\"ES256\",\"kid\":1}", UM_JWS_MALFORMED },
		{ "{\"alg\":\"ES256\",\"kid\":null}", UM_JWS_MALFORMED },
		{ "{\"alg\":\"ES256\",\"alg\":\"ES256\"}", UM_JWS_MALFORMED },
		{ "{\"alg\":\"ES256\",\"kid\":\"1\",\"crit\":[\"exp\"]}",
			UM_JWS_MALFORMED },
		{ "{\"alg\":\"ES256\",\"kid\":\"1\",\"b64\":false,"
		  "\"crit\":[\"b64\"]}",
			UM_JWS_MALFORMED },
		{ "{\"alg\":\"ES256\",\"kid\":\"1\",\"crit\":[]}",
			UM_JWS_MALFORMED },
		{ "{\"alg\":\"ES256\",\"kid\":\"1\",\"typ\":\"at+jwt\"}",
			UM_JWS_MALFORMED },
		{ "{\"alg\":\"ES256\",\"kid\":\"1\",\"typ\":\"logout+jwt\"}",
			UM_JWS_MALFORMED },
		{ "{\"alg\":\"ES256\",\"kid\":\"1\",\"typ\":7}",
			UM_JWS_MALFORMED },
		{ "[\"ES256\"]", UM_JWS_MALFORMED },
		{ "\"ES256\"", UM_JWS_MALFORMED },
		{ "", UM_JWS_MALFORMED },
		{ "{\"alg\":\"ES256\"} ", UM_JWS_GOOD },
		{ "{\"alg\":\"ES256\"}x", UM_JWS_MALFORMED },
	};
	EVP_PKEY *key = jose_key(UM_JWS_ES256, false);
	struct um_jwks *jwks = jose_parse(
		jose_set(jose_jwk(key, "\"kid\":\"1\""), (char *)NULL));

	for (size_t i = 0; i < LENGTH(rows); i++) {
		char *token = jose_token(key, UM_JWS_ES256, rows[i].header,
			"{}");

		assert_row(rows[i].header,
			verify(um_str(token), jwks) == rows[i].verdict);
		free(token);
	}
	um_jwks_free(jwks);
}

TEST(shapes)
{
	EVP_PKEY *key = jose_key(UM_JWS_ES256, false);
	struct um_jwks *jwks = jose_parse(
		jose_set(jose_jwk(key, "\"kid\":\"1\""), (char *)NULL));
	char *token = jose_token(key, UM_JWS_ES256, HEADER, "{}");
	static const char *const rows[] = { "", ".", "..", "...", "a.b",
		"a.b.c", "a.b.c.d.e", "..a", " ", "\xff.\xff.\xff" };
	struct um_buf padded = { 0 };

	for (size_t i = 0; i < LENGTH(rows); i++)
		assert_row(rows[i],
			verify(um_str(rows[i]), jwks) == UM_JWS_MALFORMED);
	assert_int_equal(verify(um_str(NULL), jwks), UM_JWS_MALFORMED);
	for (const char *tail = "= .A\n"; *tail != '\0'; tail++) {
		um_buf_cat(&padded, token, (char[]){ *tail, '\0' });
		assert_int_not_equal(verify(um_buf_str(&padded), jwks),
			UM_JWS_GOOD);
		um_buf_clear(&padded);
	}
	um_buf_free(&padded);
	free(token);
	um_jwks_free(jwks);
}

/* A token whose header or payload has `len` more bytes. */
static enum um_jws_verdict
verify_long(const struct um_jwks *jwks, size_t header, size_t payload)
{
	struct um_buf a = { 0 }, b = { 0 };
	enum um_jws_verdict verdict;
	char *token;

	um_buf_printf(&a, "{\"alg\":\"ES256\",\"a\":\"%0*d\"}", (int)header, 0);
	um_buf_printf(&b, "\"%0*d\"", (int)payload, 0);
	token = jose_token(jose_key(UM_JWS_ES256, false), UM_JWS_ES256, a.ptr,
		b.ptr);
	verdict = verify(um_str(token), jwks);
	free(token);
	um_buf_free(&a);
	um_buf_free(&b);
	return verdict;
}

TEST(limits)
{
	struct um_jwks *jwks = jose_parse(
		jose_set(jose_jwk(jose_key(UM_JWS_ES256, false), NULL),
			(char *)NULL));
	const size_t header = sizeof("{\"alg\":\"ES256\",\"a\":\"\"}") - 1;

	assert_int_equal(verify_long(jwks, UM_JWS_HEADER_MAX - header, 1),
		UM_JWS_GOOD);
	assert_int_equal(verify_long(jwks, UM_JWS_HEADER_MAX - header + 1, 1),
		UM_JWS_MALFORMED);
	assert_int_equal(verify_long(jwks, 1, 12160), UM_JWS_GOOD);
	assert_int_equal(verify_long(jwks, 1, 12300), UM_JWS_MALFORMED);
	assert_int_equal(verify_long(jwks, 1, 1 << 20), UM_JWS_MALFORMED);
	um_jwks_free(jwks);
}

/* ES256 is r and s; DER, which other standards write, is not. */
TEST(forms_of_an_es256_signature)
{
	EVP_PKEY *key = jose_key(UM_JWS_ES256, false);
	struct um_jwks *jwks = jose_parse(
		jose_set(jose_jwk(key, "\"kid\":\"1\""), (char *)NULL));
	char *token = jose_token(key, UM_JWS_ES256, HEADER, "{}");
	char *dot = strrchr(token, '.');
	struct um_str input = { token, (size_t)(dot - token) };
	EVP_MD_CTX *ctx = EVP_MD_CTX_new();
	uint8_t der[80], zeros[64] = { 0 };
	char text[UM_BASE64_LEN(80) + 1];
	size_t len = sizeof(der);
	struct um_buf changed = { 0 };

	assert_int_equal(EVP_DigestSignInit(ctx, NULL, EVP_sha256(), NULL, key),
		1);
	assert_int_equal(EVP_DigestSign(ctx, der, &len,
				 (const uint8_t *)input.ptr, input.len),
		1);
	EVP_MD_CTX_free(ctx);
	um_base64url_encode(text, der, len);
	*dot = '\0';
	um_buf_cat(&changed, token, ".", text);
	assert_int_equal(verify(um_buf_str(&changed), jwks), UM_JWS_FORGED);
	/* CVE-2022-21449: r and s of zero. */
	um_buf_clear(&changed);
	um_base64url_encode(text, zeros, sizeof(zeros));
	um_buf_cat(&changed, token, ".", text);
	assert_int_equal(verify(um_buf_str(&changed), jwks), UM_JWS_FORGED);
	um_buf_free(&changed);
	free(token);
	um_jwks_free(jwks);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(examples_of_the_rfcs),
		cmocka_unit_test(only_the_algorithm_of_the_header_and_the_key),
		cmocka_unit_test(a_key_of_somebody_else),
		cmocka_unit_test(each_flipped_bit),
		cmocka_unit_test(headers),
		cmocka_unit_test(shapes),
		cmocka_unit_test(limits),
		cmocka_unit_test(forms_of_an_es256_signature),
	};

	return cmocka_run_group_tests(tests, NULL, jose_tear_down);
}
