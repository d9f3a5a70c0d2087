/* SPDX-License-Identifier: MIT */
#include "fuzz.h"

#include <string.h>

#include "description/spec_load.h"

static struct um_spec *loaded;

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
unload(void)
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
	atexit(unload);
	return loaded;
}
