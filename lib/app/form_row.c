/* SPDX-License-Identifier: MIT */
#include "app/form_row.h"

#include <stdio.h>
#include <stdlib.h>

#include "crypto/seal.h"
#include "form/schema.h"

#define PROBLEM_VALUES_MAX 64

enum um_refusal
um_form_row_definition(const struct um_context *context, struct um_exchange *ex,
	struct um_definition *definition)
{
	struct um_schema_fault fault = { .must = "cannot be opened" };
	struct um_buf json = { 0 };
	bool ok = um_seal_open_for_page(&json, um_buf_str(&ex->op.row.form),
			  UM_USE_FORM, ex->token.id, ex->token.binding,
			  context->keys)
		&& um_definition_read(definition, um_buf_str(&json),
			ex->provider->kind == UM_KIND_APPROVAL, &fault);

	um_buf_free(&json);
	if (!ok)
		snprintf(ex->fault.text, sizeof(ex->fault.text), "form%s %s",
			fault.pointer, fault.must);
	return ok ? UM_REFUSAL_NONE : UM_REFUSAL_INTERNAL_ERROR;
}

struct um_json_node *
um_form_row_problem(const struct um_context *context,
	const struct um_exchange *ex)
{
	struct um_json_node *problem = NULL, *schema;
	struct um_schema_fault fault;
	struct um_buf json = { 0 };

	if (ex->op.row.problem.len != 0
		&& um_seal_open_for_page(&json, um_buf_str(&ex->op.row.problem),
			UM_USE_PROBLEM, ex->token.id, ex->token.binding,
			context->keys))
		problem = um_json_parse(um_buf_str(&json), PROBLEM_VALUES_MAX,
			NULL);
	um_buf_free(&json);
	schema = um_schema_of_forms();
	if (problem != NULL && schema != NULL
		&& um_schema_check(schema, "problem", problem, &fault)) {
		free(schema);
		return problem;
	}
	free(schema);
	free(problem);
	return NULL;
}

void
um_form_row_typed(const struct um_context *context,
	const struct um_exchange *ex, const struct um_definition *definition,
	struct um_answers *answers)
{
	struct um_json_node *values = NULL;
	struct um_buf json = { 0 };

	if (ex->op.row.typed.len != 0
		&& um_seal_open_for_page(&json, um_buf_str(&ex->op.row.typed),
			UM_USE_TYPED, ex->token.id, ex->token.browser,
			context->keys))
		values = um_json_parse(um_buf_str(&json), UM_ANSWERS_NODES_MAX,
			NULL);
	um_buf_free(&json);
	if (values != NULL)
		um_answers_read_json(answers, definition, values);
	free(values);
}

bool
um_form_row_seal_typed(const struct um_context *context, struct um_exchange *ex,
	const struct um_definition *definition,
	const struct um_answers *answers)
{
	uint8_t nonce[UM_NONCE_LEN];
	struct um_buf json = { 0 };
	bool ok;

	um_answers_put(&json, answers, definition, false);
	context->random(nonce, sizeof(nonce));
	ok = !json.failed
		&& um_seal_put_for_page(&ex->op.typed, um_buf_str(&json),
			UM_USE_TYPED, ex->token.id, ex->token.browser,
			context->keys, nonce);
	um_buf_free(&json);
	return ok;
}
