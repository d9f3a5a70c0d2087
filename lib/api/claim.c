/* SPDX-License-Identifier: MIT */
#include "api/claim.h"

#include <stdlib.h>

#include "api/calls.h"
#include "api/request.h"
#include "api/shown.h"
#include "contract/limits.h"
#include "contract/words.h"
#include "core/json_put.h"
#include "crypto/seal.h"
#include "postgres/array.h"

struct claim {
	struct um_api_request request;
	struct um_api_owner owner;
	struct um_str reference; /* .ptr NULL: any */
	bool rechecks;           /* the caller can ask the provider */
	int64_t recheck_ms;      /* how old the last answer may be */
	/* begin_claim */
	int64_t lease_ms, fence; /* of the round before, if it continues */
	uint8_t claim_id[UM_UUID_LEN];
	bool has_id, any_payment, continues;
};

static um_step claimed, begun, continued, recheck_begun;

static void
free_claim(void *own)
{
	struct claim *claim = own;

	um_api_request_free(&claim->request);
	free(claim);
}

static struct claim *
begin(const struct um_context *context, struct um_exchange *ex)
{
	struct claim *claim = um_api_begin(context, ex, sizeof(*claim),
		free_claim);

	if (claim == NULL)
		return NULL;
	um_api_read_owner(&claim->request, context, &claim->owner);
	um_reader_text(&claim->request.root, "reference", UM_OPTIONAL, 1,
		UM_REFERENCE_BYTES_MAX, &claim->reference);
	claim->rechecks = um_reader_int(&claim->request.root,
		"recheck_after_ms", UM_OPTIONAL, 0, UM_RECHECK_AFTER_MAX_MS,
		&claim->recheck_ms);
	return claim;
}

/* The errors of claims, by the words of the functions. */
static bool
is_refused(struct um_exchange *ex)
{
	static const struct {
		const char *outcome;
		enum um_api_error error;
	} refused[] = {
		{ "unknown", UM_API_ERROR_NOT_FOUND },
		{ "open", UM_API_ERROR_OPEN },
		{ "taken", UM_API_ERROR_TAKEN },
		{ "changed", UM_API_ERROR_CHANGED },
	};

	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
		if (um_call_is(&ex->op, 0, 0, refused[i].outcome)) {
			um_api_fail(ex, refused[i].error, NULL, NULL);
			return true;
		}
	return false;
}

/* The provider is asked first, by the caller that gets the lease. */
static enum um_refusal
begin_recheck(struct um_exchange *ex, int64_t left_ms)
{
	const struct claim *claim = ex->own;
	struct um_buf *args;

	if (left_ms > 0)
		return um_api_fail_leased(ex, UM_API_ERROR_RECHECK, left_ms);
	args = um_api_request_call(ex, &um_call_begin_recheck, &claim->owner,
		recheck_begun);
	um_array_put_int64(args, UM_RECHECK_LEASE_MS, true);
	um_array_put_int64(args, claim->recheck_ms, true);
	return UM_REFUSAL_NONE;
}

static enum um_refusal
recheck_begun(const struct um_context *context, struct um_exchange *ex)
{
	struct um_buf *json = &ex->response.body;

	(void)context;
	/* Another call has begun it since. */
	if (ex->op.rows_len == 0)
		return um_api_fail_leased(ex, UM_API_ERROR_RECHECK,
			UM_CLAIM_RETRY_MS);
	if (!um_api_fail_open(ex, UM_API_ERROR_RECHECK))
		return UM_REFUSAL_NONE;
	um_shown_put_recheck(json, &ex->op);
	um_json_put_end(json);
	um_json_put_end(json);
	return UM_REFUSAL_NONE;
}

/* claim */

