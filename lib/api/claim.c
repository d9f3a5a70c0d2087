/* SPDX-License-Identifier: MIT */
#include "api/claim.h"

#include <stdlib.h>
#include <string.h>

#include "api/calls.h"
#include "api/request.h"
#include "contract/limits.h"
#include "core/json_canonical.h"
#include "core/json_put.h"
#include "crypto/seal.h"
#include "postgres/array.h"

struct claim {
	struct um_api_request request;
	struct um_api_owner owner;
	bool has_fence; /* an account has none */
	int64_t fence;
	struct um_str reference; /* .ptr NULL: any */
	struct um_str reason;    /* why an account is not connected */
};

static um_step claimed, begun, renewed, fulfilled, confirmed, released,
	exchange_ended;

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

	if (claim != NULL)
		um_api_read_owner(&claim->request, context, &claim->owner);
	return claim;
}

static void
read_fence(struct claim *claim, enum um_presence presence)
{
	claim->has_fence = um_reader_int(&claim->request.root, "fence",
		presence, 0, INT64_MAX, &claim->fence);
}

static void
read_lease(struct claim *claim, int64_t *lease_ms)
{
	um_reader_int(&claim->request.root, "lease_ms", UM_REQUIRED,
		UM_CLAIM_LEASE_MIN_MS, UM_CLAIM_LEASE_MAX_MS, lease_ms);
}

/* Requests a call on this row, whose first two parameters are id and binding. */
static struct um_buf *
request(struct um_exchange *ex, const struct um_call *call, um_step *then)
{
	const struct claim *claim = ex->own;
	struct um_buf *args = &ex->op.args;

	um_exchange_request_call(ex, call, claim->owner.id, then);
	um_array_put(args, claim->owner.id, sizeof(claim->owner.id));
	um_array_put(args, claim->owner.binding, sizeof(claim->owner.binding));
	return args;
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
		{ "lost", UM_API_ERROR_LOST },
	};

	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
		if (um_call_is(&ex->op, 0, 0, refused[i].outcome)) {
			um_api_fail(ex, refused[i].error, NULL, NULL);
			return true;
		}
	return false;
}

static enum um_refusal
answer_empty(struct um_exchange *ex)
{
	um_json_put_end(um_api_answer(ex, 200, "ok"));
	return UM_REFUSAL_NONE;
}

/* claim */

enum um_refusal
um_claim_plan(const struct um_context *context, struct um_exchange *ex)
{
	static const char *const actions[] = { "accept", "decline", "cancel",
		NULL };
	struct claim *claim = begin(context, ex);
	size_t action = 0;
	bool held = false;
	struct um_buf *args;

	if (claim == NULL)
		return UM_REFUSAL_NONE;
	um_reader_text(&claim->request.root, "reference", UM_OPTIONAL, 1,
		UM_REFERENCE_BYTES_MAX, &claim->reference);
	um_reader_choice(&claim->request.root, "action", UM_OPTIONAL, actions,
		&action);
	um_reader_bool(&claim->request.root, "held", &held);
	if (!um_api_end(&claim->request))
		return UM_REFUSAL_NONE;
	args = request(ex, &um_call_claim, claimed);
	um_call_put_str(args, claim->reference);
	um_array_put_int64(args, UM_KEEP_RESULTS_MS, true);
	um_array_put_text(args, actions[action]);
	um_call_put_bool(args, held);
	return UM_REFUSAL_NONE;
}

static enum um_refusal
claimed(const struct um_context *context, struct um_exchange *ex)
{
	const struct claim *claim = ex->own;
	enum um_refusal refusal = um_api_check_call(ex);
	struct um_buf *json;

	(void)context;
	if (refusal != UM_REFUSAL_NONE || is_refused(ex))
		return refusal;
	json = um_api_answer(ex, 200, "claimed");
	um_json_put_key(json, um_str("reference"));
	if (claim->reference.ptr != NULL)
		um_json_put_string(json, claim->reference);
	else
		um_json_put_null(json);
	um_json_put_end(json);
	return UM_REFUSAL_NONE;
}

