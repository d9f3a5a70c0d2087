/* SPDX-License-Identifier: MIT */
/*
 * A set of keys on the first line, and a signed token: whatever is read, the
 * keys of RFC 7515 and RFC 8037 have signed their examples only.
 */
#include "fuzz.h"

#include <string.h>

#include "jose/id_token.h"

static struct um_jwks *rfc;

static void
unload(void)
{
	um_jwks_free(rfc);
}

static void
load(void)
{
	struct um_error err;

	HOLDS(um_jwks_load(&rfc, "tests/fuzz/jwks.json", &err));
	atexit(unload);
}

/* The payloads of RFC 7515 A.3 and RFC 8037 A.4. */
static bool
is_example(struct um_str payload)
{
	return um_str_is(payload, "Example of Ed25519 signing")
		|| um_str_is(payload,
			"{\"iss\":\"joe\",\r\n \"exp\":1300819380,\r\n "
			"\"http://example.com/is_root\":true}");
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct um_id_token_rules rules = { { "joe", 3 },
		{ "c", 1 }, { "n", 1 }, "sub", 0, 0 };
	struct um_str rest = { (const char *)data, size };
	struct um_str set = fuzz_line(&rest), token = fuzz_rest(&rest);
	struct um_id_token_user user;
	struct um_jwks *jwks = NULL;
	struct um_buf payload = { 0 };
	struct um_error err;

	if (rfc == NULL)
		load();
	if (um_jwks_parse(&jwks, set, &err)) {
		HOLDS(um_jwks_count(jwks) > 0);
		(void)um_jws_verify(&payload, token, jwks);
		um_buf_clear(&payload);
	}
	HOLDS(um_jws_verify(&payload, token, rfc) != UM_JWS_GOOD
		|| is_example(um_buf_str(&payload)));
	HOLDS(um_id_token_check(&user, token, rfc, &rules, 1300819000)
		!= UM_ID_TOKEN_GOOD);
	um_buf_free(&payload);
	um_jwks_free(jwks);
	fuzz_free(set);
	fuzz_free(token);
	return 0;
}
