/* SPDX-License-Identifier: MIT */
#include "api/create.h"

#include <stdlib.h>
#include <string.h>

#include "api/calls.h"
#include "api/create_answer.h"
#include "api/create_row.h"
#include "api/pkce.h"
#include "contract/limits.h"
#include "contract/texts.h"
#include "postgres/array.h"

#define BUSY_ATTEMPTS 40

static um_step found, resumed, held, made, create_again;

static void
free_create(void *state)
{
	struct um_create *create = state;

	um_api_request_free(&create->request);
	um_create_request_free(&create->what);
	um_buf_free(&create->target_url);
	um_buf_free(&create->verifier);
	um_buf_free(&create->form);
	free(create);
}

static bool
needs_target(const struct um_create *create)
{
	return create->what.kind != UM_KIND_INPUT
		&& create->what.kind != UM_KIND_APPROVAL
		&& create->what.target_url.ptr == NULL;
}

static enum um_refusal
request_create(const struct um_context *context, struct um_exchange *ex)
{
	um_exchange_request_call(ex, &um_call_create_elicitation, NULL, made);
	um_create_put_row(&ex->op.args, ex->own, context);
	return UM_REFUSAL_NONE;
}

static enum um_refusal
make(const struct um_context *context, struct um_exchange *ex)
{
	struct um_create *create = ex->own;
	enum um_refusal refusal;

	if (needs_target(create))
		return um_create_answer_needs(context, ex);
	if (create->target_url.len == 0 && create->form.len == 0
		&& (refusal = um_create_seal(context, ex)))
		return refusal;
	/* It may be the answer already: a mistake of the target. */
	return ex->response.status != 0 ? UM_REFUSAL_NONE
					: request_create(context, ex);
}

static enum um_refusal
look_for_resumable(const struct um_context *context, struct um_exchange *ex)
{
	const struct um_create *create = ex->own;
	const struct um_create_request *what = &create->what;
	struct um_buf *args = &ex->op.args;

	if (what->item.ptr == NULL && what->resume_key.ptr == NULL)
		return make(context, ex);
	um_api_call(ex, &um_call_resume_for, NULL, resumed);
	um_array_put(args, what->owner.binding, sizeof(what->owner.binding));
	um_array_put_text(args, what->provider);
	um_array_put_text(args, um_kind_words[create->what.kind]);
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
	struct um_create *create = ex->own;

	um_api_call(ex, &um_call_find_created, create->id, found);
	um_array_put(&ex->op.args, create->id, sizeof(create->id));
	um_array_put(&ex->op.args, create->what.owner.binding,
		sizeof(create->what.owner.binding));
	return UM_REFUSAL_NONE;
}

/* What is asked for, with the row that is compared. */
enum um_refusal
um_create_plan(const struct um_context *context, struct um_exchange *ex)
{
	struct um_create *create = um_api_begin(context, ex, sizeof(*create),
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
			UM_TEXT_TARGET_URL_STATE);
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
	struct um_create *create = ex->own;
	struct um_buf content = { 0 };
	struct um_create_row row = { .resumed = false };
	bool same;

	if (um_call_text(&ex->op, 0, UM_FIND_CREATED_EXPIRES_AT) == NULL)
		return create->is_used
			? um_api_fail(ex, UM_API_ERROR_NOT_FOUND, NULL, "id")
			: look_for_resumable(context, ex);
	same = um_call_bytes(&ex->op, 0, UM_FIND_CREATED_CONTENT, &content)
		&& um_str_eq(um_buf_str(&content),
			(struct um_str){ (const char *)create->what.content,
				sizeof(create->what.content) });
	um_buf_free(&content);
	if (!same)
		return um_api_fail(ex, UM_API_ERROR_CONFLICT, NULL, "id");
	memcpy(row.id, create->id, sizeof(row.id));
	row.expires_ms = um_call_int(&ex->op, 0, UM_FIND_CREATED_EXPIRES_AT);
	row.kid = um_call_text(&ex->op, 0, UM_FIND_CREATED_LINK_KID) != NULL
		? (int)um_call_int(&ex->op, 0, UM_FIND_CREATED_LINK_KID)
		: -1;
	return um_create_answer(context, ex, &row);
}

