/* SPDX-License-Identifier: MIT */
/*
 * /payment/<provider>/return?state=   the browser is back from the provider
 * /payment/<provider>/cancel?state=   the same, by the link "back without paying"
 *
 * The return of a browser proves no payment. So the page follows the row until
 * a webhook completes it, unless the provider has signed the address itself.
 * The link back without paying declines an elicitation for which nothing was
 * paid. Both count only in the browser that opened the row at /connect; another
 * one is told that it can be closed. Of the fields only the state is read here, so
 * that the others need not be readable.
 */
#include <stdlib.h>
#include <string.h>

#include "app/checks.h"
#include "app/result.h"
#include "server/main.h"

static um_step return_looked_up, cancel_looked_up, event_recorded,
	row_looked_up_again, declined;

/*
 * A bank's application may come back in another browser, where nobody has signed
 * in. Its page says that the payment is being confirmed, and nothing of the row.
 */
static enum um_refusal
show_elsewhere(struct um_exchange *ex, enum um_refusal refusal)
{
	if (refusal != UM_REFUSAL_WRONG_BROWSER
		&& refusal != UM_REFUSAL_SIGN_IN_REQUIRED)
		return refusal;
	ex->outcome = "elsewhere";
	ex->reason = um_refusal_code(refusal);
	ex->answer = UM_ANSWER_FINAL;
	ex->final = UM_FINAL_PAGE_CONFIRMING;
	return UM_REFUSAL_NONE;
}

/*
 * Providers append "?status=successful" to an address that has a query already:
 * the state has no question mark.
 */
static enum um_refusal
read_state(struct um_exchange *ex)
{
	for (size_t i = 0; i < ex->form.len; i++) {
		struct um_field *field = &ex->form.field[i];

		if (!um_str_is(field->name, "state"))
			continue;
		if (field->unreadable != UM_REFUSAL_NONE)
			return field->unreadable;
		field->value = um_str_cut(&field->value, "?");
	}
	return UM_REFUSAL_NONE;
}

static enum um_refusal
plan_look_up(const struct um_context *context, struct um_exchange *ex,
	enum um_purpose purpose, um_step *then)
{
	enum um_refusal refusal = read_state(ex);

	if (refusal != UM_REFUSAL_NONE)
		return refusal;
	if ((refusal = um_check_state(context, ex, purpose))
		|| (refusal = um_check_user(context, ex)))
		return show_elsewhere(ex, refusal);
	um_exchange_request_op(ex, UM_OP_LOOK_UP, then);
	return UM_REFUSAL_NONE;
}

static enum um_refusal
plan_return(const struct um_context *context, struct um_exchange *ex)
{
	return plan_look_up(context, ex, UM_PURPOSE_RETURN, return_looked_up);
}

static enum um_refusal
plan_cancel(const struct um_context *context, struct um_exchange *ex)
{
	return plan_look_up(context, ex, UM_PURPOSE_CANCEL, cancel_looked_up);
}

/*
 * Whether the row is known, and the browser and the user are its owner's. If not,
 * the answer or *refusal is set.
 */
static bool
is_owner(const struct um_context *context, struct um_exchange *ex,
	enum um_refusal *refusal)
{
	if ((*refusal = um_check_done(ex)))
		return false;
	if (ex->op.outcome == UM_ROW_UNKNOWN) {
		*refusal = UM_REFUSAL_UNKNOWN_ELICITATION;
		return false;
	}
	if ((*refusal = um_require_owner(context, ex)) == UM_REFUSAL_NONE)
		return true;
	*refusal = show_elsewhere(ex, *refusal);
	return false;
}

/*
 * Reads the event of an address that the provider has signed. False if it has
 * not signed this one, or if the event is about another elicitation than the
 * state.
 */
static bool
read_signed_return(const struct um_context *context, struct um_exchange *ex)
{
	const struct um_received received = um_exchange_return(context, ex);
	struct um_event *event = calloc(1, sizeof(*event));
	size_t len;

	ex->events = event;
	return event != NULL && received.part != NULL
		&& um_spec_read(received.part, &received.delivery, event, &len)
		== UM_DELIVERY_GOOD
		&& event->effect != UM_EFFECT_IGNORE && event->has_id
		&& memcmp(event->id, ex->token.id, sizeof(event->id)) == 0;
}