enum um_refusal
um_claim_plan(const struct um_context *context, struct um_exchange *ex)
{
	static const char *const actions[] = { UM_ACTION_WORDS, NULL };
	struct claim *claim = begin(context, ex);
	size_t action = 0;
	bool held = false;
	struct um_buf *args;

	if (claim == NULL)
		return UM_REFUSAL_NONE;
	um_reader_choice(&claim->request.root, "action", UM_OPTIONAL, actions,
		&action);
	um_reader_bool(&claim->request.root, "held", &held);
	if (!um_api_end(&claim->request))
		return UM_REFUSAL_NONE;
	args = um_api_request_call(ex, &um_call_claim_outcome, &claim->owner,
		claimed);
	um_call_put_str(args, claim->reference);
	um_array_put_int64(args, UM_KEEP_RESULTS_MS, true);
	um_array_put_text(args, actions[action]);
	um_call_put_bool(args, held);
	um_array_put_int64(args, claim->recheck_ms, claim->rechecks);
	return UM_REFUSAL_NONE;
}

static enum um_refusal
claimed(const struct um_context *context, struct um_exchange *ex)
{
	struct um_buf *json;

	(void)context;
	if (is_refused(ex))
		return UM_REFUSAL_NONE;
	if (um_call_is(&ex->op, 0, UM_CLAIM_OUTCOME_OUTCOME, "recheck"))
		return begin_recheck(ex,
			um_call_int(&ex->op, 0, UM_CLAIM_OUTCOME_LEASED_MS));
	json = um_api_answer(ex, 200, "claimed");
	um_api_put_text(json, "reference",
		um_call_text(&ex->op, 0, UM_CLAIM_OUTCOME_CLAIMED_REFERENCE));
	um_json_put_end(json);
	return UM_REFUSAL_NONE;
}

/* begin_claim */

static enum um_refusal
request_lease(struct um_exchange *ex, const struct um_call *call)
{
	const struct claim *claim = ex->own;
	struct um_buf *args = um_api_request_call(ex, call, &claim->owner,
		begun);

	um_call_put_str(args, claim->reference);
	um_array_put_int64(args, claim->lease_ms, true);
	um_array_put_int64(args, UM_KEEP_RESULTS_MS, true);
	um_array_put(args, claim->has_id ? claim->claim_id : NULL,
		sizeof(claim->claim_id));
	um_call_put_bool(args, claim->any_payment);
	um_array_put_int64(args, claim->recheck_ms, claim->rechecks);
	return UM_REFUSAL_NONE;
}

static enum um_refusal
request_next(struct um_exchange *ex)
{
	const struct claim *claim = ex->own;
	struct um_buf *args = um_api_request_call(ex, &um_call_continue_lease,
		&claim->owner, continued);

	um_array_put_int64(args, claim->fence, true);
	um_array_put_int64(args, claim->lease_ms, true);
	return UM_REFUSAL_NONE;
}

/* Begins the answer. The caller adds the fence to it. */
static struct um_buf *
put_state(struct um_exchange *ex, const char *state, int reference_column)
{
	const char *reference = um_call_text(&ex->op, 0, reference_column);
	struct um_buf *json = um_api_answer(ex, 200, state);

	um_json_put_member(json, "state", um_str(state));
	um_api_put_text(json, "reference",
		reference != NULL && reference[0] != '\0' ? reference : NULL);
	um_json_put_key(json, um_str("fence"));
	return json;
}

enum um_refusal
um_begin_claim_plan(const struct um_context *context, struct um_exchange *ex)
{
	struct claim *claim = begin(context, ex);

	if (claim == NULL)
		return UM_REFUSAL_NONE;
	um_reader_int(&claim->request.root, "lease_ms", UM_REQUIRED,
		UM_CLAIM_LEASE_MIN_MS, UM_CLAIM_LEASE_MAX_MS, &claim->lease_ms);
	claim->has_id = um_reader_uuid(&claim->request.root, "claim_id",
		UM_OPTIONAL, claim->claim_id);
	/* By default, whatever `unclaimed` lists can be named. */
	claim->any_payment = claim->reference.ptr != NULL;
	um_reader_bool(&claim->request.root, "any_payment",
		&claim->any_payment);
	claim->continues = um_reader_int(&claim->request.root, "fence",
		UM_OPTIONAL, 1, INT64_MAX, &claim->fence);
	if (!um_api_end(&claim->request))
		return UM_REFUSAL_NONE;
	return claim->continues ? request_next(ex)
				: request_lease(ex, &um_call_begin_lease);
}

