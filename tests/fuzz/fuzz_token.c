/* SPDX-License-Identifier: MIT */
/* A state token or link: none that was not minted is good. */
#include "fuzz.h"

#include <string.h>
#include <unistd.h>

#include "crypto/link.h"
#include "crypto/token.h"

static struct um_keys *keys;

static void
unload(void)
{
	um_keys_free(keys);
}

static void
load(void)
{
	static const char text[] =
		"7 AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=\n";
	char path[] = "/tmp/urlmode-fuzz-XXXXXX";
	struct um_error err;
	int fd = mkstemp(path);

	HOLDS(fd >= 0);
	HOLDS(write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	close(fd);
	HOLDS(um_keys_load(&keys, path, &err));
	unlink(path);
	atexit(unload);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct um_str rest = { (const char *)data, size };
	struct um_str text = fuzz_rest(&rest);
	struct um_token token;
	enum um_token_state state;

	if (keys == NULL)
		load();
	state = um_token_open(&token, text, keys, UM_PURPOSE_CONNECT, "demo",
		0);
	HOLDS(state == UM_TOKEN_INVALID || state == UM_TOKEN_UNKNOWN_KEY);
	state = um_link_open(token.id, text, keys, "demo");
	HOLDS(state == UM_TOKEN_INVALID || state == UM_TOKEN_UNKNOWN_KEY);
	fuzz_free(text);
	return 0;
}
