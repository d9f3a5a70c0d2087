/* SPDX-License-Identifier: MIT */
#include "api/lease.h"

#include <stdlib.h>

#include "api/calls.h"
#include "api/request.h"
#include "contract/limits.h"
#include "contract/words.h"
#include "core/json_canonical.h"
#include "core/json_put.h"
#include "crypto/seal.h"
#include "postgres/array.h"

struct lease {
	struct um_api_request request;
	struct um_api_owner owner;
	bool has_fence; /* an account has none */
	int64_t fence;
	struct um_str reason; /* why an account is not connected */
	/* fulfil_claim */
	const char *end; /* or NULL */
	struct um_str refund;
};

#define TOO_LARGE "result must have at most 16 MiB as JSON"

static um_step answer_lease, answer_true, lost;

static void
free_lease(void *own)
{
	struct lease *lease = own;

	um_api_request_free(&lease->request);
	free(lease);
}

static struct lease *
begin(const struct um_context *context, struct um_exchange *ex)
{
	struct lease *lease = um_api_begin(context, ex, sizeof(*lease),
		free_lease);

	if (lease != NULL)
		um_api_read_owner(&lease->request, context, &lease->owner);
	return lease;
}

static void
read_fence(struct lease *lease, enum um_presence presence)
{
	lease->has_fence = um_reader_int(&lease->request.root, "fence",
		presence, 0, INT64_MAX, &lease->fence);
}

static enum um_refusal
answer_empty(struct um_exchange *ex)
{
	um_json_put_end(um_api_answer(ex, 200, "ok"));
	return UM_REFUSAL_NONE;
}

/* The call has touched nothing: the lease is lost, or there is no such row. */
static enum um_refusal
answer_lost(struct um_exchange *ex)
{
	const struct lease *lease = ex->own;

	return um_api_look_up(ex, &lease->owner, lost);
}

static enum um_refusal
lost(const struct um_context *context, struct um_exchange *ex)
{
	(void)context;
	return um_api_fail(ex, UM_API_ERROR_LOST, NULL, NULL);
}

/* renew_claim */

enum um_refusal
um_renew_claim_plan(const struct um_context *context, struct um_exchange *ex)
{
	struct lease *lease = begin(context, ex);
	int64_t lease_ms = 0;
	struct um_buf *args;

	if (lease == NULL)
		return UM_REFUSAL_NONE;
	read_fence(lease, UM_REQUIRED);
	um_reader_int(&lease->request.root, "lease_ms", UM_REQUIRED,
		UM_CLAIM_LEASE_MIN_MS, UM_CLAIM_LEASE_MAX_MS, &lease_ms);
	if (!um_api_end(&lease->request))
		return UM_REFUSAL_NONE;
	args = um_api_request_call(ex, &um_call_renew_lease, &lease->owner,
		answer_lease);
	um_array_put_int64(args, lease->fence, true);
	um_array_put_int64(args, lease_ms, true);
	return UM_REFUSAL_NONE;
}

static enum um_refusal
answer_lease(const struct um_context *context, struct um_exchange *ex)
{
	struct um_buf *json;

	(void)context;
	if (um_call_is(&ex->op, 0, 0, "lost"))
		return answer_lost(ex);
	json = um_api_answer(ex, 200, "ok");
	um_api_put_money(json, &ex->op);
	um_json_put_end(json);
	return UM_REFUSAL_NONE;
}

/* fulfil_claim */

/*
 * Seals the result, { "result": … }, which may be large: what it is made of is freed
 * as soon as it is not needed. False: the response is written, or *refusal is set.
 */
static bool
seal_result(struct um_buf *sealed, const struct um_context *context,
	struct um_exchange *ex, const struct um_json_node *result,
	enum um_refusal *refusal)
{
	struct lease *lease = ex->own;
	struct um_buf json = { 0 };
	uint8_t nonce[UM_NONCE_LEN];
	bool fits, ok = true;

	um_json_put_begin(&json);
	um_json_put_key(&json, um_str("result"));
	um_json_canonical(&json, result);
	um_json_put_end(&json);
	um_api_request_free(&lease->request);
	context->random(nonce, sizeof(nonce));
	fits = json.len <= UM_FULFILLED_MAX - UM_SEAL_OVERHEAD;
	if (fits)
		ok = !json.failed
			&& um_seal_put_for_page(sealed, um_buf_str(&json),
				UM_USE_FULFILLED, lease->owner.id,
				lease->owner.binding, context->keys, nonce);
	um_buf_free(&json);
	if (!fits)
		um_api_fail(ex, UM_API_ERROR_INVALID_REQUEST, TOO_LARGE,
			"result");
	*refusal = ok ? UM_REFUSAL_NONE : UM_REFUSAL_INTERNAL_ERROR;
	return fits && ok;
}

