/* SPDX-License-Identifier: MIT */
#include "api/request.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/calls.h"
#include "core/json_put.h"
#include "core/timestamp.h"
#include "postgres/array.h"
#include "postgres/call.h"

#define REASON_WORD "abcdefghijklmnopqrstuvwxyz0123456789_"

/* Whether the header has a key. Otherwise the response is written. */
static bool
authenticate(const struct um_context *context, struct um_api_request *request)
{
	const struct um_api *api = context->side;
	const struct um_api_key *key = um_api_keys_find(api->keys,
		um_request_header("Authorization", &request->ex->request));

	if (key == NULL) {
		um_api_fail(request->ex, UM_API_ERROR_UNAUTHORIZED, NULL, NULL);
		return false;
	}
	memcpy(request->key, key->digest, sizeof(request->key));
	snprintf(request->tenant, sizeof(request->tenant), "%s", key->tenant);
	return true;
}

static bool
parse(struct um_api_request *request)
{
	struct um_json_fault fault;

	request->json = um_json_parse_with_nul(request->ex->request.body,
		UM_JSON_VALUES_MAX, &fault);
	if (request->json == NULL) {
		char text[160];

		snprintf(text, sizeof(text), "the body %s", fault.reason);
		um_api_fail(request->ex, UM_API_ERROR_INVALID_REQUEST, text,
			NULL);
		return false;
	}
	request->root = um_reader_root(request->json, &request->fault);
	return true;
}

void *
um_api_begin(const struct um_context *context, struct um_exchange *ex,
	size_t size, void (*free_own)(void *state))
{
	struct um_api_request *request = calloc(1, size);

	if (request == NULL) {
		um_api_fail(ex, UM_API_ERROR_INTERNAL_ERROR, NULL, NULL);
		return NULL;
	}
	request->ex = ex;
	request->watched = &((struct um_api *)context->side)->watched;
	request->wakes_at = -1;
	ex->own = request;
	ex->free_own = free_own;
	return authenticate(context, request) && parse(request) ? request
								: NULL;
}

void
um_api_request_free(struct um_api_request *request)
{
	free(request->json);
	request->json = NULL;
}

bool
um_api_end(struct um_api_request *request)
{
	const struct um_reader_fault *fault = &request->fault;

	um_reader_end(&request->root);
	if (fault->message[0] == '\0')
		return true;
	um_api_fail(request->ex, UM_API_ERROR_INVALID_REQUEST, fault->message,
		fault->member[0] != '\0' ? fault->member : NULL);
	return false;
}

void
um_api_read_subject(struct um_api_request *request, struct um_reader *reader,
	const struct um_context *context, struct um_api_owner *owner)
{
	owner->subject = owner->session = um_str("");
	if (um_reader_text(reader, "subject", UM_REQUIRED, 1, UM_SUBJECT_MAX,
		    &owner->subject))
		um_reader_text(reader, "session", UM_OPTIONAL, 0,
			UM_SESSION_MAX, &owner->session);
	um_binding_digest_of(owner->binding, context->keys,
		um_str(request->tenant), owner->subject, owner->session);
}

void
um_api_read_owner(struct um_api_request *request,
	const struct um_context *context, struct um_api_owner *owner)
{
	struct um_exchange *ex = request->ex;

	if (um_reader_uuid(&request->root, "id", UM_REQUIRED, owner->id)) {
		memcpy(ex->token.id, owner->id, sizeof(ex->token.id));
		ex->has_token = true;
	}
	um_api_read_subject(request, &request->root, context, owner);
}

static enum um_refusal
called(const struct um_context *context, struct um_exchange *ex)
{
	const struct um_api_request *request = ex->own;
	enum um_refusal refusal = um_api_check_call(ex);

	return refusal == UM_REFUSAL_NONE ? request->then(context, ex)
					  : refusal;
}

void
um_api_call(struct um_exchange *ex, const struct um_call *call,
	const uint8_t *id, um_step *then)
{
	struct um_api_request *request = ex->own;

	request->then = then;
	um_exchange_request_call(ex, call, id, called);
}

struct um_buf *
um_api_request_call(struct um_exchange *ex, const struct um_call *call,
	const struct um_api_owner *owner, um_step *then)
{
	struct um_api_request *request = ex->own;
	struct um_buf *args = &ex->op.args;

	request->acts_on = owner->id;
	um_api_call(ex, call, owner->id, then);
	um_array_put(args, owner->id, sizeof(owner->id));
	um_array_put(args, owner->binding, sizeof(owner->binding));
	return args;
}

