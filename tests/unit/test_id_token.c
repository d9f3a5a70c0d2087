/* SPDX-License-Identifier: MIT */
/* The claims of an id token, one by one. */
#include <stdlib.h>
#include <string.h>

#include "jose.h"
#include "jose/id_token.h"
#include "support.h"

#define NOW INT64_C(1800000000)
#define HEADER "{\"alg\":\"ES256\",\"kid\":\"1\"}"

static struct um_jwks *jwks;
static struct um_id_token_rules rules;
static struct um_id_token_user user;

static enum um_id_token_verdict
check_at(const char *claims, int64_t now)
{
	char *token = jose_token(jose_key(UM_JWS_ES256, false), UM_JWS_ES256,
		HEADER, claims);
	enum um_id_token_verdict verdict = um_id_token_check(&user,
		um_str(token), jwks, &rules, now);

	free(token);
	return verdict;
}

#define ISS "\"iss\":\"https://id.example\""
#define AUD "\"aud\":\"client\""
#define TIMES "\"exp\":1800003600,\"iat\":1800000000"
#define NONCE "\"nonce\":\"n-1\""
#define SUB "\"sub\":\"ada\""
#define REST "," TIMES "," NONCE "," SUB "}"

struct row {
	const char *claims;
	enum um_id_token_verdict verdict;
};

static void
check_rows(const struct row *rows, size_t len)
{
	for (size_t i = 0; i < len; i++)
		assert_row(rows[i].claims,
			check_at(rows[i].claims, NOW) == rows[i].verdict);
}

TEST(issuer_and_audience)
{
	static const struct row rows[] = {
		{ "{" ISS "," AUD REST, UM_ID_TOKEN_GOOD },
		{ "{" AUD REST, UM_ID_TOKEN_ISSUER },
		{ "{\"iss\":\"https://id.example/\"," AUD REST,
			UM_ID_TOKEN_ISSUER },
		{ "{\"iss\":\"https://ID.example\"," AUD REST,
			UM_ID_TOKEN_ISSUER },
		{ "{\"iss\":[\"https://id.example\"]," AUD REST,
			UM_ID_TOKEN_ISSUER },
		{ "{" ISS REST, UM_ID_TOKEN_AUDIENCE },
		{ "{" ISS ",\"aud\":\"other\"" REST, UM_ID_TOKEN_AUDIENCE },
		{ "{" ISS ",\"aud\":[]" REST, UM_ID_TOKEN_AUDIENCE },
		{ "{" ISS ",\"aud\":[[\"client\"]]" REST,
			UM_ID_TOKEN_AUDIENCE },
		{ "{" ISS ",\"aud\":{\"client\":1}" REST,
			UM_ID_TOKEN_AUDIENCE },
		{ "{" ISS ",\"aud\":[\"client\"]" REST, UM_ID_TOKEN_GOOD },
		{ "{" ISS ",\"aud\":[\"client\",\"client\"]" REST,
			UM_ID_TOKEN_GOOD },
		{ "{" ISS ",\"aud\":[\"client\",\"other\"]" REST,
			UM_ID_TOKEN_AUTHORIZED_PARTY },
		{ "{" ISS
		  ",\"aud\":[\"other\",\"client\"],\"azp\":\"client\"" REST,
			UM_ID_TOKEN_GOOD },
		{ "{" ISS "," AUD ",\"azp\":\"other\"" REST,
			UM_ID_TOKEN_AUTHORIZED_PARTY },
		{ "{" ISS "," AUD ",\"azp\":null" REST,
			UM_ID_TOKEN_AUTHORIZED_PARTY },
		{ "{" ISS ",\"aud\":\"other\",\"azp\":\"client\"" REST,
			UM_ID_TOKEN_AUDIENCE },
	};

	check_rows(rows, LENGTH(rows));
}

#define HEAD "{" ISS "," AUD ","

TEST(nonce)
{
	static const struct row rows[] = {
		{ HEAD TIMES "," SUB "}", UM_ID_TOKEN_NONCE },
		{ HEAD TIMES "," SUB ",\"nonce\":\"n-2\"}", UM_ID_TOKEN_NONCE },
		{ HEAD TIMES "," SUB ",\"nonce\":\"n-11\"}",
			UM_ID_TOKEN_NONCE },
		{ HEAD TIMES "," SUB ",\"nonce\":\"\"}", UM_ID_TOKEN_NONCE },
		{ HEAD TIMES "," SUB ",\"nonce\":1}", UM_ID_TOKEN_NONCE },
	};

	check_rows(rows, LENGTH(rows));
	rules.nonce = um_str("");
	assert_int_equal(check_at(HEAD TIMES "," SUB ",\"nonce\":\"\"}", NOW),
		UM_ID_TOKEN_NONCE);
}

