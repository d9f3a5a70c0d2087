/* SPDX-License-Identifier: MIT */
/* Compiles `reconcile`: how the provider's own list of payments is read. */
#include "description/part_load.h"

static bool
load_rows(struct um_spec *spec, const struct um_conf_loc *at,
	const json_t *node)
{
	static const char *const files[] = { "json", "csv", NULL };
	const json_t *rows = json_object_get(node, "rows");
	unsigned file;

	if (!um_conf_get_choice(at, node, "file", files, &file))
		return false;
	spec->list_is_csv = file == 1;
	if ((rows == NULL) != spec->list_is_csv)
		return um_conf_member_error(at, "rows",
			rows == NULL ? "is missing: where in the JSON is the "
				       "list?"
				     : "cannot be used: each line of CSV is a "
				       "row");
	return rows == NULL
		|| um_expr_load_pointer(&spec->list.payload.events, at, node,
			"rows");
}

bool
um_spec_part_load_list(struct um_spec *spec, const struct um_conf_loc *at,
	json_t *node, const struct um_provider_env *env)
{
	static const char *const keys[] = { "documentation", "notes", "file",
		"rows", "time", "live", "account", "elicitation", "amount",
		"currency", "reference", "outcomes", NULL };
	const struct um_expr_scope scope = { .constant = env->constant,
		.arg = env->arg,
		.has_items = true,
		.has_only_items = true };
	struct um_spec_part *part = &spec->list;
	const char *text;

	if (node == NULL)
		return true;
	spec->has_list = true;
	if (!um_conf_check_keys(at, node, keys)
		|| !um_conf_get_text(at, node, "documentation", true, &text)
		|| !um_conf_get_text(at, node, "notes", false, &text)
		|| !load_rows(spec, at, node)
		|| !um_spec_part_load_time(&part->time, at, node, "time",
			&scope, true)
		|| !um_spec_part_load_origin(part, at, node, &scope, env)
		|| !um_expr_load_found(&part->elicitation, at, node,
			"elicitation", &scope)
		|| !um_spec_part_load_amount(part, at, node, &scope)
		|| !um_expr_load_found(&part->reference, at, node, "reference",
			&scope)
		|| !um_spec_part_load_outcomes(part, at, node, &scope))
		return false;
	if (part->amount.kind == UM_EXPR_NONE)
		return um_conf_member_error(at, "amount", "is missing");
	return true;
}
