/* SPDX-License-Identifier: MIT */
/*
 * Checks JSON against the part of JSON Schema (2020-12) that is in
 * lib/contract/form.schema.json, and says where the first mistake is:
 * tests/vectors/schema-cases.json has cases for all languages.
 */
#ifndef UM_SCHEMA_H
#define UM_SCHEMA_H

#include <stdbool.h>

#include "core/json.h"
#include "core/str.h"

/* Where a mistake is (RFC 6901), and the rest of a sentence about it. */
struct um_schema_fault {
	char pointer[80];
	char must[152];
};

/* lib/contract/form.schema.json; the caller frees it with free(). NULL: memory
 * ran out. */
struct um_json_node *um_schema_of_forms(void);

/* The rules with this name in `$defs`, or NULL. */
const struct um_json_node *um_schema_get(const struct um_json_node *schema,
	struct um_str name);

/*
 * Whether the value is as the rules of `$defs` with this name say. Otherwise the
 * fault is filled in; it tells the first bytes of a name that is not allowed, and
 * nothing else of the value.
 */
bool um_schema_check(const struct um_json_node *schema, const char *name,
	const struct um_json_node *value, struct um_schema_fault *fault);

/* Fills in the fault. Always false. */
__attribute__((format(printf, 3, 4))) bool
um_schema_refuse(struct um_schema_fault *fault, const char *pointer,
	const char *format, ...);

#endif