TEST(subject_and_other_claims)
{
	static const struct row sub[] = {
		{ HEAD TIMES "," NONCE "}", UM_ID_TOKEN_SUBJECT },
		{ HEAD TIMES "," NONCE ",\"sub\":\"\"}", UM_ID_TOKEN_SUBJECT },
		{ HEAD TIMES "," NONCE ",\"sub\":7}", UM_ID_TOKEN_SUBJECT },
		{ HEAD TIMES "," NONCE ",\"sub\":\"a\",\"sub\":\"b\"}",
			UM_ID_TOKEN_CLAIMS },
	};
	static const struct row oid[] = {
		{ HEAD TIMES "," NONCE "," SUB "}", UM_ID_TOKEN_SUBJECT },
		{ HEAD TIMES "," NONCE ",\"oid\":\"o-1\"}",
			UM_ID_TOKEN_SUBJECT },
		{ HEAD TIMES "," NONCE "," SUB ",\"oid\":7}",
			UM_ID_TOKEN_SUBJECT },
		{ HEAD TIMES "," NONCE "," SUB ",\"oid\":\"o-1\"}",
			UM_ID_TOKEN_GOOD },
	};
	static const struct row email[] = {
		{ HEAD TIMES "," NONCE "," SUB ",\"email\":\"a@b.example\"}",
			UM_ID_TOKEN_EMAIL_UNVERIFIED },
		{ HEAD TIMES "," NONCE "," SUB ",\"email\":\"a@b.example\","
			     "\"email_verified\":false}",
			UM_ID_TOKEN_EMAIL_UNVERIFIED },
		{ HEAD TIMES "," NONCE "," SUB ",\"email\":\"a@b.example\","
			     "\"email_verified\":\"true\"}",
			UM_ID_TOKEN_EMAIL_UNVERIFIED },
		{ HEAD TIMES "," NONCE "," SUB ",\"email\":\"a@b.example\","
			     "\"email_verified\":true}",
			UM_ID_TOKEN_GOOD },
	};

	check_rows(sub, LENGTH(sub));
	assert_int_equal(check_at(HEAD TIMES "," NONCE "," SUB "}", NOW),
		UM_ID_TOKEN_GOOD);
	assert_string_equal(user.subject, "ada");
	rules.claim = "oid";
	check_rows(oid, LENGTH(oid));
	assert_string_equal(user.subject, "o-1");
	rules.claim = "email";
	check_rows(email, LENGTH(email));
	assert_string_equal(user.subject, "a@b.example");
}

/* The first of three claims that is a short text. */
TEST(what_people_call_the_user)
{
	static const struct {
		const char *claims, *name;
	} rows[] = {
		{ HEAD TIMES "," NONCE "," SUB "}", "" },
		{ HEAD TIMES "," NONCE "," SUB ",\"name\":\"Ada L.\"}",
			"Ada L." },
		{ HEAD TIMES "," NONCE "," SUB ",\"name\":\"Ada L.\","
			     "\"email\":\"a@b.example\"}",
			"a@b.example" },
		{ HEAD TIMES "," NONCE "," SUB ",\"email\":\"a@b.example\","
			     "\"preferred_username\":\"ada\"}",
			"ada" },
		{ HEAD TIMES "," NONCE "," SUB ",\"email\":\"\",\"name\":7}",
			"" },
	};
	struct um_buf claims = { 0 };

	for (size_t i = 0; i < LENGTH(rows); i++) {
		row_begin("%s", rows[i].claims);
		assert_int_equal(check_at(rows[i].claims, NOW),
			UM_ID_TOKEN_GOOD);
		assert_string_equal(user.name, rows[i].name);
	}
	um_buf_printf(&claims,
		HEAD TIMES "," NONCE "," SUB ",\"name\":\"%0129d\"}", 0);
	assert_int_equal(check_at(claims.ptr, NOW), UM_ID_TOKEN_GOOD);
	assert_string_equal(user.name, "");
	um_buf_free(&claims);
}

TEST(length_of_the_subject)
{
	for (int len = UM_SUBJECT_MAX; len <= UM_SUBJECT_MAX + 1; len++) {
		struct um_buf claims = { 0 };

		um_buf_printf(&claims,
			HEAD TIMES "," NONCE ",\"sub\":\"%0*d\"}", len, 0);
		assert_int_equal(check_at(claims.ptr, NOW),
			len == UM_SUBJECT_MAX ? UM_ID_TOKEN_GOOD
					      : UM_ID_TOKEN_SUBJECT);
		um_buf_free(&claims);
	}
}