/* begin_claim */

enum um_refusal
um_begin_claim_plan(const struct um_context *context, struct um_exchange *ex)
{
	struct claim *claim = begin(context, ex);
	int64_t lease_ms = 0, recheck_ms = 0;
	uint8_t claim_id[UM_UUID_LEN];
	bool has_id, rechecks;
	struct um_buf *args;

	if (claim == NULL)
		return UM_REFUSAL_NONE;
	um_reader_text(&claim->request.root, "reference", UM_OPTIONAL, 1,
		UM_REFERENCE_BYTES_MAX, &claim->reference);
	read_lease(claim, &lease_ms);
	has_id = um_reader_uuid(&claim->request.root, "claim_id", UM_OPTIONAL,
		claim_id);
	rechecks = um_reader_int(&claim->request.root, "recheck_after_ms",
		UM_OPTIONAL, 0, UM_RECHECK_AFTER_MAX_MS, &recheck_ms);
	if (!um_api_end(&claim->request))
		return UM_REFUSAL_NONE;
	args = request(ex, &um_call_begin_lease, begun);
	um_call_put_str(args, claim->reference);
	um_array_put_int64(args, lease_ms, true);
	um_array_put_int64(args, UM_KEEP_RESULTS_MS, true);
	um_array_put(args, has_id ? claim_id : NULL, sizeof(claim_id));
	/* Whatever `unclaimed` lists can be named. */
	um_call_put_bool(args, claim->reference.ptr != NULL);
	um_array_put_int64(args, recheck_ms, rechecks);
	return UM_REFUSAL_NONE;
}

/* What another call has returned for this payment. */
static bool
put_result(struct um_buf *json, const struct um_context *context,
	const struct um_exchange *ex)
{
	const struct claim *claim = ex->own;
	struct um_buf sealed = { 0 }, opened = { 0 };
	struct um_json_node *root = NULL;
	const struct um_json_node *result;

	if (um_call_bytes(&ex->op, 0, 3, &sealed)
		&& um_seal_open_for_page(&opened, um_buf_str(&sealed),
			UM_USE_FULFILLED, claim->owner.id, claim->owner.binding,
			context->keys))
		root = um_json_parse_with_nul(um_buf_str(&opened),
			UM_JSON_VALUES_MAX, NULL);
	result = um_json_member(root, um_str("result"));
	if (result != NULL) {
		um_json_put_key(json, um_str("result"));
		um_json_canonical(json, result);
	} else if (root != NULL) {
		um_api_put_text(json, "result", NULL);
	}
	um_buf_free(&sealed);
	um_buf_free(&opened);
	free(root);
	return root != NULL;
}

static enum um_refusal
fail_leased(struct um_exchange *ex, enum um_api_error error)
{
	struct um_buf *json = &ex->response.body;

	um_api_fail(ex, error, NULL, NULL);
	if (json->failed || json->len < 2)
		return UM_REFUSAL_NONE;
	json->len -= 2; /* the brackets of the error and of the object */
	um_json_put_key(json, um_str("left_ms"));
	um_json_put_int(json, um_call_int(&ex->op, 0, 4));
	um_json_put_end(json);
	um_json_put_end(json);
	return UM_REFUSAL_NONE;
}

static enum um_refusal
begun(const struct um_context *context, struct um_exchange *ex)
{
	enum um_refusal refusal = um_api_check_call(ex);
	bool is_fulfilled, is_account, ok = true;
	const char *reference;
	struct um_buf *json;

	if (refusal != UM_REFUSAL_NONE || is_refused(ex))
		return refusal;
	if (um_call_is(&ex->op, 0, 0, "leased"))
		return fail_leased(ex, UM_API_ERROR_LEASED);
	if (um_call_is(&ex->op, 0, 0, "recheck"))
		return fail_leased(ex, UM_API_ERROR_RECHECK);
	is_fulfilled = um_call_is(&ex->op, 0, 0, "fulfilled");
	/* The claim of an account is final, and has no lease. */
	is_account = um_call_is(&ex->op, 0, 0, "claimed");
	json = um_api_answer(ex, 200, is_fulfilled ? "fulfilled" : "begun");
	um_json_put_member(json, "state",
		um_str(is_fulfilled ? "fulfilled" : "begun"));
	reference = um_call_text(&ex->op, 0, 1);
	um_api_put_text(json, "reference",
		reference != NULL && reference[0] != '\0' ? reference : NULL);
	um_json_put_key(json, um_str("fence"));
	if (is_account)
		um_json_put_null(json);
	else
		um_json_put_int(json, um_call_int(&ex->op, 0, 2));
	if (is_fulfilled)
		ok = put_result(json, context, ex);
	um_json_put_end(json);
	return ok ? UM_REFUSAL_NONE : UM_REFUSAL_INTERNAL_ERROR;
}

