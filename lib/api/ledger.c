/* SPDX-License-Identifier: MIT */
#include "api/ledger.h"

#include <stdlib.h>

#include "api/calls.h"
#include "api/request.h"
#include "contract/limits.h"
#include "core/json_put.h"
#include "postgres/array.h"

#define WORD "abcdefghijklmnopqrstuvwxyz0123456789-_"
#define DIGITS_MAX 18 /* of each number of a cursor */

struct ledger {
	struct um_api_request request;
	struct um_str consumer;
	bool goes_on, has_since;
	int64_t lease, number; /* of the cursor, if it goes on */
	int64_t lease_ms, limit, since_ms;
};

static um_step read_entries;

static void
free_ledger(void *own)
{
	struct ledger *ledger = own;

	um_api_request_free(&ledger->request);
	free(ledger);
}

/* The number before the point, or the rest. */
static bool
take_number(struct um_str *text, int64_t *out)
{
	struct um_str part = um_str_cut(text, ".");

	*out = 0;
	if (part.len == 0 || part.len > DIGITS_MAX)
		return false;
	for (size_t i = 0; i < part.len; i++) {
		if (part.ptr[i] < '0' || part.ptr[i] > '9')
			return false;
		*out = *out * 10 + (part.ptr[i] - '0');
	}
	return true;
}

static void
read_cursor(struct ledger *ledger)
{
	struct um_reader *root = &ledger->request.root;
	struct um_str after;

	ledger->goes_on = um_reader_text(root, "after", UM_OPTIONAL, 1,
		2 * DIGITS_MAX + 1, &after);
	if (ledger->goes_on
		&& (!take_number(&after, &ledger->lease)
			|| !take_number(&after, &ledger->number)
			|| after.ptr != NULL))
		um_reader_refuse(root, "after",
			"after must be what ledger has given as next");
}

enum um_refusal
um_ledger_plan(const struct um_context *context, struct um_exchange *ex)
{
	struct ledger *ledger = um_api_begin(context, ex, sizeof(*ledger),
		free_ledger);
	struct um_buf *args = &ex->op.args;
	struct um_reader *root;

	if (ledger == NULL)
		return UM_REFUSAL_NONE;
	root = &ledger->request.root;
	um_reader_word(root, "consumer", UM_REQUIRED, UM_CONSUMER_MAX, WORD,
		&ledger->consumer);
	read_cursor(ledger);
	ledger->lease_ms = UM_LEDGER_LEASE_MS;
	um_reader_int(root, "lease_ms", UM_OPTIONAL, UM_CLAIM_LEASE_MIN_MS,
		UM_CLAIM_LEASE_MAX_MS, &ledger->lease_ms);
	ledger->limit = UM_LEDGER_PAGE_MAX;
	um_reader_int(root, "limit", UM_OPTIONAL, 1, UM_LEDGER_PAGE_MAX,
		&ledger->limit);
	ledger->has_since = um_api_read_since(root, &ledger->since_ms);
	if (!um_api_end(&ledger->request))
		return UM_REFUSAL_NONE;
	um_api_call(ex, &um_call_page_of_ledger_since, NULL, read_entries);
	um_array_put_text(args, ledger->request.tenant);
	um_call_put_str(args, ledger->consumer);
	um_array_put_int64(args, ledger->lease, ledger->goes_on);
	um_array_put_int64(args, ledger->number, ledger->goes_on);
	um_call_put_time(args, ledger->since_ms * 1000, ledger->has_since);
	um_array_put_int64(args, ledger->lease_ms, true);
	um_call_put_int(args, (int32_t)ledger->limit, true);
	ex->op.reads = (unsigned)ledger->limit;
	return UM_REFUSAL_NONE;
}

static enum um_refusal
read_entries(const struct um_context *context, struct um_exchange *ex)
{
	int len = ex->op.rows_len;
	struct um_buf *json;

	(void)context;
	if (len != 0
		&& um_call_is(&ex->op, 0, UM_PAGE_OF_LEDGER_SINCE_OUTCOME,
			"leased"))
		return um_api_fail_leased(ex, UM_API_ERROR_LEASED,
			um_call_int(&ex->op, 0,
				UM_PAGE_OF_LEDGER_SINCE_WAIT_MS));
	if (len != 0
		&& um_call_is(&ex->op, 0, UM_PAGE_OF_LEDGER_SINCE_OUTCOME,
			"lost"))
		return um_api_fail(ex, UM_API_ERROR_LOST, NULL, NULL);
	if (len != 0
		&& um_call_is(&ex->op, 0, UM_PAGE_OF_LEDGER_SINCE_OUTCOME,
			"full"))
		return um_api_fail(ex, UM_API_ERROR_FULL,
			"The ledger has too many consumers.", "consumer");
	json = um_api_answer(ex, 200, "ok");
	um_api_put_page(json, &ex->op, UM_PAGE_OF_LEDGER_SINCE_ITEM,
		len != 0 ? um_call_text(&ex->op, len - 1,
			UM_PAGE_OF_LEDGER_SINCE_CURSOR)
			 : NULL);
	um_json_put_end(json);
	return UM_REFUSAL_NONE;
}
