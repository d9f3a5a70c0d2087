/* SPDX-License-Identifier: MIT */
#include "crypto/keys.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "contract/seals.h"
#include "core/encode.h"

#define LINE_MAX_LEN 2048

struct um_keys {
	EVP_CIPHER_CTX *cipher;
	EVP_MAC_CTX *hmac;
	EVP_MD_CTX *sha256;
	struct um_file_version version;
	size_t len;
	struct um_key key[UM_KEYS_MAX];
};

static EVP_CIPHER_CTX *
new_cipher(void)
{
	EVP_CIPHER *cipher = EVP_CIPHER_fetch(NULL, "AES-256-GCM", NULL);
	EVP_CIPHER_CTX *ctx = cipher != NULL ? EVP_CIPHER_CTX_new() : NULL;

	if (ctx != NULL
		&& EVP_EncryptInit_ex(ctx, cipher, NULL, NULL, NULL) != 1) {
		EVP_CIPHER_CTX_free(ctx);
		ctx = NULL;
	}
	EVP_CIPHER_free(cipher);
	return ctx;
}

static EVP_MD_CTX *
new_sha256(void)
{
	EVP_MD *sha256 = EVP_MD_fetch(NULL, "SHA256", NULL);
	EVP_MD_CTX *ctx = sha256 != NULL ? EVP_MD_CTX_new() : NULL;

	if (ctx != NULL && EVP_DigestInit_ex(ctx, sha256, NULL) != 1) {
		EVP_MD_CTX_free(ctx);
		ctx = NULL;
	}
	EVP_MD_free(sha256);
	return ctx;
}

/* NULL when memory runs out or OpenSSL fails. */
static struct um_keys *
new_keys(void)
{
	struct um_keys *keys = calloc(1, sizeof(*keys));

	if (keys == NULL)
		return NULL;
	keys->cipher = new_cipher();
	keys->hmac = um_hkdf_new();
	keys->sha256 = new_sha256();
	if (keys->cipher == NULL || keys->hmac == NULL
		|| keys->sha256 == NULL) {
		um_keys_free(keys);
		return NULL;
	}
	return keys;
}

static bool
derive_all(const struct um_keys *keys, struct um_key *key)
{
	static const char *const infos[] = {
		[UM_USE_STATE] = UM_STATE_INFO,
		[UM_USE_LINK] = UM_LINK_INFO,
		[UM_USE_OUTCOME] = UM_OUTCOME_INFO,
		[UM_USE_EVENT_OUTCOME] = UM_EVENT_OUTCOME_INFO,
		[UM_USE_TICKET] = UM_TICKET_INFO,
		[UM_USE_FOLLOW] = UM_FOLLOW_INFO,
		[UM_USE_SESSION] = UM_SESSION_INFO,
		[UM_USE_SIGNIN] = UM_SIGNIN_INFO,
		[UM_USE_FORM] = UM_FORM_INFO,
		[UM_USE_PROBLEM] = UM_PROBLEM_INFO,
		[UM_USE_TYPED] = UM_TYPED_INFO,
		[UM_USE_READER] = UM_READER_INFO,
		[UM_USE_KEPT] = UM_KEPT_INFO,
		[UM_USE_FRESH] = UM_FRESH_INFO,
		[UM_USE_CONSOLE] = UM_CONSOLE_INFO,
		[UM_USE_VERIFIER] = UM_VERIFIER_INFO,
		[UM_USE_FULFILLED] = UM_FULFILLED_INFO,
	};
	bool ok = true;

	for (size_t i = 0; i < UM_USES && ok; i++)
		ok = um_keys_derive(key->of[i], keys, key, um_str(NULL),
			um_str(infos[i]));
	return ok;
}

/* Reads a line, `kid base64`, into the next key. */
static bool
parse_line(struct um_keys *keys, struct um_key *key, char *line,
	struct um_error *err, const char *path, int number)
{
	static const char blank[] = " \t\r\n";
	char *save;
	const char *kid = strtok_r(line, blank, &save);
	const char *secret = strtok_r(NULL, blank, &save);
	unsigned long value;
	char *end;

	if (kid == NULL || secret == NULL
		|| strtok_r(NULL, blank, &save) != NULL)
		return um_error(err, "%s:%d: not `<kid> <base64 of the key>`",
			path, number);
	value = strtoul(kid, &end, 10);
	if (kid[0] < '0' || kid[0] > '9' || *end != '\0' || value > 255)
		return um_error(err,
			"%s:%d: the kid is not a number from 0 to 255", path,
			number);
	if (!um_base64_decode(key->secret, sizeof(key->secret),
		    &key->secret_len, um_str(secret)))
		return um_error(err,
			"%s:%d: the key is not base64, or over %d bytes", path,
			number, UM_SECRET_MAX);
	if (key->secret_len < UM_SECRET_MIN)
		return um_error(err, "%s:%d: the key is under %d bytes", path,
			number, UM_SECRET_MIN);
	key->kid = (uint8_t)value;
	if (!derive_all(keys, key))
		return um_error(err, "%s:%d: OpenSSL cannot derive a key", path,
			number);
	return true;
}

/* Takes the key of a line, if it has one. */
static bool
take_line(struct um_keys *keys, char line[static LINE_MAX_LEN],
	struct um_error *err, const char *path, int number)
{
	struct um_key *key = &keys->key[keys->len];
	size_t len = strlen(line), blank = strspn(line, " \t\r\n");

