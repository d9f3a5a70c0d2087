/* SPDX-License-Identifier: MIT */
/*
 * A scheme: one way in which a provider signs. It defines the place and form of
 * the signature, the signed bytes and the keys (lib/providers/VALUES.md,
 * "Verifying").
 */
#ifndef UM_SCHEME_H
#define UM_SCHEME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/file.h"
#include "core/strlist.h"
#include "jose/jwks.h"
#include "webhook/expr.h"
#include "webhook/verifier.h"

#define UM_LISTS_MAX 4 /* of parameters, in one header */

/* Zeroed to begin with. */
struct um_scheme {
	/* Where the signatures are, and how they are written there. */
	struct um_expr from;
	bool numbered; /* in headers of this name followed by 1, 2, … */
	/* One of these is before the signature, if there are any. */
	struct um_strlist prefixes;
	/* The names of the parameters that are signatures; perhaps none. */
	struct um_strlist fields;
	char *separator, *equals; /* of the parameters */
	/* In place of `equals`: what each parameter is, in this order. */
	struct um_strlist order;
	/*
	 * Between several lists of parameters in the header, each with a signature
	 * of its own; or NULL.
	 */
	char *list_separator;

	/* The signed text is these, one after the other; none for a token. */
	struct um_expr *parts;
	size_t parts_len;
	bool of_items; /* each element of `events` is signed by itself */

	bool is_token;
	bool is_public; /* its secrets are public keys */
	bool is_hmac;
	/*
	 * The signature is a JSON Web Token, which has the SHA-256 of the body
	 * in hexadecimal digits in this claim.
	 */
	bool is_jwt;
	struct um_pointer digest;
	struct um_jwks *jwks; /* its keys, which the site has in a file */
	char *jwks_file;
	struct um_file_version jwks_version;
	/*
	 * Anyone can have hexadecimal digits signed with its keys, by a
	 * challenge (UM_EXPR_MAC). A delivery whose signed text is only such
	 * digits is therefore refused.
	 */
	bool answers_digits;
	enum um_key_form key_form;
	/* The whole text of a secret, with its prefix, may be the key as well. */
	bool key_is_text_too;
	char *key_prefix; /* secrets of this scheme begin with it, or NULL */
	struct um_verifier *verifier;
	bool has_keys;
	/* When it was compared with the provider's documentation; or 0. */
	int64_t compared_ms;
};

enum um_check {
	UM_CHECK_RIGHT,
	UM_CHECK_WRONG,
	UM_CHECK_NONE, /* the signature or a signed value is absent */
};

void um_scheme_free(struct um_scheme *scheme);

/*
 * Reads the file of public keys again if it has changed. False: it is refused,
 * and the keys stay as they were.
 */
bool um_scheme_read_keys(struct um_scheme *scheme, struct um_error *err);

/* A signature that was looked at. Zeroed to begin with. */
struct um_signature {
	struct um_value value;   /* as it stands in the delivery */
	struct um_params params; /* perhaps none; they point into the value */
	/*
	 * Of several lists of parameters: how many there are, and which one has
	 * these params, counted from 1: the first whose signature is right, or
	 * the last that was looked at.
	 */
	size_t lists, list;
	/* Of a token that is right; or NULL. */
	struct um_json_node *claims;
	/* The signed text could also have been made of other values. */
	bool is_ambiguous;
	enum um_verify_error error; /* why it is not right */
};

/*
 * Verifies a delivery with the keys of the scheme. Free the signature in every
 * case; it may be used again for another scheme.
 */
enum um_check um_scheme_check(const struct um_scheme *scheme,
	const struct um_source *source, struct um_signature *signature);
void um_signature_free(struct um_signature *signature);

/*
 * Appends the bytes that the scheme signs. *is_ambiguous: other values could
 * result in the same bytes.
 */
enum um_found um_scheme_put_signed(const struct um_scheme *scheme,
	const struct um_source *source, struct um_buf *out, bool *is_ambiguous);

/*
 * Splits a signature header into its parameters: at each `separator`, without
 * the spaces and tabs around them, and each at its first `equals`. A name may
 * stand there more than once. False for more than UM_PARAMS_MAX, an empty
 * parameter or name, and one without `equals`.
 */
bool um_scheme_split_params(struct um_params *params, struct um_str text,
	const char *separator, const char *equals);

/*
 * The same for parameters that have no names in the header: as many as `order`
 * has, each of them with the name at its place. The last one is the rest of the
 * header, except that it may not have the separator. False for more or fewer,
 * and for an empty one.
 */
bool um_scheme_name_params(struct um_params *params, struct um_str text,
	const char *separator, const struct um_strlist *order);

#endif
