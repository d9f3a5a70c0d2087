/* SPDX-License-Identifier: MIT */
/*
 * The result: the parameters of a return or of an event as JSON text, sealed
 * into the row. And the outcome: action, reason and result, sealed for the
 * notification, so that the SDK need not read the row.
 */
#ifndef UM_RESULT_H
#define UM_RESULT_H

#include "app/program.h"
#include "contract/limits.h"
#include "http/form.h"
#include "postgres/op.h"

/*
 * Both seal into op->result and op->notified. An outcome that is too large for
 * a notification stays empty. False: out of memory, or OpenSSL failed.
 */

/* The JSON of a result, for op->id and op->binding, in the same way. */
bool um_result_of_json(struct um_op *op, const struct um_buf *json,
	const struct um_context *context);

/*
 * An authorization response, for op->id and op->binding: all of its parameters
 * except the state, and those without a value because they are there twice or are
 * too long. The outcome has op->action and op->reason.
 */
bool um_result_of_form(struct um_op *op, const struct um_form *form,
	const struct um_context *context);

/*
 * op->event, for op->id alone: its identity as "event", its "type" and, where
 * they are known, "reference", "amount" (in minor units) and "currency". The
 * outcome is an accept with the "reference" of the payment, or with the id if
 * the provider sends none. The database announces it only if it accepts the
 * event.
 */
bool um_result_of_event(struct um_op *op, const struct um_context *context);

#endif
