/* SPDX-License-Identifier: MIT */
/*
 * What is signed, put together from two deliveries: where neither is marked
 * as one that could be cut in another way, the same text comes from the same
 * values. This is what "trust" rests on.
 */
#include "fuzz.h"

#include <string.h>

#include "description/scheme_load.h"

static const char template[] =
	"{\"algorithm\": \"hmac-sha256\", \"key\": {\"as\": \"utf8\"},"
	" \"signature\": {\"from\": {\"header\": \"x\"}, \"as\": \"hex\"},"
	" \"signed\": [{\"header\": \"a\"}, \".\", {\"header\": \"b\"},"
	"  \"::\", {\"join\": [{\"header\": \"c\"}, {\"header\": \"d\"}],"
	"   \"with\": \":\"}, \"|\", {\"body\": \"raw\"}, \".\","
	"  {\"header\": \"e\"}, \"..\", {\"header\": \"f\"}]}";

static struct um_scheme scheme;

/* Six headers, a to f, and the body. */
struct parts {
	struct um_str header[6];
	struct um_str body;
};

static const char *
header(const char *name, void *arg)
{
	const struct parts *parts = arg;

	return name[0] >= 'a' && name[0] <= 'f'
		? parts->header[name[0] - 'a'].ptr
		: NULL;
}

static void
unload(void)
{
	um_scheme_free(&scheme);
}

static void
load(void)
{
	const struct um_expr_scope scope = { 0 };
	json_t *node = json_loads(template, 0, NULL);
	struct um_error err;
	struct um_conf_loc at = um_conf_root("template", &err);

	if (!um_scheme_load(&scheme, &at, node, &scope)) {
		fprintf(stderr, "%s\n", err.text);
		abort();
	}
	json_decref(node);
	atexit(unload);
}

static void
read_parts(struct parts *parts, struct um_str *rest)
{
	for (size_t i = 0; i < 6; i++)
		parts->header[i] = fuzz_line(rest);
	parts->body = fuzz_line(rest);
}

static void
free_parts(const struct parts *parts)
{
	for (size_t i = 0; i < 6; i++)
		fuzz_free(parts->header[i]);
	fuzz_free(parts->body);
}

/* Whether it could be put together, and has one parsed. */
static bool
put(const struct parts *parts, struct um_buf *out)
{
	const struct um_delivery delivery = { .body = parts->body,
		.header = header,
		.arg = (void *)parts };
	const struct um_parsed parsed = { .delivery = &delivery };
	const struct um_source source = { .parsed = &parsed };
	bool is_ambiguous;

	return um_scheme_put_signed(&scheme, &source, out, &is_ambiguous)
		== UM_FOUND
		&& !is_ambiguous;
}

static bool
are_same(const struct parts *a, const struct parts *b)
{
	for (size_t i = 0; i < 6; i++)
		if (strcmp(a->header[i].ptr, b->header[i].ptr) != 0)
			return false;
	return um_str_eq(a->body, b->body);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct um_str rest = { (const char *)data, size };
	struct um_buf first = { 0 }, second = { 0 };
	struct parts a, b;

	if (scheme.parts_len == 0)
		load();
	read_parts(&a, &rest);
	read_parts(&b, &rest);
	if (put(&a, &first) && put(&b, &second)
		&& um_str_eq(um_buf_str(&first), um_buf_str(&second)))
		HOLDS(are_same(&a, &b));
	um_buf_free(&first);
	um_buf_free(&second);
	free_parts(&a);
	free_parts(&b);
	return 0;
}
