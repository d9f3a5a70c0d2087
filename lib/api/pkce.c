/* SPDX-License-Identifier: MIT */
#include "api/pkce.h"

#include <string.h>

#include <openssl/sha.h>

#include "contract/texts.h"
#include "core/encode.h"
#include "core/json_put.h"
#include "http/form.h"

#define VERIFIER_BYTES 32
#define NONCE_BYTES 16

/* The query of a URL without a fragment. */
static struct um_str
query_of(struct um_str url)
{
	um_str_cut(&url, "?");
	return url;
}

bool
um_pkce_has(struct um_str url, const char *name)
{
	struct um_form form = { 0 };
	bool has;

	um_form_parse_lenient(&form, query_of(url));
	has = um_form_field(&form, name) != NULL;
	um_form_free(&form);
	return has;
}

/* Whether `openid` is one of the scopes. */
static bool
is_openid(struct um_str url)
{
	struct um_form form = { 0 };
	struct um_str scopes;
	bool found = false;

	um_form_parse_lenient(&form, query_of(url));
	scopes = um_form_get(&form, "scope");
	while (scopes.ptr != NULL && !found) {
		struct um_str scope = um_str_cut(&scopes, " ");

		found = um_str_is(scope, "openid");
	}
	um_form_free(&form);
	return found;
}

const char *
um_pkce_add(struct um_buf *url, struct um_buf *verifier,
	struct um_str target_url, void (*random)(void *out, size_t len))
{
	char code[UM_BASE64_LEN(VERIFIER_BYTES) + 1];
	char challenge[UM_BASE64_LEN(SHA256_DIGEST_LENGTH) + 1];
	uint8_t bytes[VERIFIER_BYTES], digest[SHA256_DIGEST_LENGTH];

	if (um_pkce_has(target_url, "code_challenge")
		|| um_pkce_has(target_url, "code_challenge_method"))
		return UM_TEXT_TARGET_URL_CHALLENGE;
	random(bytes, VERIFIER_BYTES);
	um_base64url_encode(code, bytes, VERIFIER_BYTES);
	SHA256((const uint8_t *)code, strlen(code), digest);
	um_base64url_encode(challenge, digest, sizeof(digest));
	um_json_put_begin(verifier);
	um_json_put_member(verifier, "code_verifier", um_str(code));
	um_buf_put(url, target_url.ptr, target_url.len);
	um_buf_cat(url, query_of(target_url).ptr != NULL ? "&" : "?",
		"code_challenge=", challenge, "&code_challenge_method=S256");
	if (is_openid(target_url) && !um_pkce_has(target_url, "nonce")) {
		char nonce[UM_BASE64_LEN(NONCE_BYTES) + 1];

		random(bytes, NONCE_BYTES);
		um_base64url_encode(nonce, bytes, NONCE_BYTES);
		um_json_put_member(verifier, "nonce", um_str(nonce));
		um_buf_cat(url, "&nonce=", nonce);
	}
	um_json_put_end(verifier);
	explicit_bzero(code, sizeof(code));
	explicit_bzero(bytes, sizeof(bytes));
	return NULL;
}