static enum um_refusal
looked_up(const struct um_context *context, struct um_exchange *ex)
{
	const struct um_api_request *request = ex->own;

	return um_call_text(&ex->op, 0, UM_FIND_CREATED_EXPIRES_AT) != NULL
		? request->found(context, ex)
		: um_api_fail(ex, UM_API_ERROR_NOT_FOUND, NULL, NULL);
}

enum um_refusal
um_api_look_up(struct um_exchange *ex, const struct um_api_owner *owner,
	um_step *found)
{
	struct um_api_request *request = ex->own;

	request->found = found;
	um_api_request_call(ex, &um_call_find_created, owner, looked_up);
	return UM_REFUSAL_NONE;
}

bool
um_api_read_reason(struct um_reader *reader, struct um_str *out)
{
	return um_reader_word(reader, "reason", UM_OPTIONAL, UM_REASON_MAX,
		REASON_WORD, out);
}

enum um_refusal
um_api_fail(struct um_exchange *ex, enum um_api_error error,
	const char *message, const char *member)
{
	ex->outcome = "refused";
	ex->reason = um_api_error_code(error);
	um_api_error_put(&ex->response, error, message, member);
	return UM_REFUSAL_NONE;
}

enum um_refusal
um_api_fail_leased(struct um_exchange *ex, enum um_api_error error,
	int64_t left_ms)
{
	struct um_buf *json = &ex->response.body;

	if (!um_api_fail_open(ex, error))
		return UM_REFUSAL_NONE;
	um_json_put_key(json, um_str("left_ms"));
	um_json_put_int(json, left_ms);
	um_json_put_end(json);
	um_json_put_end(json);
	return UM_REFUSAL_NONE;
}

bool
um_api_fail_open(struct um_exchange *ex, enum um_api_error error)
{
	struct um_buf *json = &ex->response.body;

	um_api_fail(ex, error, NULL, NULL);
	if (json->failed || json->len < 2)
		return false;
	json->len -= 2; /* the brackets of the error and of the object */
	return true;
}

struct um_buf *
um_api_answer(struct um_exchange *ex, int status, const char *outcome)
{
	const struct um_api_request *request = ex->own;

	if (request->acts_on != NULL)
		um_watched_changed(request->watched, request->acts_on);
	ex->outcome = outcome;
	ex->response.status = status;
	ex->response.content_type = "application/json";
	um_json_put_begin(&ex->response.body);
	return &ex->response.body;
}

void
um_api_put_page(struct um_buf *json, const struct um_op *op, int col,
	const char *next)
{
	const char *comma = "";

	um_json_put_key(json, um_str("items"));
	um_buf_puts(json, "[");
	for (int row = 0; row < op->rows_len; row++) {
		const char *item = um_call_text(op, row, col);

		if (item == NULL)
			continue;
		um_buf_puts(json, comma);
		um_buf_puts(json, item);
		comma = ",";
	}
	um_buf_puts(json, "]");
	um_api_put_text(json, "next", next);
}

void
um_api_put_money(struct um_buf *json, const struct um_op *op)
{
	if (um_call_is(op, 0, 0, "refunded")
		|| um_call_is(op, 0, 0, "disputed"))
		um_json_put_member(json, "money",
			um_str(um_call_text(op, 0, 0)));
}

bool
um_api_read_since(struct um_reader *reader, int64_t *since_ms)
{
	struct um_str since;

	if (!um_reader_text(reader, "since", UM_OPTIONAL, 1, 40, &since))
		return false;
	if (!um_timestamp_parse(since_ms, since, UM_TIMESTAMP_RFC3339))
		um_reader_refuse(reader, "since",
			"since must be an instant of RFC 3339");
	return true;
}

enum um_refusal
um_api_check_call(const struct um_exchange *ex)
{
	switch (ex->op.status) {
	case UM_STORE_DONE:
		return UM_REFUSAL_NONE;
	case UM_STORE_FAILED:
		return UM_REFUSAL_INTERNAL_ERROR;
	case UM_STORE_UNAVAILABLE:
		break;
	}
	return UM_REFUSAL_UNAVAILABLE;
}
