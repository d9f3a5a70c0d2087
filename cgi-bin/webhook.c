/* SPDX-License-Identifier: MIT */
/*
 * POST /webhook/<provider>
 *
 * What a provider says of a payment. Verified byte for byte as the provider's
 * description says, then read; each event that names an elicitation of ours
 * is kept once and moves its row. The provider gets its 2xx when that is
 * durable, or when the delivery has nothing to say to us.
 */
#include <stdlib.h>
#include <string.h>

#include "app/program.h"
#include "app/result.h"
#include "server/fcgi_check.h"

static void
take(struct um_exchange *ex, const char *outcome)
{
	struct um_spec_answer wanted = um_spec_answer(ex->provider->spec);

	ex->response.status = wanted.status;
	ex->response.content_type = wanted.content_type;
	um_buf_puts(&ex->response.body, wanted.body);
	ex->outcome = outcome;
}

/* One operation for each event that names an elicitation. */
static bool
ask_for_bindings(struct um_exchange *ex, size_t events_len)
{
	ex->ops = calloc(events_len != 0 ? events_len : 1, sizeof(ex->ops[0]));
	if (ex->ops == NULL)
		return um_exchange_refuse(ex, UM_REFUSAL_INTERNAL_ERROR);
	for (size_t i = 0; i < events_len; i++) {
		struct um_op *op = &ex->ops[ex->asked];

		if (!ex->events[i].has_id)
			continue;
		op->kind = UM_OP_BINDING;
		op->provider = ex->provider->name;
		op->event = &ex->events[i];
		memcpy(op->id, ex->events[i].id, sizeof(op->id));
		ex->asked++;
	}
	ex->ops_len = ex->asked;
	return true;
}

static void
plan(const struct um_context *context, struct um_exchange *ex)
{
	struct um_delivery delivery = um_delivery(context, ex);
	size_t events_len;

	ex->plain = true;
	if (!um_check_route(context, ex, "/webhook/", "", UM_KIND_ANY))
		return;
	if (ex->provider->spec == NULL) {
		um_exchange_refuse(ex, UM_REFUSAL_UNKNOWN_PROVIDER);
		return;
	}
	if (!um_check_method(ex, "POST"))
		return;
	if (ex->request.body_too_large) {
		um_exchange_refuse(ex, UM_REFUSAL_BODY_TOO_LARGE);
		return;
	}
	ex->events = malloc(UM_EVENTS_MAX * sizeof(ex->events[0]));
	if (ex->events == NULL) {
		um_exchange_refuse(ex, UM_REFUSAL_INTERNAL_ERROR);
		return;
	}
	if (um_check_verdict(ex,
		    um_spec_read(ex->provider->spec, &delivery, ex->events,
			    &events_len))
		&& ask_for_bindings(ex, events_len) && ex->asked == 0)
		take(ex, "nothing");
}

/* The rows that are ours: their events, with results sealed under them. */
static void
record_events(const struct um_context *context, struct um_exchange *ex)
{
	size_t found = 0;

	for (size_t i = 0; i < ex->ops_len; i++) {
		struct um_op *op = &ex->ops[found];

		if (ex->ops[i].outcome != UM_OUTCOME_FOUND)
			continue;
		*op = ex->ops[i];
		op->kind = UM_OP_EVENT;
		memcpy(op->binding, op->row.binding, sizeof(op->binding));
		if (!um_result_of_event(op, context)) {
			um_exchange_refuse(ex, UM_REFUSAL_INTERNAL_ERROR);
			return;
		}
		if (found == 0) {
			memcpy(ex->token.id, op->id, sizeof(op->id));
			ex->has_token = true; /* the log names it */
		}
		found++;
	}
	ex->ops_len = ex->asked = found;
	if (found == 0)
		take(ex, "unknown");
}

static void
answer(const struct um_context *context, struct um_exchange *ex)
{
	bool unavailable = false;
	bool failed = false;

	for (size_t i = 0; i < ex->ops_len; i++) {
		unavailable |= ex->ops[i].outcome == UM_OUTCOME_UNAVAILABLE;
		failed |= ex->ops[i].outcome == UM_OUTCOME_FAILED;
	}
	if (unavailable)
		um_exchange_unavailable(ex,
			NULL); /* the provider tries again */
	else if (failed)
		um_exchange_refuse(ex, UM_REFUSAL_INTERNAL_ERROR);
	else if (ex->ops[0].kind == UM_OP_BINDING)
		record_events(context, ex);
	else
		take(ex, um_outcome_text(ex->ops[0].outcome));
}

int
main(int argc, char **argv)
{
	static const struct um_program program = { "webhook", UM_FCGI_BODY_MAX,
		plan, answer };

	return um_program_main(&program, argc, argv);
}