/*
 * The next round of a call that has held its claim goes on with it, once. Where it
 * cannot, it begins as every other.
 */
static enum um_refusal
continued(const struct um_context *context, struct um_exchange *ex)
{
	struct um_buf *json;

	(void)context;
	if (um_call_is(&ex->op, 0, UM_CONTINUE_LEASE_OUTCOME, "lost"))
		return request_lease(ex, &um_call_begin_lease);
	json = put_state(ex, "begun", UM_CONTINUE_LEASE_CLAIMED_REFERENCE);
	um_json_put_int(json,
		um_call_int(&ex->op, 0, UM_CONTINUE_LEASE_NEXT_FENCE));
	um_api_put_money(json, &ex->op);
	um_json_put_end(json);
	return UM_REFUSAL_NONE;
}

/*
 * The result as it was sealed: { "result": … }, or without it. Whoever seals one
 * writes nothing else; it may be large, and is not read again.
 */
static bool
put_opened(struct um_buf *json, struct um_str opened)
{
	if (um_str_is(opened, "{}")) {
		um_api_put_text(json, "result", NULL);
		return true;
	}
	if (!um_str_take_prefix(&opened, "{\"result\":")
		|| !um_str_take_suffix(&opened, "}"))
		return false;
	um_json_put_key(json, um_str("result"));
	um_buf_put(json, opened.ptr, opened.len);
	return true;
}

/* What another call has returned for this payment. */
static bool
put_result(struct um_buf *json, const struct um_context *context,
	const struct um_exchange *ex)
{
	const struct claim *claim = ex->own;
	struct um_buf sealed = { 0 }, opened = { 0 };
	bool ok = um_call_bytes(&ex->op, 0, UM_BEGIN_LEASE_FULFILLED_FULFILLED,
			  &sealed)
		&& um_seal_open_for_page(&opened, um_buf_str(&sealed),
			UM_USE_FULFILLED, claim->owner.id, claim->owner.binding,
			context->keys);

	um_buf_free(&sealed);
	ok = ok && put_opened(json, um_buf_str(&opened));
	um_buf_free(&opened);
	return ok;
}

static enum um_refusal
begun(const struct um_context *context, struct um_exchange *ex)
{
	bool is_fulfilled, is_account, ok = true;
	struct um_buf *json;

	if (is_refused(ex))
		return UM_REFUSAL_NONE;
	if (um_call_is(&ex->op, 0, UM_BEGIN_LEASE_OUTCOME, "leased"))
		return um_api_fail_leased(ex, UM_API_ERROR_LEASED,
			um_call_int(&ex->op, 0, UM_BEGIN_LEASE_LEASED_MS));
	if (um_call_is(&ex->op, 0, UM_BEGIN_LEASE_OUTCOME, "recheck"))
		return begin_recheck(ex,
			um_call_int(&ex->op, 0, UM_BEGIN_LEASE_LEASED_MS));
	is_fulfilled = um_call_is(&ex->op, 0, UM_BEGIN_LEASE_OUTCOME,
		"fulfilled");
	/* A result may be large: it is read in a batch of its own. */
	if (is_fulfilled && ex->op.call == &um_call_begin_lease)
		return request_lease(ex, &um_call_begin_lease_fulfilled);
	/* The claim of an account is final, and has no lease. */
	is_account = um_call_is(&ex->op, 0, UM_BEGIN_LEASE_OUTCOME, "claimed");
	json = put_state(ex, is_fulfilled ? "fulfilled" : "begun",
		UM_BEGIN_LEASE_CLAIMED_REFERENCE);
	if (is_account)
		um_json_put_null(json);
	else
		um_json_put_int(json,
			um_call_int(&ex->op, 0, UM_BEGIN_LEASE_FENCE));
	if (is_fulfilled)
		ok = put_result(json, context, ex);
	um_json_put_end(json);
	return ok ? UM_REFUSAL_NONE : UM_REFUSAL_INTERNAL_ERROR;
}
