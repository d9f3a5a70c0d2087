/* SPDX-License-Identifier: MIT */
/* A state token or link: none that was not minted is good. */
#include "fuzz.h"

#include "crypto/link.h"
#include "crypto/token.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct um_keys *keys = fuzz_keys();
	struct um_str rest = { (const char *)data, size };
	struct um_str text = fuzz_rest(&rest);
	struct um_token token;
	enum um_token_state state;

	state = um_token_open(&token, text, keys, UM_PURPOSE_CONNECT, "demo",
		0);
	HOLDS(state == UM_TOKEN_INVALID || state == UM_TOKEN_UNKNOWN_KEY);
	state = um_link_open(token.id, text, keys, "demo");
	HOLDS(state == UM_TOKEN_INVALID || state == UM_TOKEN_UNKNOWN_KEY);
	fuzz_free(text);
	return 0;
}
