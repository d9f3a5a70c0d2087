/* SPDX-License-Identifier: MIT */
/*
 * POST /webhook/<provider>
 *
 * What a provider says about a payment. The delivery is verified byte for byte
 * as the description of the provider says, then read. Each of its events that
 * names an elicitation of this provider (or a payment that is known) is recorded
 * once, and moves that elicitation. The provider gets its 2xx when that is committed, or when there
 * is nothing to record. One that is authentic and cannot be read is refused, so
 * that the provider tries again, and is listed for the operator without its body.
 *
 * POST /webhook/<provider>?state=
 *
 * The same for a provider that signs nothing, or whose deliveries do not name the
 * elicitation. The MCP server has given it this address with the checkout: only
 * who knows it can say that something happened, and only about the elicitation
 * that the token names.
 *
 * POST /webhook/urlmode-check
 *
 * What `urlmode check` sends: signed, and ignored (crypto/check_signature.h).
 */
#include <stdlib.h>
#include <string.h>

#include "app/checks.h"
#include "app/result.h"
#include "crypto/check_signature.h"
#include "crypto/hkdf.h"
#include "server/main.h"
#include "webhook/spec.h"

#define CHECK_BODY_MAX 1024

static um_step events_recorded, check_answered;

/* The exchange owns the events from now on. */
static enum um_refusal
plan_events(const struct um_context *context, struct um_exchange *ex,
	struct um_event *events, size_t events_len)
{
	struct um_op *ops;
	size_t len = 0;
	bool sealed = true;

	ex->events = events;
	ops = calloc(events_len != 0 ? events_len : 1, sizeof(ops[0]));
	if (ops == NULL)
		return UM_REFUSAL_INTERNAL_ERROR;
	for (size_t i = 0; i < events_len; i++) {
		if (!events[i].is_ours)
			continue;
		ops[len].kind = UM_OP_EVENT;
		ops[len].provider = ex->provider->name;
		ops[len].row_kind = um_kind_words[ex->provider->kind];
		ops[len].event = &events[i];
		memcpy(ops[len].id, events[i].id, sizeof(ops[len].id));
		ops[len].is_unnamed = !events[i].has_id;
		/* Only what was paid or signed has a result. */
		sealed = sealed
			&& (ops[len].is_unnamed
				|| um_result_of_event(&ops[len], context));
		len++;
	}
	if (len == 0) {
		free(ops);
		ex->answer = UM_ANSWER_RECEIVED;
		ex->outcome = "nothing";
		return UM_REFUSAL_NONE;
	}
	um_exchange_request_ops(ex, ops, len, events_recorded);
	return sealed ? UM_REFUSAL_NONE : UM_REFUSAL_INTERNAL_ERROR;
}

/* Where the delivery does not name its elicitation, the address has a token of ours. */
static enum um_refusal
check_token(const struct um_context *context, struct um_exchange *ex)
{
	enum um_refusal refusal;

	if (!ex->provider->spec->webhook.by_address)
		return UM_REFUSAL_NONE;
	if ((refusal = um_check_query(ex)))
		return refusal;
	return um_check_state(context, ex, UM_PURPOSE_WEBHOOK);
}