	if (len == LINE_MAX_LEN - 1)
		return um_error(err, "%s:%d: the line is too long", path,
			number);
	if (memrchr(line, '\0', LINE_MAX_LEN) != line + len)
		return um_error(err, "%s:%d: there is a NUL in it", path,
			number);
	if (line[blank] == '\0' || line[blank] == '#')
		return true;
	if (keys->len == UM_KEYS_MAX)
		return um_error(err, "%s:%d: over %d keys", path, number,
			UM_KEYS_MAX);
	if (!parse_line(keys, key, line, err, path, number))
		return false;
	if (um_keys_find(keys, key->kid) != NULL)
		return um_error(err, "%s:%d: duplicate kid %d", path, number,
			key->kid);
	keys->len++;
	return true;
}

static bool
parse_file(struct um_keys *keys, FILE *f, const char *path,
	struct um_error *err)
{
	char line[LINE_MAX_LEN];
	bool ok = true;

	for (int number = 1; ok; number++) {
		/* So the last NUL in it is the one that fgets() writes. */
		memset(line, 0xff, sizeof(line));
		if (fgets(line, sizeof(line), f) == NULL)
			break;
		ok = take_line(keys, line, err, path, number);
	}
	if (ok && ferror(f))
		ok = um_error(err, "%s: %s", path, strerror(errno));
	else if (ok && keys->len == 0)
		ok = um_error(err, "%s: no key in it", path);
	explicit_bzero(line, sizeof(line));
	return ok;
}

/* Reads the keys from the stream, which is closed in every case. */
static bool
load(struct um_keys **out, FILE *f, struct um_file_version version,
	const char *name, struct um_error *err)
{
	char buffer[BUFSIZ]; /* ours, so that it can be wiped */
	struct um_keys *keys = new_keys();
	bool ok = false;

	setvbuf(f, buffer, _IOFBF, sizeof(buffer));
	if (keys == NULL) {
		um_error(err, "%s: OpenSSL failed, or out of memory", name);
	} else if (parse_file(keys, f, name, err)) {
		keys->version = version;
		*out = keys;
		keys = NULL;
		ok = true;
	}
	fclose(f);
	explicit_bzero(buffer, sizeof(buffer));
	um_keys_free(keys);
	return ok;
}

/* Whether it is a regular file that is kept private. */
static bool
is_private_file(int fd, struct stat *st, const char *path, struct um_error *err)
{
	if (fd < 0 || fstat(fd, st) != 0)
		return um_error(err, "%s: %s", path, strerror(errno));
	if (!S_ISREG(st->st_mode))
		return um_error(err, "%s: not a file", path);
	return um_file_is_private(st, path, err);
}

bool
um_keys_load(struct um_keys **out, const char *path, struct um_error *err)
{
	/* O_NONBLOCK: opening a FIFO would wait for its writer. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;

	*out = NULL;
	if (is_private_file(fd, &st, path, err)) {
		FILE *f = fdopen(fd, "r");

		if (f != NULL)
			return load(out, f, um_file_version(&st), path, err);
		um_error(err, "%s: %s", path, strerror(errno));
	}
	if (fd >= 0)
		close(fd);
	return false;
}

bool
um_keys_parse(struct um_keys **out, const char *text, const char *name,
	struct um_error *err)
{
	size_t len = strlen(text);
	char *lines = malloc(len + 1);
	FILE *f;
	bool ok;

	*out = NULL;
	if (lines == NULL)
		return um_error(err, "%s: out of memory", name);
	memcpy(lines, text, len + 1);
	for (size_t i = 0; i < len; i++)
		if (lines[i] == ',')
			lines[i] = '\n';
	f = fmemopen(lines, len, "r");
	ok = f != NULL ? load(out, f, (struct um_file_version){ 0 }, name, err)
		       : um_error(err, "%s: %s", name, strerror(errno));
	um_wipe_free(lines, len + 1);
	return ok;
}

struct um_file_version
um_keys_version(const struct um_keys *keys)
{
	return keys->version;
}

const struct um_key *
um_keys_minting(const struct um_keys *keys)
{
	return &keys->key[0];
}

const struct um_key *
um_keys_find(const struct um_keys *keys, uint8_t kid)
{
	for (size_t i = 0; i < keys->len; i++)
		if (keys->key[i].kid == kid)
			return &keys->key[i];
	return NULL;
}

bool
um_keys_derive(uint8_t out[static UM_KEY_LEN], const struct um_keys *keys,
	const struct um_key *key, struct um_str salt, struct um_str info)
{
	_Static_assert(UM_KEY_LEN == UM_HKDF_LEN, "one derivation is a key");

	return um_hkdf_sha256(out, keys->hmac,
		(struct um_str){ (const char *)key->secret, key->secret_len },
		salt, info);
}

EVP_CIPHER_CTX *
um_keys_cipher(const struct um_keys *keys)
{
	return keys->cipher;
}

EVP_MAC_CTX *
um_keys_hmac(const struct um_keys *keys)
{
	return keys->hmac;
}

EVP_MD_CTX *
um_keys_sha256(const struct um_keys *keys)
{
	return keys->sha256;
}

void
um_keys_free(struct um_keys *keys)
{
	if (keys == NULL)
		return;
	EVP_CIPHER_CTX_free(keys->cipher);
	EVP_MAC_CTX_free(keys->hmac);
	EVP_MD_CTX_free(keys->sha256);
	um_wipe_free(keys, sizeof(*keys));
}
