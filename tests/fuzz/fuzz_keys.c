/* SPDX-License-Identifier: MIT */
/* The keys file: refused by its name, or with a key that mints and opens. */
#include "fuzz.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "crypto/keys.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct um_keys *keys;
	struct um_error err;
	char path[64];
	int fd = memfd_create("keys", 0);

	HOLDS(fd >= 0 && fchmod(fd, 0600) == 0);
	HOLDS(write(fd, data, size) == (ssize_t)size);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (um_keys_load(&keys, path, &err)) {
		const struct um_key *key = um_keys_minting(keys);

		HOLDS(um_keys_find(keys, key->kid) == key);
		HOLDS(key->secret_len >= UM_SECRET_MIN
			&& key->secret_len <= UM_SECRET_MAX);
	} else {
		HOLDS(keys == NULL);
		HOLDS(strncmp(err.text, path, strlen(path)) == 0);
	}
	um_keys_free(keys);
	close(fd);
	return 0;
}
