/* SPDX-License-Identifier: MIT */
#include "api/api_keys.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include <openssl/crypto.h>
#include <openssl/sha.h>

#include "core/encode.h"
#include "core/file.h"

#define FILE_MAX 1048576 /* bytes */
#define SCHEME "Bearer "
#define WORD "abcdefghijklmnopqrstuvwxyz0123456789-_"
#define NAME_WORD "ABCDEFGHIJKLMNOPQRSTUVWXYZ." WORD

_Static_assert(sizeof(UM_API_KEY_PREFIX) - 1 + UM_BASE64_LEN(32)
		== UM_API_KEY_LEN,
	"a key is 32 bytes");

struct um_api_keys {
	size_t len;
	struct um_api_key *key;
};

/* Copies a word of these characters. False: it is empty, too long, or another. */
static bool
take_word(char *out, size_t size, struct um_str word, const char *characters)
{
	if (word.len == 0 || word.len >= size)
		return false;
	memcpy(out, word.ptr, word.len);
	out[word.len] = '\0';
	return strspn(out, characters) == word.len;
}

/* The next word of the line. */
static struct um_str
next_word(struct um_str *line)
{
	struct um_str word = { line->ptr, 0 };

	while (word.len < line->len && word.ptr[word.len] != ' '
		&& word.ptr[word.len] != '\t')
		word.len++;
	*line = um_str_trim(
		(struct um_str){ line->ptr + word.len, line->len - word.len });
	return word;
}

static bool
parse_line(struct um_api_key *key, struct um_str line, struct um_error *err,
	const char *path, int number)
{
	struct um_str tenant;
	size_t len;

	if (!take_word(key->name, sizeof(key->name), next_word(&line),
		    NAME_WORD))
		return um_error(err, "%s:%d: the name is not 1 to %d of %s",
			path, number, UM_API_NAME_MAX, NAME_WORD);
	tenant = next_word(&line);
	if (um_str_is(tenant, "-"))
		key->tenant[0] = '\0';
	else if (!take_word(key->tenant, sizeof(key->tenant), tenant, WORD))
		return um_error(err,
			"%s:%d: the tenant is not -, or 1 to %d of %s", path,
			number, UM_TENANT_MAX, WORD);
	if (!um_hex_decode(key->digest, sizeof(key->digest), &len, line)
		|| len != sizeof(key->digest))
		return um_error(err,
			"%s:%d: the third word is not a SHA-256 in hexadecimal",
			path, number);
	return true;
}

/* No earlier line has this name or this key. */
static bool
is_new(const struct um_api_keys *keys, const struct um_api_key *key,
	struct um_error *err, const char *path, int number)
{
	for (size_t i = 0; i < keys->len; i++) {
		if (strcmp(keys->key[i].name, key->name) == 0)
			return um_error(err, "%s:%d: the name is there twice",
				path, number);
		if (memcmp(keys->key[i].digest, key->digest,
			    sizeof(key->digest))
			== 0)
			return um_error(err, "%s:%d: the key is there twice",
				path, number);
	}
	return true;
}

static bool
parse(struct um_api_keys *keys, struct um_str text, struct um_error *err,
	const char *path)
{
	for (int number = 1; text.ptr != NULL; number++) {
		struct um_str line = um_str_trim(um_str_cut(&text, "\n"));
		struct um_api_key *key;

		if (line.len != 0 && line.ptr[line.len - 1] == '\r')
			line.len--;
		if (line.len == 0 || line.ptr[0] == '#')
			continue;
		if (keys->len == UM_API_KEYS_MAX)
			return um_error(err, "%s:%d: over %d keys", path,
				number, UM_API_KEYS_MAX);
		key = realloc(keys->key,
			(keys->len + 1) * sizeof(keys->key[0]));
		if (key == NULL)
			return um_error(err, "%s: out of memory", path);
		keys->key = key;
		key += keys->len;
		if (!parse_line(key, line, err, path, number)
			|| !is_new(keys, key, err, path, number))
			return false;
		keys->len++;
	}
	return true;
}

bool
um_api_keys_load(struct um_api_keys **out, const char *path,
	struct um_error *err)
{
	struct um_api_keys *keys = calloc(1, sizeof(*keys));
	struct um_buf text = { 0 };
	struct stat st;
	bool ok;

	*out = NULL;
	if (keys == NULL)
		return um_error(err, "%s: out of memory", path);
	if (stat(path, &st) != 0) {
		ok = errno == ENOENT
			|| um_error(err, "%s: %s", path, strerror(errno));
	} else {
		ok = ((st.st_mode & S_IWOTH) == 0
			     || um_error(err, "%s: everybody may write it",
				     path))
			&& um_file_read(&text, path, FILE_MAX, err)
			&& (text.len == 0
				|| parse(keys, um_buf_str(&text), err, path));
	}
	um_buf_free(&text);
	if (!ok) {
		um_api_keys_free(keys);
		return false;
	}
	*out = keys;
	return true;
}

const struct um_api_key *
um_api_keys_find(const struct um_api_keys *keys, const char *authorization)
{
	const struct um_api_key *found = NULL;
	uint8_t digest[SHA256_DIGEST_LENGTH];
	struct um_str text;

	if (authorization == NULL
		|| strncasecmp(authorization, SCHEME, sizeof(SCHEME) - 1) != 0)
		return NULL;
	text = um_str(authorization + sizeof(SCHEME) - 1);
	if (text.len != UM_API_KEY_LEN)
		return NULL;
	SHA256((const uint8_t *)text.ptr, text.len, digest);
	for (size_t i = 0; i < keys->len; i++)
		if (CRYPTO_memcmp(keys->key[i].digest, digest, sizeof(digest))
			== 0)
			found = &keys->key[i];
	explicit_bzero(digest, sizeof(digest));
	return found;
}

bool
um_api_keys_has(const struct um_api_keys *keys,
	const uint8_t digest[static UM_API_KEY_DIGEST], const char *tenant)
{
	for (size_t i = 0; i < keys->len; i++)
		if (CRYPTO_memcmp(keys->key[i].digest, digest,
			    UM_API_KEY_DIGEST)
			== 0)
			return strcmp(keys->key[i].tenant, tenant) == 0;
	return false;
}

void
um_api_keys_free(struct um_api_keys *keys)
{
	if (keys == NULL)
		return;
	free(keys->key);
	free(keys);
}
