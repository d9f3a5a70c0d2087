/* SPDX-License-Identifier: MIT */
/* Whether the files of a configuration are those that were loaded. */
#include <openssl/evp.h>

#include "config/config.h"
#include "core/conf.h"
#include "core/file.h"

/* Adds the version of the file, if there is one, to the FNV-1a hash. */
static uint64_t
add_version(uint64_t sum, const char *path)
{
	struct um_file_version file = { 0 };

	if (path == NULL)
		return sum;
	um_file_changed(&file, path);
	for (size_t i = 0; i < 5; i++) {
		const uint64_t parts[] = { file.dev, file.ino,
			(uint64_t)file.size, (uint64_t)file.changed.tv_sec,
			(uint64_t)file.changed.tv_nsec };

		sum = (sum ^ parts[i]) * UINT64_C(0x100000001b3);
	}
	return sum;
}

uint64_t
um_config_version(const struct um_config *config)
{
	uint64_t sum = add_version(UINT64_C(0xcbf29ce484222325), config->path);

	for (size_t i = 0; i < config->providers_len; i++)
		sum = add_version(sum, config->providers[i].description);
	return sum;
}

/*
 * What is in it, whatever name each program has for it, and whether it can be
 * read: it may be gone.
 */
static void
add_file(struct um_buf *all, const char *path)
{
	struct um_error err;

	if (path == NULL)
		return;
	um_buf_put(all,
		um_file_read(all, path, UM_CONF_FILE_MAX, &err) ? "+" : "-", 1);
}

uint64_t
um_config_digest(const struct um_config *config)
{
	unsigned char digest[EVP_MAX_MD_SIZE] = { 0 };
	struct um_buf all = { 0 };
	uint64_t number = 0;

	add_file(&all, config->path);
	for (size_t i = 0; i < config->providers_len; i++)
		add_file(&all, config->providers[i].description);
	if (!all.failed)
		EVP_Digest(all.ptr, all.len, digest, NULL, EVP_sha256(), NULL);
	for (size_t i = 0; i < sizeof(number); i++)
		number = number << 8 | digest[i];
	um_buf_free(&all);
	return number;
}
