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
#include "form/schema_fault.h"

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

#endif
