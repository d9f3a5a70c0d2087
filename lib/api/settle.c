/* SPDX-License-Identifier: MIT */
#include "api/settle.h"

#include <stdlib.h>
#include <string.h>

#include "api/calls.h"
#include "api/price.h"
#include "api/request.h"
#include "contract/limits.h"
#include "contract/texts.h"
#include "contract/words.h"
#include "core/json_canonical.h"
#include "core/json_put.h"
#include "crypto/seal.h"
#include "postgres/array.h"

/* What a call says of the outcome. */
struct settle {
	struct um_api_request request;
	struct um_api_owner owner;
	size_t action; /* of `actions` */
	struct um_str reason, reference;
	bool has_amount;
	int64_t amount;
	char currency[4];     /* or "" */
	struct um_buf result; /* JSON, or empty */
};

static const char *const actions[] = { UM_ACTION_WORDS, NULL };
enum action { ACCEPT, DECLINE, CANCEL };

static um_step settled, abandoned;

static void
free_settle(void *own)
{
	struct settle *settle = own;

	um_api_request_free(&settle->request);
	um_buf_free(&settle->result);
	free(settle);
}

static struct settle *
begin(const struct um_context *context, struct um_exchange *ex,
	const char *reason)
{
	struct settle *settle = um_api_begin(context, ex, sizeof(*settle),
		free_settle);

	if (settle == NULL)
		return NULL;
	um_api_read_owner(&settle->request, context, &settle->owner);
	settle->action = CANCEL;
	settle->reason = um_str(reason);
	um_api_read_reason(&settle->request.root, &settle->reason);
	return settle;
}

static void
read_payment(struct settle *settle)
{
	struct um_reader *root = &settle->request.root;
	struct um_str currency;

	settle->has_amount = um_reader_int(root, "amount", UM_OPTIONAL, 0,
		UM_SAFE_INTEGER, &settle->amount);
	if (um_reader_text(root, "currency", UM_OPTIONAL, 3, 3, &currency)
		&& !um_price_currency(settle->currency, currency))
		um_reader_refuse(root, "currency",
			"currency must be a currency of ISO 4217");
	um_reader_text(root, "reference", UM_OPTIONAL, 1,
		UM_REFERENCE_BYTES_MAX, &settle->reference);
}

static void
read_result(struct settle *settle)
{
	struct um_reader *root = &settle->request.root, result;

	if (!um_reader_object(root, "result", UM_OPTIONAL, &result))
		return;
	um_json_canonical(&settle->result, result.object);
	if (settle->result.len > UM_RESULT_MAX - UM_SEAL_OVERHEAD)
		um_reader_refuse(root, "result", UM_TEXT_RESULT_TOO_LARGE,
			UM_RESULT_MAX - UM_SEAL_OVERHEAD);
}

static enum um_refusal
request_settle(const struct um_context *context, struct um_exchange *ex)
{
	struct settle *settle = ex->own;
	struct um_buf *args, sealed = { 0 };
	uint8_t nonce[UM_NONCE_LEN];
	bool ok = true;

	context->random(nonce, sizeof(nonce));
	if (settle->result.len != 0)
		ok = um_seal_put(&sealed, um_buf_str(&settle->result),
			settle->owner.id, settle->owner.binding, context->keys,
			nonce);
	args = um_api_request_call(ex, &um_call_settle, &settle->owner,
		settled);
	um_array_put_text(args, actions[settle->action]);
	um_call_put_str(args, settle->reason);
	um_array_put(args, sealed.len != 0 ? sealed.ptr : NULL, sealed.len);
	um_array_put_int64(args, settle->amount, settle->has_amount);
	um_array_put_known(args, settle->currency);
	um_call_put_str(args, settle->reference);
	um_buf_free(&sealed);
	return ok ? UM_REFUSAL_NONE : UM_REFUSAL_INTERNAL_ERROR;
}

enum um_refusal
um_complete_plan(const struct um_context *context, struct um_exchange *ex)
{
	struct settle *settle = begin(context, ex, "");

	if (settle == NULL)
		return UM_REFUSAL_NONE;
	um_reader_choice(&settle->request.root, "action", UM_REQUIRED, actions,
		&settle->action);
	read_result(settle);
	read_payment(settle);
	return um_api_end(&settle->request) ? request_settle(context, ex)
					    : UM_REFUSAL_NONE;
}

enum um_refusal
um_cancel_plan(const struct um_context *context, struct um_exchange *ex)
{
	struct settle *settle = begin(context, ex, "cancelled");

	if (settle == NULL || !um_api_end(&settle->request))
		return UM_REFUSAL_NONE;
	return request_settle(context, ex);
}

static enum um_refusal
put_outcome(struct um_exchange *ex, const char *outcome)
{
	struct um_buf *json = um_api_answer(ex, 200, "ok");

	um_json_put_member(json, "outcome", um_str(outcome));
	um_json_put_end(json);
	return UM_REFUSAL_NONE;
}

static enum um_refusal
settled(const struct um_context *context, struct um_exchange *ex)
{
	static const struct {
		const char *outcome;
		enum um_api_error error;
		const char *message, *member;
	} refused[] = {
		{ "unknown", UM_API_ERROR_NOT_FOUND, NULL, NULL },
		{ "mismatch", UM_API_ERROR_MISMATCH, NULL, NULL },
		{ "reference_taken", UM_API_ERROR_REFERENCE_TAKEN, NULL, NULL },
		{ "undecided", UM_API_ERROR_UNDECIDED, NULL, NULL },
		{ "missing", UM_API_ERROR_INVALID_REQUEST,
			"to accept a payment, amount, currency and reference "
			"are required: what was paid, according to the "
			"provider",
			"reference" },
	};

	(void)context;
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
		if (um_call_is(&ex->op, 0, 0, refused[i].outcome))
			return um_api_fail(ex, refused[i].error,
				refused[i].message, refused[i].member);
	return put_outcome(ex, um_call_text(&ex->op, 0, 0));
}

enum um_refusal
um_abandon_plan(const struct um_context *context, struct um_exchange *ex)
{
	static const char *const words[] = { UM_END_ACTION_WORDS, NULL };
	struct settle *settle = begin(context, ex, "abandoned");
	struct um_buf *args;
	size_t word = 1;

	if (settle == NULL)
		return UM_REFUSAL_NONE;
	um_reader_choice(&settle->request.root, "action", UM_OPTIONAL, words,
		&word);
	if (!um_api_end(&settle->request))
		return UM_REFUSAL_NONE;
	args = um_api_request_call(ex, &um_call_abandon, &settle->owner,
		abandoned);
	um_array_put_text(args, words[word]);
	um_call_put_str(args, settle->reason);
	return UM_REFUSAL_NONE;
}

/* completed, already, or the status in which it stays. */
static enum um_refusal
abandoned(const struct um_context *context, struct um_exchange *ex)
{
	(void)context;
	if (um_call_is(&ex->op, 0, 0, "unknown"))
		return um_api_fail(ex, UM_API_ERROR_NOT_FOUND, NULL, NULL);
	return put_outcome(ex, um_call_text(&ex->op, 0, 0));
}
