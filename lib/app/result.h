/* SPDX-License-Identifier: MIT */
/* What came back, as the JSON that is sealed into the row. */
#ifndef UM_RESULT_H
#define UM_RESULT_H

#include "app/program.h"
#include "http/form.h"
#include "postgres/op.h"

#define UM_RESULT_MAX 65536 /* bytes, sealed; PostgreSQL's urlmode.result */

/*
 * Seals into op->result, for op->id and op->binding. False: memory or
 * OpenSSL failed.
 */

/* An authorization response: every parameter but the state. */
bool um_result_of_form(struct um_op *op, const struct um_form *form,
	const struct um_context *context);

/*
 * A payment's event, op->event: "event" (its identity), "type", and where
 * they are known "reference", "amount" (minor units) and "currency".
 */
bool um_result_of_event(struct um_op *op, const struct um_context *context);

#endif
