/* SPDX-License-Identifier: MIT */
#include "fuzz.h"

#include <string.h>
#include <unistd.h>

#include "crypto/keys.h"
#include "description/spec_load.h"

static struct um_spec *loaded;
static struct um_keys *keys;

void
fuzz_holds(bool holds, const char *file, int line, const char *what)
{
	if (holds)
		return;
	fprintf(stderr, "%s:%d: %s\n", file, line, what);
	abort();
}

static struct um_str
copy_of(const char *bytes, size_t len)
{
	char *copy = malloc(len + 1);

	HOLDS(copy != NULL);
	if (len != 0)
		memcpy(copy, bytes, len);
	copy[len] = '\0';
	return (struct um_str){ copy, len };
}

struct um_str
fuzz_line(struct um_str *rest)
{
	const char *end = rest->len != 0 ? memchr(rest->ptr, '\n', rest->len)
					 : NULL;
	size_t len = end != NULL ? (size_t)(end - rest->ptr) : rest->len;
	struct um_str line = copy_of(rest->ptr, len);

	rest->ptr += len + (end != NULL);
	rest->len -= len + (end != NULL);
	return line;
}

struct um_str
fuzz_rest(const struct um_str *rest)
{
	return copy_of(rest->ptr, rest->len);
}

void
fuzz_free(struct um_str copy)
{
	free((void *)copy.ptr);
}

static void
free_keys(void)
{
	um_keys_free(keys);
}

const struct um_keys *
fuzz_keys(void)
{
	static const char text[] =
		"7 AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=\n";
	char path[] = "/tmp/urlmode-fuzz-XXXXXX";
	struct um_error err;
	int fd;

	if (keys != NULL)
		return keys;
	fd = mkstemp(path);
	HOLDS(fd >= 0);
	HOLDS(write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	close(fd);
	HOLDS(um_keys_load(&keys, path, &err));
	unlink(path);
	atexit(free_keys);
	return keys;
}

static void
free_spec(void)
{
	um_spec_free(loaded);
}

const struct um_spec *
fuzz_spec(const char *path)
{
	static const struct um_provider_env env = { 0 };
	struct um_error err;

	if (loaded != NULL)
		return loaded;
	if (!um_spec_load(&loaded, path, &env, &err)) {
		fprintf(stderr, "%s\n", err.text);
		abort();
	}
	atexit(free_spec);
	return loaded;
}
