/* SPDX-License-Identifier: MIT */
#include "app/exchange.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/sha.h>

#include "core/encode.h"
#include "postgres/call.h"

static bool
is_request_id(const char *text)
{
	return um_str(text).len == UM_REQUEST_ID_LEN
		&& strspn(text, "0123456789abcdef") == UM_REQUEST_ID_LEN;
}

void
um_exchange_begin(struct um_exchange *ex, struct um_buf *path,
	const char *(*get)(const char *name, void *arg), void *arg,
	const struct um_context *context)
{
	const char *id = get("URLMODE_REQUEST_ID", arg);
	uint8_t bytes[UM_REQUEST_ID_LEN / 2];

	*ex = (struct um_exchange){ 0 };
	um_request_read(&ex->request, path, get, arg);
	um_browser_read_cookie(ex->cookie, ex->request.cookie);
	if (is_request_id(id)) {
		memcpy(ex->request.id, id, UM_REQUEST_ID_LEN);
		return;
	}
	context->random(bytes, sizeof(bytes));
	um_hex_encode(ex->request.id, bytes, sizeof(bytes));
}

void
um_exchange_request_ops(struct um_exchange *ex, struct um_op *ops, size_t len,
	um_step *then)
{
	for (size_t i = 0; i < len; i++) {
		ops[i].status = UM_STORE_UNAVAILABLE;
		ops[i].request = ex->request.id;
	}
	ex->ops = ops;
	ex->ops_len = len;
	ex->then = then;
}

void
um_exchange_request_op(struct um_exchange *ex, enum um_op_kind kind,
	um_step *then)
{
	struct um_op *op = &ex->op;
	const struct um_row row = op->row;

	um_buf_free(&op->result);
	um_buf_free(&op->notified);
	*op = (struct um_op){ .kind = kind, .row = row };
	memcpy(op->id, ex->token.id, sizeof(op->id));
	memcpy(op->binding, ex->token.binding, sizeof(op->binding));
	if (ex->provider != NULL) {
		op->provider = ex->provider->name;
		op->row_kind = um_kind_words[ex->provider->kind];
	}
	um_exchange_request_ops(ex, op, 1, then);
}

void
um_exchange_request_call(struct um_exchange *ex, const struct um_call *call,
	const uint8_t *id, um_step *then)
{
	struct um_op *op = &ex->op;

	um_buf_free(&op->args);
	*op = (struct um_op){ .kind = UM_OP_CALL,
		.call = call,
		.reads = call->large ? UM_BATCH_MAX : 0 };
	if (id != NULL)
		memcpy(op->id, id, sizeof(op->id));
	um_exchange_request_ops(ex, op, 1, then);
}

struct um_str
um_exchange_user_name(const struct um_exchange *ex)
{
	return um_str(ex->user_name[0] != '\0' ? ex->user_name : ex->user);
}

void
um_exchange_park(struct um_exchange *ex, um_step *then)
{
	ex->is_parked = true;
	ex->then = then;
}

/* The refusal does not depend on the outcome of the event. */
static enum um_refusal
wrong_user_recorded(const struct um_context *context, struct um_exchange *ex)
{
	(void)context;
	(void)ex;
	return UM_REFUSAL_WRONG_USER;
}

/* One for each user, however often: who asks again adds nothing to the trail. */
static void
name_wrong_user(char *out, size_t size, const struct um_exchange *ex)
{
	uint8_t digest[SHA256_DIGEST_LENGTH];
	char hex[2 * SHA256_DIGEST_LENGTH + 1], id[UM_UUID_TEXT_LEN + 1];

	SHA256((const uint8_t *)ex->user, strlen(ex->user), digest);
	um_hex_encode(hex, digest, sizeof(digest));
	um_uuid_format(id, ex->token.id);
	snprintf(out, size, "wrong_user:%s:%s", id, hex);
}

static void
record_wrong_user(struct um_exchange *ex)
{
	struct um_event *event = calloc(1, sizeof(*event));

	if (event == NULL)
		return;
	event->effect = UM_EFFECT_IGNORE;
	name_wrong_user(event->identity, sizeof(event->identity), ex);
	snprintf(event->type, sizeof(event->type), "wrong_user");
	free(ex->events);
	ex->events = event;
	um_exchange_request_op(ex, UM_OP_EVENT, wrong_user_recorded);
	ex->op.event = event;
}

void
um_exchange_step(const struct um_context *context, struct um_exchange *ex,
	um_step *step)
{
	ex->then = NULL;
	ex->is_parked = false;
	ex->refusal = step(context, ex);
	if (ex->refusal == UM_REFUSAL_NONE)
		return;
	ex->then = NULL;
	ex->is_parked = false;
	if (ex->refusal == UM_REFUSAL_WRONG_USER && step != wrong_user_recorded
		&& ex->request.method != UM_HEAD)
		record_wrong_user(ex);
}

void
um_exchange_finish(struct um_exchange *ex, enum um_final_page final)
{
	ex->answer = UM_ANSWER_DONE;
	ex->final = final;
}

enum um_refusal
um_exchange_mint(const struct um_context *context, struct um_exchange *ex,
	enum um_purpose purpose, int64_t expires)
{
	struct um_token token = ex->token;
	uint8_t nonce[UM_NONCE_LEN];

	token.expires = expires;
	um_browser_digest(token.browser, context->keys, um_str(ex->cookie));
	context->random(nonce, sizeof(nonce));
	return um_token_mint(ex->state, &token, context->keys, purpose,
		       ex->provider->name, nonce)
		? UM_REFUSAL_NONE
		: UM_REFUSAL_INTERNAL_ERROR;
}

struct um_received
um_exchange_delivery(const struct um_context *context, struct um_exchange *ex)
{
	const struct um_spec *spec = ex->provider->spec;

	return (struct um_received){
		.part = spec != NULL ? &spec->webhook : NULL,
		.delivery = {
			.query = ex->request.query,
			.content_type = ex->request.content_type,
			.body = ex->request.body,
			.header = um_request_header,
			.arg = &ex->request,
			.now_ms = context->now_ms,
			.fault = &ex->fault,
		},
	};
}

struct um_received
um_exchange_return(const struct um_context *context, struct um_exchange *ex)
{
	const struct um_spec *spec = ex->provider->spec;
	struct um_received received = um_exchange_delivery(context, ex);

	received.part = spec != NULL && spec->has_return ? &spec->back : NULL;
	if (ex->request.method == UM_POST)
		received.delivery.query = ex->request.body;
	received.delivery.body = (struct um_str){ 0 };
	received.delivery.content_type = (struct um_str){ 0 };
	return received;
}

void
um_exchange_free(struct um_exchange *ex)
{
	um_buf_free(&ex->url);
	um_buf_free(&ex->way_on);
	um_buf_free(&ex->kept);
	um_response_free(&ex->response);
	um_form_free(&ex->form);
	um_op_free(&ex->op);
	if (ex->ops != &ex->op) {
		for (size_t i = 0; i < ex->ops_len; i++)
			um_op_free(&ex->ops[i]);
		free(ex->ops);
	}
	free(ex->events);
	if (ex->free_own != NULL)
		ex->free_own(ex->own);
	explicit_bzero(ex, sizeof(*ex));
}
