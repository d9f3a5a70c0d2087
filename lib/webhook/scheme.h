/* SPDX-License-Identifier: MIT */
/*
 * A scheme: one way in which a provider signs. Where the signature is, how it
 * is written, what it signs and with which keys (lib/providers/README.md,
 * "Verifying").
 */
#ifndef UM_SCHEME_H
#define UM_SCHEME_H

#include <stdbool.h>
#include <stddef.h>

#include "core/conf.h"
#include "webhook/delivery.h"
#include "webhook/expr.h"
#include "webhook/verifier.h"

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

	/* The signed text is these, one after the other; none for a token. */
	struct um_expr *parts;
	size_t parts_len;
	bool of_items; /* each element of `events` is signed by itself */

	bool is_token;
	bool is_public; /* its secrets are public keys */
	bool is_hmac;
	/*
	 * Its keys sign hexadecimal digits for whoever asks (UM_EXPR_MAC), so
	 * that a delivery of which nothing else is signed is refused.
	 */
	bool answers_digits;
	enum um_key_form key_form;
	char *key_prefix; /* secrets of this scheme begin with it, or NULL */
	struct um_verifier *verifier;
};

enum um_check {
	UM_CHECK_RIGHT,
	UM_CHECK_WRONG,
	UM_CHECK_NONE, /* the signature or a signed value is absent */
};

/* Compiles a scheme, without its keys. Free it in every case. */
bool um_scheme_load(struct um_scheme *scheme, const struct um_conf_loc *at,
	json_t *node, const struct um_expr_scope *scope);
void um_scheme_free(struct um_scheme *scheme);

/*
 * How many characters of the secret are the prefix of this scheme's keys; -1 if
 * it has another prefix, or the keys are certificates.
 */
int um_scheme_prefix_len(const struct um_scheme *scheme, const char *secret);
/* Whether a secret could be one of both, because they have the same prefix. */
bool um_scheme_has_prefix_of(const struct um_scheme *scheme,
	const struct um_scheme *other);
/* Adds a secret as a key. NULL, or why it is refused. */
const char *um_scheme_take(struct um_scheme *scheme, const char *secret);

/*
 * Verifies a delivery. When RIGHT, parsed->params are the parameters of the
 * signature, and parsed->ambiguous tells whether other values could give the
 * same signed text.
 */
enum um_check um_scheme_check(const struct um_scheme *scheme,
	struct um_parsed_delivery *parsed);

/*
 * Appends what the scheme would have for a signature, its prefix and parameters
 * around it: `params` are the parameters beside it, each written as
 * NAME EQUALS VALUE SEPARATOR. False for other schemes than HMAC, without a key,
 * and if a signed value is absent.
 */
bool um_scheme_sign(const struct um_scheme *scheme,
	struct um_parsed_delivery *parsed, struct um_str params,
	struct um_buf *out);

/*
 * Splits a signature header into its parameters: at each `separator`, without
 * the spaces and tabs around them, and each at its first `equals`. A name may
 * stand there more than once. False for more than UM_PARAMS_MAX, an empty
 * parameter or name, and one without `equals`.
 */
bool um_scheme_split_params(struct um_params *params, struct um_str text,
	const char *separator, const char *equals);

/*
 * Whether a right signature proves the value of `expr`: everything in it is a
 * constant or is signed, and the signed text cannot be split into other values.
 * Nothing needs to separate a `timestamp` from a JSON body, because neither
 * could continue the other.
 */
bool um_scheme_proves(const struct um_scheme *scheme,
	const struct um_expr *expr, const struct um_payload *payload,
	const struct um_expr *timestamp);

/* The same for the whole body, byte for byte. */
bool um_scheme_proves_body(const struct um_scheme *scheme,
	const struct um_payload *payload, const struct um_expr *timestamp);

#endif