/* Times from issuing to expiry, and those with a fraction or without sense. */
TEST(times)
{
	static const char good[] = "{" ISS "," AUD "," NONCE "," SUB
				   ",\"iat\":1800000000,\"exp\":1800003600}";
	static const char brief[] = "{" ISS "," AUD "," NONCE "," SUB
				    ",\"iat\":1800000000,\"exp\":1800000300}";
	static const struct {
		const char *claims;
		int64_t now;
		enum um_id_token_verdict verdict;
	} rows[] = {
		{ good, NOW - 61, UM_ID_TOKEN_ISSUED_AT },
		{ good, NOW - 60, UM_ID_TOKEN_GOOD },
		{ good, NOW + 660, UM_ID_TOKEN_GOOD },
		{ good, NOW + 661, UM_ID_TOKEN_ISSUED_AT },
		{ brief, NOW + 359, UM_ID_TOKEN_GOOD },
		{ brief, NOW + 360, UM_ID_TOKEN_EXPIRED },
	};
	static const struct row bad[] = {
		{ "{" ISS "," AUD "," NONCE "," SUB ",\"iat\":1800000000}",
			UM_ID_TOKEN_EXPIRED },
		{ "{" ISS "," AUD "," NONCE "," SUB ",\"exp\":1800003600}",
			UM_ID_TOKEN_ISSUED_AT },
		{ "{" ISS "," AUD "," NONCE "," SUB ",\"iat\":1800000000.5,"
		  "\"exp\":1.8000036e9}",
			UM_ID_TOKEN_GOOD },
		{ "{" ISS "," AUD "," NONCE "," SUB ",\"iat\":1800000000,"
		  "\"exp\":\"1800003600\"}",
			UM_ID_TOKEN_EXPIRED },
		{ "{" ISS "," AUD "," NONCE "," SUB ",\"iat\":1800000000,"
		  "\"exp\":1e300}",
			UM_ID_TOKEN_EXPIRED },
		{ "{" ISS "," AUD "," NONCE "," SUB ",\"iat\":1800000000,"
		  "\"exp\":9223372036854775807}",
			UM_ID_TOKEN_GOOD },
		{ "{" ISS "," AUD "," NONCE "," SUB ",\"iat\":1800000000,"
		  "\"exp\":-1}",
			UM_ID_TOKEN_EXPIRED },
		{ HEAD TIMES "," NONCE "," SUB ",\"nbf\":1800000060}",
			UM_ID_TOKEN_GOOD },
		{ HEAD TIMES "," NONCE "," SUB ",\"nbf\":1800000061}",
			UM_ID_TOKEN_NOT_BEFORE },
		{ HEAD TIMES "," NONCE "," SUB ",\"nbf\":\"1800000000\"}",
			UM_ID_TOKEN_NOT_BEFORE },
		{ HEAD TIMES "," NONCE "," SUB ",\"nbf\":null}",
			UM_ID_TOKEN_NOT_BEFORE },
	};

	for (size_t i = 0; i < LENGTH(rows); i++) {
		row_begin("%zu", i);
		assert_int_equal(check_at(rows[i].claims, rows[i].now),
			rows[i].verdict);
	}
	check_rows(bad, LENGTH(bad));
}

TEST(time_of_the_sign_in)
{
	static const struct row rows[] = {
		{ "{" ISS "," AUD REST, UM_ID_TOKEN_AUTH_TIME },
		{ HEAD "\"auth_time\":1799999640" REST, UM_ID_TOKEN_GOOD },
		{ HEAD "\"auth_time\":1799999639" REST, UM_ID_TOKEN_AUTH_TIME },
		{ HEAD "\"auth_time\":1800000060" REST, UM_ID_TOKEN_GOOD },
		{ HEAD "\"auth_time\":1800000061" REST, UM_ID_TOKEN_AUTH_TIME },
		{ HEAD "\"auth_time\":\"1800000000\"" REST,
			UM_ID_TOKEN_AUTH_TIME },
	};

	rules.max_age = 300;
	check_rows(rows, LENGTH(rows));
	rules.max_age = 0;
	assert_int_equal(check_at(HEAD "\"auth_time\":1" REST, NOW),
		UM_ID_TOKEN_GOOD);
}

