/* SPDX-License-Identifier: MIT */
#include "api/create.h"

#include <stdlib.h>
#include <string.h>

#include "api/callback_urls.h"
#include "api/calls.h"
#include "api/create_request.h"
#include "api/pkce.h"
#include "contract/limits.h"
#include "core/json_put.h"
#include "crypto/seal.h"
#include "postgres/array.h"

#define BUSY_MIN_MS 2 /* until it is tried again, doubled each time */
#define BUSY_MAX_MS 100
#define BUSY_ATTEMPTS 40

struct create {
	struct um_api_request request;
	struct um_create_request what;
	uint8_t id[UM_UUID_LEN];
	struct um_buf target_url; /* with a challenge */
	struct um_buf verifier;   /* sealed */
	struct um_buf form;       /* sealed */
	unsigned attempts, busy;
};

/* What is answered, of a row. */
struct row {
	uint8_t id[UM_UUID_LEN];
	int64_t expires_ms;
	int kid; /* of its link, or -1 */
	bool resumed;
};

static um_step found, resumed, told, made, create_again;

static void
free_create(void *state)
{
	struct create *create = state;

	um_api_request_free(&create->request);
	um_create_request_free(&create->what);
	um_buf_free(&create->target_url);
	um_buf_free(&create->verifier);
	um_buf_free(&create->form);
	free(create);
}

static bool
needs_target(const struct create *create)
{
	return create->what.kind != UM_KIND_INPUT
		&& create->what.kind != UM_KIND_APPROVAL
		&& create->what.target_url.ptr == NULL;
}

static struct um_callback_row
callback_row(const struct create *create, const uint8_t *id, int64_t expires_ms)
{
	return (struct um_callback_row){ .id = id,
		.binding = create->what.owner.binding,
		.provider = create->what.provider,
		.kind = create->what.kind,
		.expires = (expires_ms + 999) / 1000 };
}

/* The price as its provider writes it, or null. */
static void
put_amount(struct um_buf *json, const struct create *create)
{
	um_json_put_key(json, um_str("amount"));
	if (create->what.expected.price.len != 0)
		um_buf_put(json, create->what.expected.price.ptr,
			create->what.expected.price.len);
	else
		um_json_put_null(json);
}

static enum um_refusal
answer(const struct um_context *context, struct um_exchange *ex,
	const struct row *row)
{
	const struct create *create = ex->own;
	const struct um_callback_row urls = callback_row(create, row->id,
		row->expires_ms);
	struct um_buf *json = um_api_answer(ex, row->resumed ? 200 : 201,
		row->resumed ? "resumed" : "created");
	bool ok;

	um_api_put_id(json, "id", row->id);
	ok = um_callback_link_put(json, context, &urls, row->kid,
		     create->what.by_others)
		&& um_callback_urls_put(json, context, &urls);
	put_amount(json, create);
	um_api_put_time(json, "expires_at", row->expires_ms);
	um_json_put_key(json, um_str("resumed"));
	um_json_put_bool(json, row->resumed);
	um_json_put_end(json);
	return ok ? UM_REFUSAL_NONE : UM_REFUSAL_INTERNAL_ERROR;
}

/* Nothing is written: the server makes its checkout, and calls again. */
static enum um_refusal
answer_needs(const struct um_context *context, struct um_exchange *ex)
{
	const struct create *create = ex->own;
	const struct um_callback_row urls = callback_row(create, create->id,
		context->now_ms + create->what.ttl_ms);
	struct um_buf *json = um_api_answer(ex, 200, "needs");
	bool ok;

	um_json_put_member(json, "needs", um_str("target_url"));
	um_api_put_id(json, "id", create->id);
	ok = um_callback_urls_put(json, context, &urls);
	put_amount(json, create);
	um_json_put_end(json);
	return ok ? UM_REFUSAL_NONE : UM_REFUSAL_INTERNAL_ERROR;
}

static bool
seal(struct um_buf *out, const struct um_context *context,
	const struct create *create, enum um_key_use use, struct um_str json)
{
	uint8_t nonce[UM_NONCE_LEN];

	context->random(nonce, sizeof(nonce));
	return um_seal_put_for_page(out, json, use, create->id,
		create->what.owner.binding, context->keys, nonce);
}

