/* SPDX-License-Identifier: MIT */
/* The keys of the OpenID provider: read again, and asked for. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "app/signin.h"
#include "server/issuer_keys.h"
#include "support.h"

#define SET(kid)                                                               \
	"{\"keys\":[{\"kty\":\"OKP\",\"crv\":\"Ed25519\","                     \
	"\"x\":\"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo\","               \
	"\"kid\":\"" kid "\"}]}"

static struct um_config config;
static struct um_context context = { .config = &config };
static struct um_file_version seen;
static struct um_error err;

static void
write_file(const char *text)
{
	FILE *file = fopen(config.openid.jwks_file, "we");

	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	fclose(file);
}

static bool
look(const char *path)
{
	const struct um_exchange ex = { .request.path = um_str(path) };

	return um_issuer_keys_look(&context, &ex, &seen, &err);
}

TEST(read_for_the_end_of_a_sign_in)
{
	const struct um_jwks *first;

	assert_true(look("/connect/demo"));
	assert_null(context.jwks);
	assert_true(look(UM_SIGNIN_ROUTE));
	first = context.jwks;
	assert_int_equal(um_jwks_count(first), 1);
	assert_true(look(UM_SIGNIN_ROUTE));
	assert_ptr_equal(context.jwks, first);
	write_file("{\"keys\":[]}");
	assert_false(look(UM_SIGNIN_ROUTE));
	assert_error(&err, "has no key that can verify a signature");
	assert_ptr_equal(context.jwks, first);
	assert_true(look(UM_SIGNIN_ROUTE));
	write_file(SET("2"));
	assert_true(look(UM_SIGNIN_ROUTE));
	assert_non_null(um_jwks_find(context.jwks, UM_JWS_EDDSA, um_str("2")));
	assert_null(um_jwks_find(context.jwks, UM_JWS_EDDSA, um_str("1")));
}

/* A file that is not there is said again and again, until it is. */
TEST(missing)
{
	assert_int_equal(unlink(config.openid.jwks_file), 0);
	for (int i = 0; i < 2; i++) {
		assert_false(look(UM_SIGNIN_ROUTE));
		assert_error(&err, "No such file or directory");
	}
	write_file(SET("1"));
	assert_true(look(UM_SIGNIN_ROUTE));
	assert_non_null(context.jwks);
}

static bool
ask(enum um_refusal refusal)
{
	const struct um_exchange ex = { .refusal = refusal };

	return um_issuer_keys_ask(&context, &ex, &err);
}

static int64_t
touched(void)
{
	struct stat st;

	return stat(config.openid.refresh_file, &st) == 0 ? st.st_mtim.tv_sec
							  : -1;
}

static void
set_touched(int64_t when)
{
	const struct timespec times[2] = { { .tv_sec = when },
		{ .tv_sec = when } };

	assert_int_equal(utimensat(AT_FDCWD, config.openid.refresh_file, times,
				 0),
		0);
}

TEST(asked_for_once_a_minute)
{
	int64_t now = (int64_t)time(NULL);

	context.now_ms = now * 1000;
	assert_true(ask(UM_REFUSAL_ID_TOKEN_INVALID));
	assert_int_equal(touched(), -1);
	assert_true(ask(UM_REFUSAL_UNKNOWN_SIGNING_KEY));
	assert_true(touched() >= now);
	set_touched(now - 59);
	assert_true(ask(UM_REFUSAL_UNKNOWN_SIGNING_KEY));
	assert_int_equal(touched(), now - 59);
	set_touched(now - 60);
	assert_true(ask(UM_REFUSAL_UNKNOWN_SIGNING_KEY));
	assert_true(touched() >= now);
	assert_int_equal(unlink(config.openid.refresh_file), 0);
	config.openid.refresh_file = (char *)"/nowhere/refresh";
	assert_false(ask(UM_REFUSAL_UNKNOWN_SIGNING_KEY));
	assert_error(&err, "/nowhere/refresh: No such file or directory");
	config.openid.refresh_file = NULL;
	assert_true(ask(UM_REFUSAL_UNKNOWN_SIGNING_KEY));
}

static int
set_up(void **state)
{
	static char refresh[64];

	(void)state;
	config.openid.jwks_file = file_make(um_str(SET("1")), 0644);
	snprintf(refresh, sizeof(refresh), "%s-refresh",
		config.openid.jwks_file);
	config.openid.refresh_file = refresh;
	seen = (struct um_file_version){ 0 };
	return 0;
}

static int
tear_down(void **state)
{
	(void)state;
	file_remove(config.openid.jwks_file);
	um_jwks_free(context.jwks);
	context.jwks = NULL;
	return 0;
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(read_for_the_end_of_a_sign_in),
		CASE(missing),
		CASE(asked_for_once_a_minute),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
