/* SPDX-License-Identifier: MIT */
/*
 * /payment/<provider>/return?state=   the browser is back from paying
 * /payment/<provider>/cancel?state=   … from not paying
 *
 * A browser proves no payment. The return page follows the row until a
 * webhook completes it, unless the provider signs the return itself; the way
 * back without paying declines what nothing was paid for. Both only in the
 * browser that went on from /connect.
 */
#include <stdlib.h>
#include <string.h>

#include "app/program.h"
#include "app/result.h"

static bool
is_cancel(const struct um_exchange *ex)
{
	static const char suffix[] = "/cancel";
	struct um_str path = ex->request.path;

	return path.len >= sizeof(suffix) - 1
		&& memcmp(path.ptr + path.len - (sizeof(suffix) - 1), suffix,
			   sizeof(suffix) - 1)
		== 0;
}

static void
plan(const struct um_context *context, struct um_exchange *ex)
{
	bool cancel = is_cancel(ex);

	if (!um_check_route(context, ex, "/payment/",
		    cancel ? "/cancel" : "/return", UM_KIND_ANY))
		return;
	if (ex->provider->kind == UM_KIND_OAUTH) {
		um_exchange_refuse(ex, UM_REFUSAL_UNKNOWN_PROVIDER);
		return;
	}
	if (um_check_method(ex, "GET") && um_check_fields(ex)
		&& um_check_state(context, ex,
			cancel ? UM_PURPOSE_CANCEL : UM_PURPOSE_RETURN)
		&& um_check_user(context, ex))
		um_exchange_request_op(ex, UM_OP_LOOK_UP);
}

/*
 * What the provider signed into the address, as an event of its own; it must
 * not speak of another elicitation than the state. False: there is nothing.
 */
static bool
read_signed_return(const struct um_context *context, struct um_exchange *ex)
{
	const struct um_spec *description = ex->provider->spec;
	const struct um_delivery delivery = um_delivery(context, ex);
	struct um_event *event = calloc(1, sizeof(*event));

	ex->events = event;
	return event != NULL && description != NULL
		&& um_spec_read_return(description, &delivery, event)
		== UM_DELIVERY_GOOD
		&& event->effect != UM_EFFECT_IGNORE && event->has_id
		&& memcmp(event->id, ex->token.id, sizeof(event->id)) == 0;
}

static bool
is_accepted(const struct um_op *op)
{
	return op->outcome == UM_OUTCOME_COMPLETED && op->row.action != NULL
		&& strcmp(op->row.action, "accept") == 0;
}

/* What is signed counts after the expiry as well, as a webhook's events do. */
static void
looked_up(const struct um_context *context, struct um_exchange *ex)
{
	bool over = ex->op.outcome == UM_OUTCOME_EXPIRED;

	if ((!over && um_exchange_answer_common(ex)) || !um_require_owner(ex))
		return;
	if (!is_cancel(ex) && !is_accepted(&ex->op)
		&& read_signed_return(context, ex)) {
		um_exchange_request_op(ex, UM_OP_EVENT);
		ex->op.event = ex->events;
		if (!um_result_of_event(&ex->op, context))
			um_exchange_refuse(ex, UM_REFUSAL_INTERNAL_ERROR);
	} else if (ex->op.outcome == UM_OUTCOME_COMPLETED) {
		um_page_redirect_to_done(&ex->response,
			um_final_page_of(ex->op.row.action, ex->op.row.reason));
	} else if (over) {
		um_exchange_answer_common(ex);
	} else if (is_cancel(ex)) {
		um_exchange_request_op(ex, UM_OP_COMPLETE);
		ex->op.action = "decline";
		ex->op.reason = ex->reason = "cancelled";
	} else {
		um_page_follow(&ex->response);
	}
}

static void
answer(const struct um_context *context, struct um_exchange *ex)
{
	const struct um_row *before = &ex->op.row; /* as it was looked up */

	if (ex->op.kind == UM_OP_LOOK_UP) {
		looked_up(context, ex);
		return;
	}
	if (um_exchange_answer_common(ex))
		return;
	switch (ex->op.outcome) {
	case UM_OUTCOME_ACCEPT:
		um_page_redirect_to_done(&ex->response, UM_FINAL_PAGE_DONE);
		break;
	case UM_OUTCOME_DECLINE:
	case UM_OUTCOME_COMPLETED:
		um_page_redirect_to_done(&ex->response, UM_FINAL_PAGE_DECLINED);
		break;
	case UM_OUTCOME_CANCEL:
		um_page_redirect_to_done(&ex->response,
			ex->op.event->effect == UM_EFFECT_PAID
				? UM_FINAL_PAGE_MISMATCH
				: UM_FINAL_PAGE_FAILED);
		break;
	case UM_OUTCOME_ALREADY:
	case UM_OUTCOME_LATE:
	case UM_OUTCOME_SEEN:
		um_page_redirect_to_done(&ex->response,
			before->action != NULL
				? um_final_page_of(before->action,
					before->reason)
				: UM_FINAL_PAGE_ALREADY);
		break;
	default:
		if (is_cancel(ex))
			um_page_redirect_to_done(&ex->response,
				UM_FINAL_PAGE_PROCESSING);
		else
			um_page_follow(&ex->response);
	}
}

int
main(int argc, char **argv)
{
	static const struct um_program program = { "payment-return",
		UM_BODY_MAX, plan, answer };

	return um_program_main(&program, argc, argv);
}