/* The target with its challenge, and what is sealed in the row. */
static enum um_refusal
make_sealed(const struct um_context *context, struct um_exchange *ex)
{
	struct create *create = ex->own;
	struct um_buf verifier = { 0 };
	enum um_refusal refusal = UM_REFUSAL_NONE;
	const char *fault;

	if (create->what.form.len != 0)
		return seal(&create->form, context, create, UM_USE_FORM,
			       um_buf_str(&create->what.form))
			? UM_REFUSAL_NONE
			: UM_REFUSAL_INTERNAL_ERROR;
	if (!create->what.pkce) {
		um_buf_put(&create->target_url, create->what.target_url.ptr,
			create->what.target_url.len);
		return UM_REFUSAL_NONE;
	}
	fault = um_pkce_add(&create->target_url, &verifier,
		create->what.target_url, context->random);
	if (fault != NULL)
		um_api_fail(ex, UM_API_ERROR_INVALID_REQUEST, fault,
			"target_url");
	else if (create->target_url.len > UM_TARGET_URL_MAX)
		um_api_fail(ex, UM_API_ERROR_INVALID_REQUEST,
			"target_url is too long with the challenge",
			"target_url");
	else if (!seal(&create->verifier, context, create, UM_USE_VERIFIER,
			 um_buf_str(&verifier)))
		refusal = UM_REFUSAL_INTERNAL_ERROR;
	um_buf_free(&verifier);
	return refusal;
}

static const char *
kind_of(const struct create *create)
{
	return um_kind_name(create->what.kind);
}

/* A text, or SQL's NULL where there is none. */
static void
put_buf(struct um_buf *args, const struct um_buf *buf)
{
	um_array_put(args, buf->len != 0 ? buf->ptr : NULL, buf->len);
}

static void
put_target(struct um_buf *args, const struct create *create)
{
	const struct um_create_request *what = &create->what;

	put_buf(args, &create->target_url);
	um_array_put_json(args, um_buf_str(&what->expected.json));
	put_buf(args, &create->verifier);
	um_array_put_int64(args, what->ttl_ms, true);
	um_call_put_bool(args, what->exclusive);
	um_call_put_str(args, what->resume_key);
	um_call_put_bool(args, what->can_recheck);
	um_array_put(args, what->request, sizeof(what->request));
	um_call_put_str(args, what->checkout);
	um_call_put_str(args, what->client_id);
}

static enum um_refusal
request_create(const struct um_context *context, struct um_exchange *ex)
{
	struct create *create = ex->own;
	const struct um_create_request *what = &create->what;
	struct um_buf *args = &ex->op.args;

	um_exchange_request_call(ex, &um_call_create, NULL, made);
	um_array_put(args, create->id, sizeof(create->id));
	um_array_put_text(args, what->provider);
	um_array_put_text(args, kind_of(create));
	um_call_put_str(args, what->owner.subject);
	um_call_put_str(args, what->owner.session);
	um_array_put(args, what->owner.binding, sizeof(what->owner.binding));
	um_call_put_str(args,
		what->name.ptr != NULL ? what->name
				       : um_str(context->config->server_name));
	put_target(args, create);
	um_call_put_small(args, um_keys_minting(context->keys)->kid, true);
	put_buf(args, &create->form);
	um_array_put_json(args, um_buf_str(&what->approvers));
	um_call_put_int(args, (int32_t)what->verify_ms, what->verify_ms >= 0);
	um_call_put_str(args, what->traceparent);
	um_array_put_text(args, create->request.tenant);
	um_call_put_str(args, what->item);
	um_array_put(args, what->content, sizeof(what->content));
	return UM_REFUSAL_NONE;
}

static enum um_refusal
make(const struct um_context *context, struct um_exchange *ex)
{
	struct create *create = ex->own;
	enum um_refusal refusal;

	if (needs_target(create))
		return answer_needs(context, ex);
	if (create->target_url.len == 0 && create->form.len == 0
		&& (refusal = make_sealed(context, ex)))
		return refusal;
	/* It may be the answer already: a mistake of the target. */
	return ex->response.status != 0 ? UM_REFUSAL_NONE
					: request_create(context, ex);
}

