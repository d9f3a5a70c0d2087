/* SPDX-License-Identifier: MIT */
/* The result: what came back, as JSON text that is sealed into the row. */
#ifndef UM_RESULT_H
#define UM_RESULT_H

#include "app/program.h"
#include "http/form.h"
#include "postgres/op.h"

#define UM_RESULT_MAX 65536 /* bytes, sealed: the domain urlmode.result */

/*
 * Both seal into op->result, for op->id and op->binding. False: memory is out,
 * or OpenSSL failed.
 */

/* An authorization response: all of its parameters except the state. */
bool um_result_of_form(struct um_op *op, const struct um_form *form,
	const struct um_context *context);

/*
 * op->event: its identity as "event", its "type" and, where they are known,
 * "reference", "amount" (in minor units) and "currency".
 */
bool um_result_of_event(struct um_op *op, const struct um_context *context);

#endif
