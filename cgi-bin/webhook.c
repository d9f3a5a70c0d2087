/* SPDX-License-Identifier: MIT */
/*
 * POST /webhook/<provider>
 *
 * What a provider says about a payment. The delivery is verified byte for byte
 * as the description of the provider says, then read. Each of its events that
 * names an elicitation of this provider (or, of a refund, its payment) is recorded
 * once, and moves that elicitation. The provider gets its 2xx when that is committed, or when there
 * is nothing to record.
 *
 * POST /webhook/<provider>?state=
 *
 * The same for a provider that signs nothing. The MCP server has given it this
 * address with the checkout: only who knows it can say that something happened,
 * and only about the elicitation that the token names.
 */
#include <stdlib.h>
#include <string.h>

#include "app/checks.h"
#include "app/result.h"
#include "server/main.h"
#include "webhook/event_read.h"

static um_step events_recorded;

/* The response that the provider takes for "received". */
static void
acknowledge(struct um_exchange *ex, const char *outcome)
{
	const struct um_spec_answer *wanted = &ex->provider->spec->answer;

	ex->response.status = wanted->status;
	ex->response.content_type = wanted->content_type;
	um_buf_puts(&ex->response.body, wanted->body);
	ex->outcome = outcome;
}

static void
plan_events(const struct um_context *context, struct um_exchange *ex,
	size_t events_len)
{
	struct um_op *ops;
	size_t len = 0;
	bool sealed = true;

	ops = calloc(events_len != 0 ? events_len : 1, sizeof(ops[0]));
	if (ops == NULL) {
		um_exchange_refuse(ex, UM_REFUSAL_INTERNAL_ERROR);
		return;
	}
	for (size_t i = 0; i < events_len; i++) {
		if (!um_event_is_ours(&ex->events[i]))
			continue;
		ops[len].kind = UM_OP_EVENT;
		ops[len].provider = ex->provider->name;
		ops[len].event = &ex->events[i];
		memcpy(ops[len].id, ex->events[i].id, sizeof(ops[len].id));
		ops[len].is_unnamed = !ex->events[i].has_id;
		/* Only what was paid or signed has a result. */
		sealed = sealed
			&& (ops[len].is_unnamed
				|| um_result_of_event(&ops[len], context));
		len++;
	}
	if (len == 0) {
		free(ops);
		acknowledge(ex, "nothing");
		return;
	}
	um_exchange_request_ops(ex, ops, len, events_recorded);
	if (!sealed)
		um_exchange_refuse(ex, UM_REFUSAL_INTERNAL_ERROR);
}

/* Where nothing is signed, the address has a token of ours. */
static bool
check_token(const struct um_context *context, struct um_exchange *ex)
{
	return ex->provider->spec->webhook.trust != UM_TRUST_NOTHING
		|| (um_check_query(ex)
			&& um_check_state(context, ex, UM_PURPOSE_WEBHOOK));
}

/* Whatever the delivery names, it is about the elicitation of the token. */
static void
take_id_of_token(struct um_exchange *ex, size_t events_len)
{
	for (size_t i = 0; i < events_len; i++) {
		struct um_event *event = &ex->events[i];

		memcpy(event->id, ex->token.id, sizeof(event->id));
		event->has_id = true;
	}
}

/* Only what the description lets through; it is never a page. */
static void
answer_challenge(struct um_exchange *ex, struct um_reply *reply)
{
	ex->response.status = 200;
	ex->response.content_type = reply->content_type;
	ex->response.body = reply->body;
	ex->outcome = "challenge";
}

static void
plan(const struct um_context *context, struct um_exchange *ex)
{
	struct um_delivery delivery = um_exchange_delivery(context, ex);
	struct um_reply reply = { 0 };
	size_t len;

	ex->plain = true;
	if (!um_check_route(context, ex, "/webhook/", "", UM_KIND_ANY))
		return;
	if (ex->provider->spec == NULL) {
		um_exchange_refuse(ex, UM_REFUSAL_UNKNOWN_PROVIDER);
		return;
	}
	if (!um_check_method(ex,
		    ex->provider->spec->webhook.challenge.is_get ? "GET, POST"
								 : "POST"))
		return;
	delivery.reply = &reply;
	if (ex->request.method == UM_GET) {
		if (um_check_verdict(ex,
			    um_spec_challenge(&ex->provider->spec->webhook,
				    &delivery)))
			answer_challenge(ex, &reply);
		return;
	}
	if (!check_token(context, ex))
		return;
	if (ex->request.body_too_large) {
		um_exchange_refuse(ex, UM_REFUSAL_BODY_TOO_LARGE);
		return;
	}
	ex->events = calloc(ex->provider->spec->webhook.events_max,
		sizeof(ex->events[0]));
	if (ex->events == NULL) {
		um_exchange_refuse(ex, UM_REFUSAL_INTERNAL_ERROR);
		return;
	}
	if (!um_check_verdict(ex,
		    um_spec_read(&ex->provider->spec->webhook, &delivery,
			    ex->events, &len)))
		return;
	if (reply.given) {
		answer_challenge(ex, &reply);
		return;
	}
	if (ex->has_token)
		take_id_of_token(ex, len);
	plan_events(context, ex, len);
}

static void
events_recorded(const struct um_context *context, struct um_exchange *ex)
{
	const struct um_op *logged = um_check_logged(ex);

	(void)context;
	/* For the log, which names one elicitation. */
	if (!um_op_is_unknown_event(logged)) {
		memcpy(ex->token.id, logged->id, sizeof(ex->token.id));
		ex->has_token = true;
	}
	if (um_check_done(ex))
		acknowledge(ex, ex->outcome);
}

int
main(int argc, char **argv)
{
	static const struct um_program program = { "webhook",
		UM_DELIVERY_BODY_MAX, plan };

	/* Never as CGI, where the arguments come from a browser. */
	return um_program_main(&program, argc, argv);
}
