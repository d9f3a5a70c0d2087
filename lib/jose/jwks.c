/* SPDX-License-Identifier: MIT */
#include "jose/jwks.h"

#include <stdlib.h>
#include <string.h>

#include "core/file.h"
#include "core/json.h"

#define VALUES_MAX 8192 /* values and names in a file */

struct um_jwks {
	size_t len;
	struct um_jwk key[UM_JWKS_MAX];
};

/* Whether the ids are the same, or both keys have none. */
static bool
same_kid(const struct um_jwk *a, const struct um_jwk *b)
{
	return a->has_kid == b->has_kid && a->kid_len == b->kid_len
		&& memcmp(a->kid, b->kid, a->kid_len) == 0;
}

/* Two keys that a token could not choose between. */
static bool
is_ambiguous(const struct um_jwks *jwks, const struct um_jwk *key)
{
	for (size_t i = 0; i < jwks->len; i++)
		for (int alg = 0; alg < UM_JWS_ALGS; alg++)
			if (key->for_alg[alg] && jwks->key[i].for_alg[alg]
				&& same_kid(key, &jwks->key[i]))
				return true;
	return false;
}

static bool
read_keys(struct um_jwks *jwks, const struct um_json_node *keys,
	struct um_error *err)
{
	const struct um_json_node *node = NULL;
	size_t seen = 0;

	while ((node = um_json_next(keys, node)) != NULL) {
		struct um_jwk key;

		if (seen++ == UM_JWKS_MAX)
			return um_error(err, "has more than %d keys",
				UM_JWKS_MAX);
		switch (um_jwk_read(&key, node)) {
		case UM_JWK_PRIVATE:
			return um_error(err,
				"has a private or a symmetric key, which has "
				"no place in a set of public keys");
		case UM_JWK_IGNORED:
			break;
		case UM_JWK_GOOD:
			if (is_ambiguous(jwks, &key)) {
				um_jwk_free(&key);
				return um_error(err,
					"has two keys that a token cannot "
					"choose between");
			}
			jwks->key[jwks->len++] = key;
			break;
		}
	}
	return jwks->len != 0
		|| um_error(err, "has no key that can verify a signature");
}

bool
um_jwks_parse(struct um_jwks **out, struct um_str text, struct um_error *err)
{
	struct um_json_fault fault;
	struct um_json_node *root = NULL;
	struct um_jwks *jwks = NULL;
	const struct um_json_node *keys;
	bool ok = false;

	*out = NULL;
	if (text.len > UM_JWKS_FILE_MAX)
		return um_error(err, "is over %d bytes", UM_JWKS_FILE_MAX);
	root = um_json_parse(text, VALUES_MAX, &fault);
	if (root == NULL)
		return um_error(err, "%s, after byte %zu", fault.reason,
			fault.at);
	keys = um_json_member(root, um_str("keys"));
	jwks = calloc(1, sizeof(*jwks));
	if (!um_json_is(keys, UM_JSON_ARRAY))
		um_error(err, "is not a set of keys: it has no array `keys`");
	else if (jwks == NULL)
		um_error(err, "out of memory");
	else
		ok = read_keys(jwks, keys, err);
	if (ok) {
		*out = jwks;
		jwks = NULL;
	}
	um_jwks_free(jwks);
	free(root);
	return ok;
}

bool
um_jwks_load(struct um_jwks **out, const char *path, struct um_error *err)
{
	struct um_buf text = { 0 };
	struct um_error reason;
	bool ok = false;

	*out = NULL;
	if (um_file_read(&text, path, UM_JWKS_FILE_MAX, err))
		ok = um_jwks_parse(out, um_buf_str(&text), &reason)
			|| um_error(err, "%s: %.200s", path, reason.text);
	um_buf_free(&text);
	return ok;
}

size_t
um_jwks_count(const struct um_jwks *jwks)
{
	return jwks->len;
}

const struct um_jwk *
um_jwks_find(const struct um_jwks *jwks, enum um_jws_alg alg, struct um_str kid)
{
	const struct um_jwk *found = NULL;

	for (size_t i = 0; jwks != NULL && i < jwks->len; i++) {
		const struct um_jwk *key = &jwks->key[i];

		if (!key->for_alg[alg])
			continue;
		if (kid.ptr == NULL && found != NULL)
			return NULL;
		if (kid.ptr == NULL
			|| (key->has_kid
				&& um_str_eq(kid,
					(struct um_str){ key->kid,
						key->kid_len })))
			found = key;
	}
	return found;
}

void
um_jwks_free(struct um_jwks *jwks)
{
	if (jwks == NULL)
		return;
	for (size_t i = 0; i < jwks->len; i++)
		um_jwk_free(&jwks->key[i]);
	free(jwks);
}