static enum um_refusal
look_for_resumable(const struct um_context *context, struct um_exchange *ex)
{
	const struct create *create = ex->own;
	const struct um_create_request *what = &create->what;
	struct um_buf *args = &ex->op.args;

	if (what->item.ptr == NULL && what->resume_key.ptr == NULL)
		return make(context, ex);
	um_exchange_request_call(ex, &um_call_resume_for, NULL, resumed);
	um_array_put(args, what->owner.binding, sizeof(what->owner.binding));
	um_array_put_text(args, what->provider);
	um_array_put_text(args, kind_of(create));
	um_call_put_str(args, what->resume_key);
	um_call_put_bool(args, what->can_recheck);
	um_array_put(args, what->request, sizeof(what->request));
	um_call_put_str(args, what->item);
	um_array_put_json(args, um_buf_str(&what->expected.json));
	return UM_REFUSAL_NONE;
}

static enum um_refusal
find(struct um_exchange *ex)
{
	struct create *create = ex->own;

	um_exchange_request_call(ex, &um_call_find_created, create->id, found);
	um_array_put(&ex->op.args, create->id, sizeof(create->id));
	um_array_put(&ex->op.args, create->what.owner.binding,
		sizeof(create->what.owner.binding));
	return UM_REFUSAL_NONE;
}

/* What is asked for, with the row that is compared. */
enum um_refusal
um_create_plan(const struct um_context *context, struct um_exchange *ex)
{
	struct create *create = um_api_begin(context, ex, sizeof(*create),
		free_create);

	if (create == NULL)
		return UM_REFUSAL_NONE;
	create->what.has_id = um_reader_uuid(&create->request.root, "id",
		UM_OPTIONAL, create->id);
	um_create_request_read(&create->what, &create->request, context);
	if (create->what.kind == UM_KIND_OAUTH
		&& create->what.target_url.ptr != NULL
		&& um_pkce_has(create->what.target_url, "state"))
		um_reader_refuse(&create->request.root, "target_url",
			"target_url must not have a state: /connect adds it");
	if (!um_api_end(&create->request))
		return UM_REFUSAL_NONE;
	if (!create->what.has_id) {
		context->random(create->id, sizeof(create->id));
		/* A random UUID (RFC 9562 section 5.4). */
		create->id[6] = (uint8_t)((create->id[6] & 0x0f) | 0x40);
		create->id[8] = (uint8_t)((create->id[8] & 0x3f) | 0x80);
	}
	memcpy(ex->token.id, create->id, sizeof(ex->token.id));
	ex->has_token = true;
	return create->what.has_id && !needs_target(create)
		? find(ex)
		: look_for_resumable(context, ex);
}

/* The same call was made before, or another one with this id. */
static enum um_refusal
found(const struct um_context *context, struct um_exchange *ex)
{
	struct create *create = ex->own;
	struct um_buf content = { 0 };
	struct row row = { .resumed = false };
	enum um_refusal refusal = um_api_check_call(ex);
	bool same;

	if (refusal != UM_REFUSAL_NONE)
		return refusal;
	if (um_call_text(&ex->op, 0, 1) == NULL)
		return create->attempts != 0
			? um_api_fail(ex, UM_API_ERROR_CONFLICT, NULL, "id")
			: look_for_resumable(context, ex);
	same = um_call_bytes(&ex->op, 0, 0, &content)
		&& um_str_eq(um_buf_str(&content),
			(struct um_str){ (const char *)create->what.content,
				sizeof(create->what.content) });
	um_buf_free(&content);
	if (!same)
		return um_api_fail(ex, UM_API_ERROR_CONFLICT, NULL, "id");
	memcpy(row.id, create->id, sizeof(row.id));
	row.expires_ms = um_call_int(&ex->op, 0, 1);
	row.kid = um_call_text(&ex->op, 0, 2) != NULL
		? (int)um_call_int(&ex->op, 0, 2)
		: -1;
	return answer(context, ex, &row);
}