static enum um_refusal
resumed(const struct um_context *context, struct um_exchange *ex)
{
	struct um_create *create = ex->own;
	struct um_create_row row = { .resumed = true };
	enum um_refusal refusal;
	bool is_held;

	if (um_call_text(&ex->op, 0, UM_RESUME_FOR_ID) == NULL)
		return make(context, ex);
	if (!um_uuid_parse(row.id,
		    um_str(um_call_text(&ex->op, 0, UM_RESUME_FOR_ID))))
		return UM_REFUSAL_INTERNAL_ERROR;
	/* The same call has made it meanwhile: the answer is that of a repeat. */
	if (!needs_target(create)
		&& memcmp(row.id, create->id, sizeof(row.id)) == 0)
		return find(ex);
	is_held = um_call_is(&ex->op, 0, UM_RESUME_FOR_STATUS, "held");
	row.expires_ms = um_call_int(&ex->op, 0, UM_RESUME_FOR_EXPIRES_AT);
	row.kid = um_call_text(&ex->op, 0, UM_RESUME_FOR_LINK_KID) != NULL
		? (int)um_call_int(&ex->op, 0, UM_RESUME_FOR_LINK_KID)
		: -1;
	memcpy(ex->token.id, row.id, sizeof(ex->token.id));
	refusal = um_create_answer(context, ex, &row);
	if (refusal != UM_REFUSAL_NONE || !is_held)
		return refusal;
	/* What does not match was told, or nobody heard it: it is held now. */
	um_exchange_request_call(ex, &um_call_claim_outcome, row.id, held);
	um_array_put(&ex->op.args, row.id, sizeof(row.id));
	um_array_put(&ex->op.args, create->what.owner.binding,
		sizeof(create->what.owner.binding));
	um_array_put_text(&ex->op.args, NULL);
	um_array_put_int64(&ex->op.args, UM_KEEP_RESULTS_MS, true);
	um_array_put_text(&ex->op.args, "cancel");
	um_call_put_bool(&ex->op.args, false);
	um_array_put_int64(&ex->op.args, 0, false);
	return UM_REFUSAL_NONE;
}

/* The answer is there already. */
static enum um_refusal
held(const struct um_context *context, struct um_exchange *ex)
{
	(void)context;
	return um_api_check_call(ex);
}

/* Another transaction creates for this owner: again after a pause. */
static enum um_refusal
wait_for_turn(const struct um_context *context, struct um_exchange *ex)
{
	struct um_create *create = ex->own;
	int64_t pause = UM_BUSY_MIN_MS;

	if (create->busy == BUSY_ATTEMPTS)
		return UM_REFUSAL_UNAVAILABLE;
	for (unsigned i = 0; i < create->busy && pause < UM_BUSY_MAX_MS; i++)
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
	struct um_create *create = ex->own;
	struct um_create_row row = { .kid = -1 };
	enum um_refusal refusal;

	/* unique_violation: another call has used the id just now, or long ago. */
	if (ex->op.status == UM_STORE_FAILED
		&& strcmp(ex->op.sqlstate, "23505") == 0 && !create->is_used) {
		create->is_used = true;
		return find(ex);
	}
	if ((refusal = um_api_check_call(ex)))
		return refusal;
	if (um_call_is(&ex->op, 0, UM_CREATE_ELICITATION_OUTCOME, "full"))
		return um_api_fail(ex, UM_API_ERROR_FULL, NULL, NULL);
	if (um_call_is(&ex->op, 0, UM_CREATE_ELICITATION_OUTCOME, "subscribed"))
		return um_api_fail(ex, UM_API_ERROR_SUBSCRIBED, NULL, NULL);
	if (um_call_is(&ex->op, 0, UM_CREATE_ELICITATION_OUTCOME, "busy"))
		return wait_for_turn(context, ex);
	/* Another call of the same owner was faster. */
	if (um_call_is(&ex->op, 0, UM_CREATE_ELICITATION_OUTCOME, "resumed"))
		return create->resumes++ < UM_RESUME_ATTEMPTS
			? look_for_resumable(context, ex)
			: UM_REFUSAL_UNAVAILABLE;
	memcpy(row.id, create->id, sizeof(row.id));
	row.expires_ms = um_call_int(&ex->op, 0,
		UM_CREATE_ELICITATION_EXPIRES_AT);
	return um_create_answer(context, ex, &row);
}
