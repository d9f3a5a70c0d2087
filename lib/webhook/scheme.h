/* SPDX-License-Identifier: MIT */
/*
 * One way in which a provider signs: where the signature stands, how it
 * reads, what it is over, and with which keys (lib/providers/README.md,
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
	/* Where signatures stand, and how they are cut out of the text. */
	struct um_expr from;
	bool numbered; /* in headers of this name with 1, 2, … after it */
	char *prefix;  /* stands before the signature, or NULL */
	char *field;   /* of named parts this one, or NULL */
	char *separator, *equals; /* of the named parts */

	/* What is signed: these, one after the other; none for a token. */
	struct um_expr *parts;
	size_t parts_len;
	bool of_items; /* each element of the iterator is signed */

	bool is_token;
	enum um_key_form key_form;
	char *key_prefix; /* secrets of this scheme begin so, or NULL */
	struct um_verifier *verifier;
};

enum um_check {
	UM_CHECK_RIGHT,
	UM_CHECK_WRONG,
	UM_CHECK_NONE, /* there is no signature, or not what it is over */
};

/*
 * Compiles a scheme, without its keys. The constants and whether there are
 * items come from `scope`. Free it in every case.
 */
bool um_scheme_load(struct um_scheme *scheme, const struct um_conf_loc *at,
	json_t *node, const struct um_expr_scope *scope);
void um_scheme_free(struct um_scheme *scheme);

/* Whether a secret is one of this scheme's, by its prefix. */
bool um_scheme_wants(const struct um_scheme *scheme, const char *secret);
/* Takes it; NULL, or why not. */
const char *um_scheme_take(struct um_scheme *scheme, const char *secret);

/*
 * Verifies. When RIGHT, parsed->pairs are the signature's named parts, and
 * parsed->ambiguous is set where what is signed could be cut otherwise.
 */
enum um_check um_scheme_check(const struct um_scheme *scheme,
	struct um_parsed_delivery *parsed);

/*
 * Splits a signature header into its parameters: at each `separator`, without
 * the spaces and tabs around them, and each at its first `equals`. A name may
 * stand there more than once. False for more than UM_PARAMS_MAX, an empty
 * parameter or name, and one without `equals`.
 */
bool um_scheme_split_params(struct um_params *params, struct um_str text,
	const char *separator, const char *equals);

/*
 * Whether a right signature proves the value: everything in it is the
 * scheme's own, or is signed, and what is signed has only one reading. A
 * `timestamp` may touch a JSON body without anything between, since no
 * timestamp ends or begins like a document.
 */
bool um_scheme_proves(const struct um_scheme *scheme,
	const struct um_expr *expr, const struct um_payload *payload,
	const struct um_expr *timestamp);

/* The same of the raw body, to its last byte. */
bool um_scheme_proves_body(const struct um_scheme *scheme,
	const struct um_payload *payload, const struct um_expr *timestamp);

#endif
