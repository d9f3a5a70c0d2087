/* SPDX-License-Identifier: MIT */
#include "form/field.h"

const struct um_json_node *
um_input_choice(const struct um_input *input, struct um_str value)
{
	const struct um_json_node *node = NULL;

	while ((node = um_json_next(input->choices, node)) != NULL)
		if (um_json_string_eq(um_json_member(node, um_str("value")),
			    value))
			return node;
	return NULL;
}