/* Whatever the delivery names, it is about the elicitation of the token. */
static void
take_id_of_token(struct um_event *events, size_t len,
	const struct um_token *token)
{
	for (size_t i = 0; i < len; i++) {
		memcpy(events[i].id, token->id, sizeof(events[i].id));
		events[i].has_id = events[i].is_ours = true;
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

/*
 * A digest of the delivery, by which one that comes again is known. Its key
 * keeps others from trying out what the body was. False: OpenSSL failed.
 */
static bool
digest_delivery(uint8_t out[static UM_DIGEST_LEN], const struct um_keys *keys,
	const struct um_request *request)
{
	uint8_t key[UM_KEY_LEN], mac[UM_HKDF_LEN];
	bool ok = um_keys_derive(key, keys, um_keys_minting(keys), um_str(NULL),
			  um_str(UM_DELIVERY_INFO))
		&& um_hkdf_hmac(mac, um_keys_hmac(keys),
			(struct um_str){ (const char *)key, sizeof(key) },
			request->query, request->body);

	if (ok)
		memcpy(out, mac, UM_DIGEST_LEN);
	explicit_bzero(key, sizeof(key));
	return ok;
}

/* The answer is the same, whether the database has recorded it or not. */
static enum um_refusal
unreadable_recorded(const struct um_context *context, struct um_exchange *ex)
{
	(void)context;
	(void)ex;
	return UM_REFUSAL_BODY_MALFORMED;
}

/* Has a delivery that is authentic recorded before it is refused. */
static enum um_refusal
record_unreadable(const struct um_context *context, struct um_exchange *ex)
{
	uint8_t digest[UM_DIGEST_LEN];

	if (!digest_delivery(digest, context->keys, &ex->request))
		return UM_REFUSAL_BODY_MALFORMED;
	um_exchange_request_op(ex, UM_OP_UNREADABLE, unreadable_recorded);
	/* The token of an address names a row, which this does not touch. */
	memset(ex->op.id, 0, sizeof(ex->op.id));
	memcpy(ex->op.digest, digest, sizeof(ex->op.digest));
	ex->op.reason = um_refusal_code(UM_REFUSAL_BODY_MALFORMED);
	ex->op.place = ex->fault.text;
	return UM_REFUSAL_NONE;
}

/* Verifies and reads the delivery. */
static enum um_refusal
read_delivery(const struct um_context *context, struct um_exchange *ex)
{
	struct um_received received = um_exchange_delivery(context, ex);
	struct um_event *events = calloc(received.part->events_max,
		sizeof(events[0]));
	struct um_reply reply = { 0 };
	enum um_verdict verdict;
	enum um_refusal refusal;
	size_t len = 0;

	if (events == NULL)
		return UM_REFUSAL_INTERNAL_ERROR;
	received.delivery.is_get = ex->request.method == UM_GET;
	received.delivery.reply = &reply;
	verdict = um_spec_read(received.part, &received.delivery, events, &len);
	refusal = um_check_verdict(verdict);
	/* Malformed is only what a signature, or the token, proves. */
	if (verdict == UM_DELIVERY_MALFORMED)
		refusal = record_unreadable(context, ex);
	else if (refusal == UM_REFUSAL_NONE && reply.given)
		answer_challenge(ex, &reply);
	else if (refusal == UM_REFUSAL_NONE) {
		if (ex->has_token)
			take_id_of_token(events, len, &ex->token);
		refusal = plan_events(context, ex, events, len);
		events = NULL;
	}
	free(events);
	return refusal;
}

static enum um_refusal
plan(const struct um_context *context, struct um_exchange *ex)
{
	enum um_refusal refusal = UM_REFUSAL_NONE;

	if (ex->request.method == UM_POST)
		refusal = check_token(context, ex);
	return refusal == UM_REFUSAL_NONE ? read_delivery(context, ex)
					  : refusal;
}

static enum um_refusal
events_recorded(const struct um_context *context, struct um_exchange *ex)
{
	const struct um_op *logged = um_check_logged(ex);
	enum um_refusal refusal;

	(void)context;
	/* For the log, which names one elicitation, also one that nobody knows. */
	if (!logged->is_unnamed) {
		memcpy(ex->token.id, logged->id, sizeof(ex->token.id));
		ex->has_token = true;
	}
	if ((refusal = um_check_done(ex)))
		return refusal;
	ex->answer = UM_ANSWER_RECEIVED;
	return UM_REFUSAL_NONE;
}

/* The database is asked, as for each delivery, and nothing is recorded. */
static enum um_refusal
plan_check(const struct um_context *context, struct um_exchange *ex)
{
	if (!um_check_signature_is_good(um_request_header(UM_CHECK_SIGNATURE,
						&ex->request),
		    context->keys, ex->request.body))
		return UM_REFUSAL_SIGNATURE_INVALID;
	um_exchange_request_op(ex, UM_OP_PING, check_answered);
	return UM_REFUSAL_NONE;
}

static enum um_refusal
check_answered(const struct um_context *context, struct um_exchange *ex)
{
	enum um_refusal refusal = um_check_done(ex);

	(void)context;
	if (refusal != UM_REFUSAL_NONE)
		return refusal;
	ex->response.status = 200;
	ex->response.content_type = "text/plain; charset=utf-8";
	ex->outcome = "nothing";
	return UM_REFUSAL_NONE;
}

static bool
is_of_check(const struct um_context *context,
	const struct um_provider *provider)
{
	(void)context;
	return strcmp(provider->name, UM_PROVIDER_OF_CHECK) == 0;
}

static bool
has_webhook(const struct um_context *context,
	const struct um_provider *provider)
{
	(void)context;
	return provider->spec != NULL;
}

/* A provider may test the address with a GET. */
static bool
has_challenge(const struct um_context *context,
	const struct um_provider *provider)
{
	(void)context;
	return provider->spec != NULL
		&& provider->spec->webhook.challenge.is_get;
}

static const struct um_route routes[] = {
	{ .prefix = "/webhook/",
		.suffix = "",
		.methods = "GET",
		.kinds = UM_KINDS_ALL,
		.plain = true,
		.serves = has_challenge,
		.plan = plan },
	{ .prefix = "/webhook/",
		.suffix = "",
		.methods = "POST",
		.kinds = UM_KINDS_ALL,
		.body_max = UM_DELIVERY_BODY_MAX,
		.plain = true,
		.serves = has_webhook,
		.plan = plan },
	{ .prefix = "/webhook/",
		.suffix = "",
		.methods = "POST",
		.kinds = UM_KINDS_ALL,
		.body_max = CHECK_BODY_MAX,
		.plain = true,
		.serves = is_of_check,
		.plan = plan_check },
	{ 0 },
};

int
main(int argc, char **argv)
{
	static const struct um_program program = { .name = "webhook",
		.routes = routes,
		.measures = UM_OP_NONE };

	/* Never as CGI, where the arguments come from a browser. */
	return um_program_main(&program, argc, argv);
}
