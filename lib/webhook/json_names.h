/* SPDX-License-Identifier: MIT */
/* The parser's own: strings with escapes, and names that stand twice. */
#ifndef UM_JSON_NAMES_H
#define UM_JSON_NAMES_H

#include <stdbool.h>

#include "webhook/json.h"

/* RFC 8259 section 7; no NUL, and surrogates only in pairs. */
bool um_json_escapes_are_good(const struct um_json_node *string);

/* Hashes what the name says. False when out of memory. */
bool um_json_hash_name(struct um_json_node *name);

/* Also when out of memory: it could not be told. */
bool um_json_has_name_twice(const struct um_json_node *object);

#endif
