/* SPDX-License-Identifier: MIT */
#include "api/ask_back.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/calls.h"
#include "api/price.h"
#include "api/request.h"
#include "contract/limits.h"
#include "contract/words.h"
#include "core/encode.h"
#include "core/json_canonical.h"
#include "core/json_put.h"
#include "crypto/seal.h"
#include "form/schema.h"
#include "postgres/array.h"

struct ask_back {
	struct um_api_request request;
	struct um_api_owner owner;
	int32_t lease, rechecks;
	bool failed, has_entries;
	struct um_buf payments, refunds; /* JSON, as the function takes them */
};

static um_step checked, answered, put_none;

static void
free_ask_back(void *own)
{
	struct ask_back *ask = own;

	um_api_request_free(&ask->request);
	um_buf_free(&ask->payments);
	um_buf_free(&ask->refunds);
	free(ask);
}

/* The number before or after the hyphen. */
static bool
take_number(struct um_str *text, int32_t *out)
{
	struct um_str part = um_str_cut(text, "-");
	int64_t value = 0;

	if (part.len == 0 || part.len > 9)
		return false;
	for (size_t i = 0; i < part.len; i++) {
		if (part.ptr[i] < '0' || part.ptr[i] > '9')
			return false;
		value = value * 10 + (part.ptr[i] - '0');
	}
	*out = (int32_t)value;
	return true;
}

/* `lease`, as `wait` has given it: a check has one number, a recheck two. */
static struct ask_back *
begin(const struct um_context *context, struct um_exchange *ex, bool is_check)
{
	struct ask_back *ask = um_api_begin(context, ex, sizeof(*ask),
		free_ask_back);
	struct um_str lease;

	if (ask == NULL)
		return NULL;
	um_api_read_owner(&ask->request, context, &ask->owner);
	if (um_reader_text(&ask->request.root, "lease", UM_REQUIRED, 1, 32,
		    &lease)
		&& (!take_number(&lease, &ask->lease)
			|| (is_check ? lease.ptr != NULL
				     : !take_number(&lease, &ask->rechecks)
						|| lease.ptr != NULL)))
		um_reader_refuse(&ask->request.root, "lease",
			"lease must be one that wait has given");
	um_reader_bool(&ask->request.root, "failed", &ask->failed);
	return ask;
}

/* end_check */

/* { field, problem }, sealed for the page. */
static bool
seal_problem(struct um_buf *sealed, const struct um_context *context,
	struct ask_back *ask, const struct um_json_node *problem)
{
	struct um_json_node *schema = um_schema_of_forms();
	struct um_schema_fault fault = { "", "" };
	struct um_buf json = { 0 };
	uint8_t nonce[UM_NONCE_LEN];
	bool ok = schema != NULL;

	um_json_canonical(&json, problem);
	context->random(nonce, sizeof(nonce));
	if (ok && !um_schema_check(schema, "problem", problem, &fault))
		um_reader_refuse(&ask->request.root, "problem", "problem%s %s",
			fault.pointer, fault.must);
	else if (json.len > UM_PROBLEM_MAX)
		um_reader_refuse(&ask->request.root, "problem",
			"problem must have at most %d bytes as JSON",
			UM_PROBLEM_MAX);
	else
		ok = ok
			&& um_seal_put_for_page(sealed, um_buf_str(&json),
				UM_USE_PROBLEM, ask->owner.id,
				ask->owner.binding, context->keys, nonce);
	um_buf_free(&json);
	free(schema);
	return ok;
}

enum um_refusal
um_end_check_plan(const struct um_context *context, struct um_exchange *ex)
{
	struct ask_back *ask = begin(context, ex, true);
	const struct um_json_node *problem;
	struct um_buf sealed = { 0 };
	bool ok = true;

	if (ask == NULL)
		return UM_REFUSAL_NONE;
	problem = um_reader_get(&ask->request.root, "problem");
	if (problem != NULL && ask->failed)
		um_reader_refuse(&ask->request.root, "problem",
			"a check has a problem, or it has failed");
	if (problem != NULL)
		ok = seal_problem(&sealed, context, ask, problem);
	if (ok && um_api_end(&ask->request)) {
		struct um_buf *args = um_api_request_call(ex,
			&um_call_end_check, &ask->owner, checked);

		um_call_put_int(args, ask->lease, true);
		um_array_put(args, sealed.len != 0 ? sealed.ptr : NULL,
			sealed.len);
		um_call_put_bool(args, ask->failed);
	}
	um_buf_free(&sealed);
	return ok ? UM_REFUSAL_NONE : UM_REFUSAL_INTERNAL_ERROR;
}