static enum um_refusal
end_exchange(struct um_exchange *ex, struct um_str reason)
{
	const struct lease *lease = ex->own;

	um_call_put_str(um_api_request_call(ex, &um_call_end_exchange,
				&lease->owner, answer_true),
		reason);
	return UM_REFUSAL_NONE;
}

/* How the claim ends, if it does, and the number of the refund. */
static void
read_end(struct lease *lease, bool has_result)
{
	static const char *const ends[] = { UM_CLAIM_END_WORDS, NULL };
	struct um_reader *root = &lease->request.root;
	size_t end = 2; /* none */

	um_reader_choice(root, "end", UM_OPTIONAL, ends, &end);
	lease->end = ends[end];
	if (um_reader_text(root, "refund", UM_OPTIONAL, 1,
		    UM_REFERENCE_BYTES_MAX, &lease->refund)
		&& end != 1)
		um_reader_refuse(root, "refund",
			"only a claim that ends as refunded has one");
	if (lease->has_fence && !has_result && end == 2)
		um_reader_refuse(root, "result",
			"result is missing, and there is no end");
}

enum um_refusal
um_fulfil_claim_plan(const struct um_context *context, struct um_exchange *ex)
{
	struct lease *lease = begin(context, ex);
	enum um_refusal refusal = UM_REFUSAL_NONE;
	const struct um_json_node *result;
	struct um_buf sealed = { 0 }, refund = { 0 };
	struct um_buf *args;

	if (lease == NULL)
		return UM_REFUSAL_NONE;
	read_fence(lease, UM_OPTIONAL);
	result = um_reader_get(&lease->request.root, "result");
	read_end(lease, result != NULL);
	if (!um_api_end(&lease->request))
		return UM_REFUSAL_NONE;
	if (!lease->has_fence) {
		um_api_request_free(&lease->request);
		return end_exchange(ex, um_str(""));
	}
	um_buf_put(&refund, lease->refund.ptr, lease->refund.len);
	if (result != NULL
		&& !seal_result(&sealed, context, ex, result, &refusal)) {
		um_buf_free(&refund);
		return refusal;
	}
	args = um_api_request_call(ex, &um_call_fulfil_lease, &lease->owner,
		answer_lease);
	um_array_put_int64(args, lease->fence, true);
	um_array_put(args, result != NULL ? sealed.ptr : NULL, sealed.len);
	um_buf_free(&sealed);
	um_array_put_text(args, lease->end);
	um_call_put_str(args, um_buf_str(&refund));
	um_array_put_int64(args, UM_KEEP_RESULTS_MS, true);
	um_buf_free(&refund);
	return UM_REFUSAL_NONE;
}

/* confirm_claim, release_claim */

enum um_refusal
um_confirm_claim_plan(const struct um_context *context, struct um_exchange *ex)
{
	struct lease *lease = begin(context, ex);
	struct um_buf *args;

	if (lease == NULL)
		return UM_REFUSAL_NONE;
	read_fence(lease, UM_REQUIRED);
	if (!um_api_end(&lease->request))
		return UM_REFUSAL_NONE;
	args = um_api_request_call(ex, &um_call_confirm_claim, &lease->owner,
		answer_true);
	um_array_put_int64(args, lease->fence, true);
	um_array_put_int64(args, UM_KEEP_RESULTS_MS, true);
	return UM_REFUSAL_NONE;
}

/* True, or the lease is lost. */
static enum um_refusal
answer_true(const struct um_context *context, struct um_exchange *ex)
{
	(void)context;
	return um_call_is(&ex->op, 0, 0, "t") ? answer_empty(ex)
					      : answer_lost(ex);
}

enum um_refusal
um_release_claim_plan(const struct um_context *context, struct um_exchange *ex)
{
	struct lease *lease = begin(context, ex);

	if (lease == NULL)
		return UM_REFUSAL_NONE;
	lease->reason = um_str("exchange_failed");
	read_fence(lease, UM_OPTIONAL);
	if (um_reader_get(&lease->request.root, "fence") == NULL)
		um_api_read_reason(&lease->request.root, &lease->reason);
	if (!um_api_end(&lease->request))
		return UM_REFUSAL_NONE;
	if (!lease->has_fence)
		return end_exchange(ex, lease->reason);
	um_array_put_int64(um_api_request_call(ex, &um_call_release_claim,
				   &lease->owner, answer_true),
		lease->fence, true);
	return UM_REFUSAL_NONE;
}