/* A sign-in that was made for something, and what is kept of it. */
TEST(a_sign_in_since_a_time)
{
	static const struct {
		const char *claims;
		enum um_id_token_verdict verdict;
		const char *how;
	} rows[] = {
		{ "{" ISS "," AUD REST, UM_ID_TOKEN_AUTH_TIME, NULL },
		{ HEAD "\"auth_time\":1799999894" REST, UM_ID_TOKEN_AUTH_TIME,
			NULL },
		{ HEAD "\"auth_time\":1800000061" REST, UM_ID_TOKEN_AUTH_TIME,
			NULL },
		{ HEAD "\"auth_time\":1799999895" REST, UM_ID_TOKEN_GOOD, "" },
		{ HEAD "\"auth_time\":1799999900,\"amr\":[\"pwd\",7,\"o p\","
		       "\"otp\"],\"acr\":\"1\"" REST,
			UM_ID_TOKEN_GOOD, "pwd otp" },
		{ HEAD "\"auth_time\":1799999900,\"amr\":\"pwd\","
		       "\"acr\":\"urn:high\"" REST,
			UM_ID_TOKEN_GOOD, "urn:high" },
	};

	rules.since = NOW - 100;
	for (size_t i = 0; i < LENGTH(rows); i++) {
		row_begin("%s", rows[i].claims);
		assert_int_equal(check_at(rows[i].claims, NOW),
			rows[i].verdict);
		if (rows[i].how == NULL)
			continue;
		assert_true(user.auth_time >= NOW - 105);
		assert_string_equal(user.how, rows[i].how);
	}
	rules.since = 0;
	assert_int_equal(check_at("{" ISS "," AUD REST, NOW), UM_ID_TOKEN_GOOD);
	assert_int_equal(user.auth_time, 0);
	assert_int_equal(user.issued_at, INT64_C(1800000000));
}

TEST(payloads_that_are_no_claims)
{
	static const struct row rows[] = {
		{ "", UM_ID_TOKEN_CLAIMS },
		{ "7", UM_ID_TOKEN_CLAIMS },
		{ "[]", UM_ID_TOKEN_CLAIMS },
		{ "{" ISS "," ISS "," AUD REST, UM_ID_TOKEN_CLAIMS },
		{ "{" ISS "," AUD REST "x", UM_ID_TOKEN_CLAIMS },
	};

	check_rows(rows, LENGTH(rows));
}

/* What jose/jws.h refuses, and that nothing comes of it. */
TEST(tokens_that_are_not_verified)
{
	char *token = jose_token(jose_key(UM_JWS_ES256, true), UM_JWS_ES256,
		HEADER, "{" ISS "," AUD REST);
	static const struct {
		const char *token;
		enum um_id_token_verdict verdict;
	} rows[] = {
		{ "", UM_ID_TOKEN_MALFORMED },
		{ "eyJhbGciOiJub25lIn0.e30.", UM_ID_TOKEN_ALGORITHM },
		{ "eyJhbGciOiJFUzI1NiIsImtpZCI6IjIifQ.e30.AA",
			UM_ID_TOKEN_UNKNOWN_KEY },
		{ "eyJhbGciOiJFUzI1NiIsImtpZCI6IjEifQ.e30.AA",
			UM_ID_TOKEN_FORGED },
	};

	strcpy(user.subject, "untouched");
	assert_int_equal(um_id_token_check(&user, um_str(token), jwks, &rules,
				 NOW),
		UM_ID_TOKEN_FORGED);
	free(token);
	for (size_t i = 0; i < LENGTH(rows); i++)
		assert_row(rows[i].token,
			um_id_token_check(&user, um_str(rows[i].token), jwks,
				&rules, NOW)
				== rows[i].verdict);
	assert_string_equal(user.subject, "untouched");
	assert_null(um_id_token_text(UM_ID_TOKEN_GOOD));
	assert_string_equal(um_id_token_text(UM_ID_TOKEN_EMAIL_UNVERIFIED),
		"/email_verified is not true");
}

static int
set_up(void **state)
{
	(void)state;
	jwks = jose_parse(jose_set(jose_jwk(jose_key(UM_JWS_ES256, false),
					   "\"kid\":\"1\""),
		(char *)NULL));
	rules = (struct um_id_token_rules){ um_str("https://id.example"),
		um_str("client"), um_str("n-1"), "sub", 0, 0 };
	return 0;
}

static int
tear_down(void **state)
{
	(void)state;
	um_jwks_free(jwks);
	return 0;
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(issuer_and_audience),
		CASE(nonce),
		CASE(subject_and_other_claims),
		CASE(what_people_call_the_user),
		CASE(length_of_the_subject),
		CASE(times),
		CASE(time_of_the_sign_in),
		CASE(a_sign_in_since_a_time),
		CASE(payloads_that_are_no_claims),
		CASE(tokens_that_are_not_verified),
	};

	return cmocka_run_group_tests(tests, NULL, jose_tear_down);
}