static enum um_refusal
checked(const struct um_context *context, struct um_exchange *ex)
{
	struct um_buf *json;

	(void)context;
	if (um_call_is(&ex->op, 0, 0, "unknown"))
		return um_api_fail(ex, UM_API_ERROR_NOT_FOUND, NULL, NULL);
	if (um_call_is(&ex->op, 0, 0, "late"))
		return um_api_fail(ex, UM_API_ERROR_LOST, NULL, NULL);
	json = um_api_answer(ex, 200, "ok");
	um_json_put_member(json, "outcome",
		um_str(um_call_text(&ex->op, 0, 0)));
	um_json_put_end(json);
	return UM_REFUSAL_NONE;
}

/* end_recheck */

static void
put_given(struct um_buf *json, const char *name, struct um_str text)
{
	if (text.ptr != NULL)
		um_json_put_member(json, name, text);
}

/* The result of a payment: what an event would have told, sealed, in base64. */
static bool
put_result(struct um_buf *json, const struct um_context *context,
	const struct ask_back *ask, struct um_str reference, int64_t amount,
	const char *currency)
{
	struct um_buf result = { 0 }, sealed = { 0 };
	uint8_t nonce[UM_NONCE_LEN];
	bool ok;

	um_json_put_begin(&result);
	um_json_put_member(&result, "reference", reference);
	um_json_put_key(&result, um_str("amount"));
	um_json_put_int(&result, amount);
	um_json_put_member(&result, "currency", um_str(currency));
	um_json_put_end(&result);
	context->random(nonce, sizeof(nonce));
	ok = um_seal_put(&sealed, um_buf_str(&result), ask->owner.id,
		ask->owner.binding, context->keys, nonce);
	if (ok) {
		um_json_put_key(json, um_str("result"));
		um_buf_puts(json, "\"");
		um_base64_put(json, (const uint8_t *)sealed.ptr, sealed.len);
		um_buf_puts(json, "\"");
	}
	um_buf_free(&result);
	um_buf_free(&sealed);
	return ok;
}

/* A payment, or what went back of one. */
static bool
take_entry(struct um_buf *json, const struct um_context *context,
	const struct ask_back *ask, struct um_reader *reader, bool is_refund)
{
	static const char *const statuses[] = { UM_ENTRY_STATUS_WORDS, NULL };
	struct um_str reference = { 0 }, payment = { 0 }, text,
		      checkout = { 0 };
	uint8_t id[UM_UUID_LEN];
	char currency[4] = "";
	int64_t amount = 0;
	size_t status = 0;
	bool has_id;

	um_reader_text(reader, "reference", UM_REQUIRED, 1,
		UM_REFERENCE_BYTES_MAX, &reference);
	if (is_refund)
		um_reader_text(reader, "payment", UM_REQUIRED, 1,
			UM_REFERENCE_BYTES_MAX, &payment);
	um_reader_int(reader, "amount", UM_REQUIRED, 0, UM_SAFE_INTEGER,
		&amount);
	if (um_reader_text(reader, "currency",
		    is_refund ? UM_OPTIONAL : UM_REQUIRED, 3, 3, &text)
		&& !um_price_currency(currency, text))
		um_reader_refuse(reader, "currency",
			"currency must be a currency of ISO 4217");
	um_reader_choice(reader, "status", UM_REQUIRED, statuses, &status);
	um_reader_text(reader, "checkout", UM_OPTIONAL, 1,
		UM_REFERENCE_BYTES_MAX, &checkout);
	has_id = um_reader_uuid(reader, "id", UM_OPTIONAL, id);
	um_reader_end(reader);
	if (reader->fault->message[0] != '\0')
		return true;
	um_json_put_begin(json);
	put_given(json, "reference", reference);
	put_given(json, "payment", payment);
	um_json_put_key(json, um_str("amount"));
	um_json_put_int(json, amount);
	if (currency[0] != '\0')
		um_json_put_member(json, "currency", um_str(currency));
	um_json_put_member(json, "status", um_str(statuses[status]));
	put_given(json, "checkout", checkout);
	if (has_id)
		um_api_put_id(json, "elicitation_id", id);
	if (!is_refund
		&& !put_result(json, context, ask, reference, amount, currency))
		return false;
	um_json_put_end(json);
	return true;
}

