/* SPDX-License-Identifier: MIT */
/*
 * What the row of a form has sealed for its page, after UM_OP_LOOK_UP_FORM: what the
 * MCP server asks and says of the last value, and what this browser has sent.
 */
#ifndef UM_FORM_ROW_H
#define UM_FORM_ROW_H

#include "app/exchange.h"
#include "form/answers.h"
#include "form/definition.h"

/*
 * Opens the definition; the caller frees it in every case. It was sealed by the MCP
 * server, and may be wrong: then ex->fault says where.
 */
enum um_refusal um_form_row_definition(const struct um_context *context,
	struct um_exchange *ex, struct um_definition *definition);

/* The problem; NULL for none. The caller frees it with free(). */
struct um_json_node *um_form_row_problem(const struct um_context *context,
	const struct um_exchange *ex);

/*
 * What this browser has sent before, without secrets: nothing if it has not, or
 * it cannot be read. The caller frees the answers in every case.
 */
void um_form_row_typed(const struct um_context *context,
	const struct um_exchange *ex, const struct um_definition *definition,
	struct um_answers *answers);

/*
 * Seals for ex->op what the form shows to this browser if it comes back. False: out
 * of memory, or OpenSSL failed.
 */
bool um_form_row_seal_typed(const struct um_context *context,
	struct um_exchange *ex, const struct um_definition *definition,
	const struct um_answers *answers);

#endif