/* Answers with the page of the row that was looked up. */
static enum um_refusal
show_row(struct um_exchange *ex)
{
	const struct um_row *row = &ex->op.row;
	enum um_refusal refusal;

	if ((refusal = um_check_row(ex)))
		return refusal;
	if (ex->op.outcome == UM_ROW_COMPLETED) {
		um_exchange_finish(ex,
			um_final_page_of(row->action, row->reason, row->late));
		return UM_REFUSAL_NONE;
	}
	ex->answer = UM_ANSWER_FOLLOW;
	ex->attempt_failed = ex->op.outcome != UM_ROW_PROCESSING
		&& row->failed_attempts > 0;
	return UM_REFUSAL_NONE;
}

/*
 * A signed return counts in every state of the row, as the events of a webhook
 * do: it may be the only proof of a second payment.
 */
static enum um_refusal
return_looked_up(const struct um_context *context, struct um_exchange *ex)
{
	enum um_refusal refusal;

	if (!is_owner(context, ex, &refusal))
		return refusal;
	if (!read_signed_return(context, ex))
		return show_row(ex);
	um_exchange_request_op(ex, UM_OP_EVENT, event_recorded);
	ex->op.event = ex->events;
	return um_result_of_event(&ex->op, context) ? UM_REFUSAL_NONE
						    : UM_REFUSAL_INTERNAL_ERROR;
}

/* Whatever the event's outcome, the row has the current state. */
static enum um_refusal
event_recorded(const struct um_context *context, struct um_exchange *ex)
{
	enum um_refusal refusal;

	(void)context;
	if ((refusal = um_check_done(ex)))
		return refusal;
	um_op_free(&ex->op);
	um_exchange_request_op(ex, UM_OP_LOOK_UP, row_looked_up_again);
	return UM_REFUSAL_NONE;
}

static enum um_refusal
row_looked_up_again(const struct um_context *context, struct um_exchange *ex)
{
	const char *outcome = ex->outcome; /* of the event, for the log */
	enum um_refusal refusal;

	(void)context;
	if ((refusal = um_check_done(ex)))
		return refusal;
	ex->outcome = outcome;
	return show_row(ex);
}

static enum um_refusal
cancel_looked_up(const struct um_context *context, struct um_exchange *ex)
{
	enum um_refusal refusal;

	if (!is_owner(context, ex, &refusal))
		return refusal;
	if (ex->op.outcome == UM_ROW_COMPLETED
		|| ex->op.outcome == UM_ROW_EXPIRED)
		return show_row(ex);
	um_exchange_request_op(ex, UM_OP_COMPLETE, declined);
	ex->op.action = "decline";
	ex->op.reason = ex->reason = "cancelled";
	return UM_REFUSAL_NONE;
}

static enum um_refusal
declined(const struct um_context *context, struct um_exchange *ex)
{
	enum um_refusal refusal;

	(void)context;
	if ((refusal = um_check_done(ex)) || (refusal = um_check_row(ex)))
		return refusal;
	um_exchange_finish(ex,
		ex->op.outcome == UM_ROW_PROCESSING ? UM_FINAL_PAGE_PROCESSING
			: ex->op.outcome == UM_ROW_COMPLETED
			? UM_FINAL_PAGE_DECLINED
			: UM_FINAL_PAGE_ALREADY);
	return UM_REFUSAL_NONE;
}

static const struct um_route routes[] = {
	{ .prefix = "/payment/",
		.suffix = "/return",
		.methods = "GET",
		.kinds = UM_KIND_BIT(UM_KIND_PAYMENT)
			| UM_KIND_BIT(UM_KIND_SIGNATURE),
		.value_max = UM_FORM_VALUE_MAX,
		.lenient = true,
		.plan = plan_return },
	{ .prefix = "/payment/",
		.suffix = "/cancel",
		.methods = "GET",
		.kinds = UM_KIND_BIT(UM_KIND_PAYMENT)
			| UM_KIND_BIT(UM_KIND_SIGNATURE),
		.value_max = UM_FORM_VALUE_MAX,
		.lenient = true,
		.plan = plan_cancel },
	{ 0 },
};

int
main(int argc, char **argv)
{
	static const struct um_program program = { .name = "payment-return",
		.routes = routes,
		.measures = UM_OP_NONE };

	return um_program_main(&program, argc, argv);
}
