/* SPDX-License-Identifier: MIT */
/* Reads one field of a definition. */
#ifndef UM_INPUT_H
#define UM_INPUT_H

#include "form/field.h"
#include "form/schema.h"

/*
 * Reads a field that is as the schema says. False: its members do not fit
 * together; the fault's pointer begins with `pointer`.
 */
bool um_input_read(struct um_input *input, const struct um_json_node *node,
	const struct um_json_node *schema, const char *pointer,
	struct um_schema_fault *fault);

#endif