/* renew_claim */

enum um_refusal
um_renew_claim_plan(const struct um_context *context, struct um_exchange *ex)
{
	struct claim *claim = begin(context, ex);
	int64_t lease_ms = 0;
	struct um_buf *args;

	if (claim == NULL)
		return UM_REFUSAL_NONE;
	read_fence(claim, UM_REQUIRED);
	read_lease(claim, &lease_ms);
	if (!um_api_end(&claim->request))
		return UM_REFUSAL_NONE;
	args = request(ex, &um_call_renew_lease, renewed);
	um_array_put_int64(args, claim->fence, true);
	um_array_put_int64(args, lease_ms, true);
	return UM_REFUSAL_NONE;
}

/* `refunded`, `disputed`: it is renewed, and all that was paid went back. */
static enum um_refusal
answer_lease(struct um_exchange *ex)
{
	enum um_refusal refusal = um_api_check_call(ex);
	bool refunded = refusal == UM_REFUSAL_NONE
		&& um_call_is(&ex->op, 0, 0, "refunded");
	bool disputed = refusal == UM_REFUSAL_NONE
		&& um_call_is(&ex->op, 0, 0, "disputed");
	struct um_buf *json;

	if (refusal != UM_REFUSAL_NONE || is_refused(ex))
		return refusal;
	json = um_api_answer(ex, 200, "ok");
	if (refunded || disputed)
		um_json_put_member(json, "money",
			um_str(refunded ? "refunded" : "disputed"));
	um_json_put_end(json);
	return UM_REFUSAL_NONE;
}

static enum um_refusal
renewed(const struct um_context *context, struct um_exchange *ex)
{
	(void)context;
	return answer_lease(ex);
}

/* fulfil_claim */

/* The result as it is sealed: { "result": … }. */
static bool
seal_result(struct um_buf *sealed, const struct um_context *context,
	struct claim *claim, const struct um_json_node *result)
{
	struct um_buf json = { 0 };
	uint8_t nonce[UM_NONCE_LEN];
	bool ok = true;

	um_json_put_begin(&json);
	um_json_put_key(&json, um_str("result"));
	um_json_canonical(&json, result);
	um_json_put_end(&json);
	context->random(nonce, sizeof(nonce));
	if (json.len > UM_FULFILLED_MAX - UM_SEAL_OVERHEAD)
		um_reader_refuse(&claim->request.root, "result",
			"result must have at most %d bytes as JSON",
			UM_FULFILLED_MAX - UM_SEAL_OVERHEAD);
	else
		ok = !json.failed
			&& um_seal_put_for_page(sealed, um_buf_str(&json),
				UM_USE_FULFILLED, claim->owner.id,
				claim->owner.binding, context->keys, nonce);
	um_buf_free(&json);
	return ok;
}

static enum um_refusal
end_exchange(struct um_exchange *ex, struct um_str reason)
{
	um_call_put_str(request(ex, &um_call_end_exchange, exchange_ended),
		reason);
	return UM_REFUSAL_NONE;
}