static enum um_refusal
resumed(const struct um_context *context, struct um_exchange *ex)
{
	struct create *create = ex->own;
	struct row row = { .resumed = true };
	enum um_refusal refusal = um_api_check_call(ex);
	bool is_held;

	if (refusal != UM_REFUSAL_NONE)
		return refusal;
	if (um_call_text(&ex->op, 0, 0) == NULL)
		return make(context, ex);
	if (!um_uuid_parse(row.id, um_str(um_call_text(&ex->op, 0, 0))))
		return UM_REFUSAL_INTERNAL_ERROR;
	is_held = um_call_is(&ex->op, 0, 1, "held");
	row.expires_ms = um_call_int(&ex->op, 0, 2);
	row.kid = um_call_text(&ex->op, 0, 3) != NULL
		? (int)um_call_int(&ex->op, 0, 3)
		: -1;
	memcpy(ex->token.id, row.id, sizeof(ex->token.id));
	refusal = answer(context, ex, &row);
	if (refusal != UM_REFUSAL_NONE || !is_held)
		return refusal;
	/* What does not match was told, or nobody heard it: it is held now. */
	um_exchange_request_call(ex, &um_call_claim, row.id, told);
	um_array_put(&ex->op.args, row.id, sizeof(row.id));
	um_array_put(&ex->op.args, create->what.owner.binding,
		sizeof(create->what.owner.binding));
	um_array_put_text(&ex->op.args, NULL);
	um_array_put_int64(&ex->op.args, UM_KEEP_RESULTS_MS, true);
	um_array_put_text(&ex->op.args, "cancel");
	um_call_put_bool(&ex->op.args, false);
	return UM_REFUSAL_NONE;
}

/* The answer is there already. */
static enum um_refusal
told(const struct um_context *context, struct um_exchange *ex)
{
	(void)context;
	return um_api_check_call(ex);
}

/* Another transaction creates for this owner: again after a pause. */
static enum um_refusal
wait_for_turn(const struct um_context *context, struct um_exchange *ex)
{
	struct create *create = ex->own;
	int64_t pause = BUSY_MIN_MS;

	if (create->busy == BUSY_ATTEMPTS)
		return UM_REFUSAL_UNAVAILABLE;
	for (unsigned i = 0; i < create->busy && pause < BUSY_MAX_MS; i++)
		pause *= 2;
	create->busy++;
	create->request.wakes_at = context->monotonic_ms + pause;
	um_exchange_park(ex, create_again);
	return UM_REFUSAL_NONE;
}

static enum um_refusal
create_again(const struct um_context *context, struct um_exchange *ex)
{
	return request_create(context, ex);
}

static enum um_refusal
made(const struct um_context *context, struct um_exchange *ex)
{
	struct create *create = ex->own;
	struct row row = { .kid = -1 };
	enum um_refusal refusal;

	/* unique_violation: another call has used the id just now, or long ago. */
	if (ex->op.status == UM_STORE_FAILED
		&& strcmp(ex->op.sqlstate, "23505") == 0
		&& create->attempts++ == 0)
		return find(ex);
	if ((refusal = um_api_check_call(ex)))
		return refusal;
	if (um_call_is(&ex->op, 0, 0, "full"))
		return um_api_fail(ex, UM_API_ERROR_FULL, NULL, NULL);
	if (um_call_is(&ex->op, 0, 0, "subscribed"))
		return um_api_fail(ex, UM_API_ERROR_SUBSCRIBED, NULL, NULL);
	if (um_call_is(&ex->op, 0, 0, "busy"))
		return wait_for_turn(context, ex);
	/* Another call of the same owner was faster. */
	if (um_call_is(&ex->op, 0, 0, "resumed"))
		return create->attempts++ < UM_RESUME_ATTEMPTS
			? look_for_resumable(context, ex)
			: UM_REFUSAL_UNAVAILABLE;
	memcpy(row.id, create->id, sizeof(row.id));
	row.expires_ms = um_call_int(&ex->op, 0, 1);
	return answer(context, ex, &row);
}