/* Whether the member is there; *ok is false if OpenSSL failed. */
static bool
take_entries(struct um_buf *json, const struct um_context *context,
	struct ask_back *ask, const char *name, bool *ok)
{
	struct um_reader *root = &ask->request.root;
	const struct um_json_node *array, *one = NULL;
	size_t i = 0;
	bool has = um_reader_array(root, name, UM_OPTIONAL, 0, UM_ENTRIES_MAX,
		&array);

	um_buf_puts(json, "[");
	while (has && *ok && (one = um_json_next(array, one)) != NULL) {
		struct um_reader reader = um_reader_element(root, name, one, i);

		if (i++ != 0)
			um_buf_puts(json, ",");
		*ok = take_entry(json, context, ask, &reader,
			strcmp(name, "refunds") == 0);
	}
	um_buf_puts(json, "]");
	return has;
}

enum um_refusal
um_end_recheck_plan(const struct um_context *context, struct um_exchange *ex)
{
	struct ask_back *ask = begin(context, ex, false);
	struct um_buf *args;
	bool ok = true;

	if (ask == NULL)
		return UM_REFUSAL_NONE;
	ask->has_entries = take_entries(&ask->payments, context, ask,
		"payments", &ok);
	ask->has_entries |= take_entries(&ask->refunds, context, ask, "refunds",
		&ok);
	if (ask->has_entries && ask->failed)
		um_reader_refuse(&ask->request.root, "failed",
			"a recheck has an answer, or it has failed");
	if (!ok)
		return UM_REFUSAL_INTERNAL_ERROR;
	if (!um_api_end(&ask->request))
		return UM_REFUSAL_NONE;
	args = um_api_request_call(ex,
		ask->has_entries ? &um_call_answer_recheck
				 : &um_call_end_recheck,
		&ask->owner, answered);
	um_call_put_int(args, ask->lease, true);
	um_call_put_int(args, ask->rechecks, true);
	if (ask->has_entries) {
		um_array_put_json(args, um_buf_str(&ask->payments));
		um_array_put_json(args, um_buf_str(&ask->refunds));
	} else {
		um_call_put_bool(args, ask->failed);
	}
	return UM_REFUSAL_NONE;
}

/* What each payment, and then each refund, has done. */
static enum um_refusal
put_outcomes(struct um_exchange *ex, int len)
{
	const struct ask_back *ask = ex->own;
	struct um_buf *json = um_api_answer(ex, 200, "ok");

	if (ask->has_entries) {
		um_json_put_key(json, um_str("outcomes"));
		um_buf_puts(json, "[");
		for (int row = 0; row < len; row++) {
			if (row != 0)
				um_buf_puts(json, ",");
			um_json_put_string(json,
				um_str(um_call_text(&ex->op, row, 0)));
		}
		um_buf_puts(json, "]");
	}
	um_json_put_end(json);
	return UM_REFUSAL_NONE;
}

static enum um_refusal
answered(const struct um_context *context, struct um_exchange *ex)
{
	const struct ask_back *ask = ex->own;

	(void)context;
	/* Without entries the function does not say whether there is a row. */
	return ask->has_entries && ex->op.rows_len != 0
		? put_outcomes(ex, ex->op.rows_len)
		: um_api_look_up(ex, &ask->owner, put_none);
}

static enum um_refusal
put_none(const struct um_context *context, struct um_exchange *ex)
{
	(void)context;
	return put_outcomes(ex, 0);
}