enum um_refusal
um_fulfil_claim_plan(const struct um_context *context, struct um_exchange *ex)
{
	static const char *const ends[] = { "delivered", "refunded", NULL };
	struct claim *claim = begin(context, ex);
	const struct um_json_node *result;
	struct um_str refund = { 0 };
	struct um_buf sealed = { 0 };
	size_t end = 2; /* none */
	bool ok = true;

	if (claim == NULL)
		return UM_REFUSAL_NONE;
	read_fence(claim, UM_OPTIONAL);
	result = um_reader_get(&claim->request.root, "result");
	um_reader_choice(&claim->request.root, "end", UM_OPTIONAL, ends, &end);
	if (um_reader_text(&claim->request.root, "refund", UM_OPTIONAL, 1,
		    UM_REFERENCE_BYTES_MAX, &refund)
		&& end != 1)
		um_reader_refuse(&claim->request.root, "refund",
			"only a claim that ends as refunded has one");
	if (claim->has_fence && result == NULL && end == 2)
		um_reader_refuse(&claim->request.root, "result",
			"result is missing, and there is no end");
	if (claim->has_fence && result != NULL)
		ok = seal_result(&sealed, context, claim, result);
	if (ok && um_api_end(&claim->request)) {
		struct um_buf *args;

		if (!claim->has_fence) {
			um_buf_free(&sealed);
			return end_exchange(ex, um_str(""));
		}
		args = request(ex, &um_call_fulfil_lease, fulfilled);
		um_array_put_int64(args, claim->fence, true);
		um_array_put(args, sealed.len != 0 ? sealed.ptr : NULL,
			sealed.len);
		um_array_put_text(args, ends[end]);
		um_call_put_str(args, refund);
		um_array_put_int64(args, UM_KEEP_RESULTS_MS, true);
	}
	um_buf_free(&sealed);
	return ok ? UM_REFUSAL_NONE : UM_REFUSAL_INTERNAL_ERROR;
}

static enum um_refusal
fulfilled(const struct um_context *context, struct um_exchange *ex)
{
	(void)context;
	return answer_lease(ex);
}

/* confirm_claim, release_claim */

enum um_refusal
um_confirm_claim_plan(const struct um_context *context, struct um_exchange *ex)
{
	struct claim *claim = begin(context, ex);
	struct um_buf *args;

	if (claim == NULL)
		return UM_REFUSAL_NONE;
	read_fence(claim, UM_REQUIRED);
	if (!um_api_end(&claim->request))
		return UM_REFUSAL_NONE;
	args = request(ex, &um_call_confirm_claim, confirmed);
	um_array_put_int64(args, claim->fence, true);
	um_array_put_int64(args, UM_KEEP_RESULTS_MS, true);
	return UM_REFUSAL_NONE;
}

/* True, or the lease is lost. */
static enum um_refusal
answer_true(struct um_exchange *ex)
{
	enum um_refusal refusal = um_api_check_call(ex);

	if (refusal != UM_REFUSAL_NONE)
		return refusal;
	return um_call_is(&ex->op, 0, 0, "t")
		? answer_empty(ex)
		: um_api_fail(ex, UM_API_ERROR_LOST, NULL, NULL);
}

static enum um_refusal
confirmed(const struct um_context *context, struct um_exchange *ex)
{
	(void)context;
	return answer_true(ex);
}

enum um_refusal
um_release_claim_plan(const struct um_context *context, struct um_exchange *ex)
{
	struct claim *claim = begin(context, ex);

	if (claim == NULL)
		return UM_REFUSAL_NONE;
	claim->reason = um_str("exchange_failed");
	read_fence(claim, UM_OPTIONAL);
	if (um_reader_get(&claim->request.root, "fence") == NULL)
		um_api_read_reason(&claim->request.root, &claim->reason);
	if (!um_api_end(&claim->request))
		return UM_REFUSAL_NONE;
	if (!claim->has_fence)
		return end_exchange(ex, claim->reason);
	um_array_put_int64(request(ex, &um_call_release_claim, released),
		claim->fence, true);
	return UM_REFUSAL_NONE;
}

static enum um_refusal
released(const struct um_context *context, struct um_exchange *ex)
{
	(void)context;
	return answer_true(ex);
}

static enum um_refusal
exchange_ended(const struct um_context *context, struct um_exchange *ex)
{
	(void)context;
	return answer_true(ex);
}
