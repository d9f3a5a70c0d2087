/* SPDX-License-Identifier: MIT */
#include "api/shown.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/calls.h"
#include "api/put.h"
#include "core/clock.h"
#include "core/encode.h"
#include "core/json_canonical.h"
#include "core/json_put.h"
#include "crypto/seal.h"

#define LEASE_RETRY_MS 1000 /* where another one has the lease */

bool
um_shown_is_claimable(struct um_str kind)
{
	return um_str_is(kind, "payment") || um_str_is(kind, "input");
}

bool
um_shown_read(struct um_shown *shown, const struct um_op *op, int row)
{
	*shown = (struct um_shown){
		.is_completed = um_call_is(op, row, UM_READ_WAITING_STATUS,
			"completed"),
		.awaits_check = um_call_is(op, row, UM_READ_WAITING_KIND,
					"input")
			&& um_call_is(op, row, UM_READ_WAITING_STATUS,
				"processing"),
		.awaits_recheck = um_call_is(op, row,
			UM_READ_WAITING_AWAITS_RECHECK, "t"),
		.recheck_in_ms = um_call_int(op, row,
			UM_READ_WAITING_RECHECK_IN_MS),
		.closes_in_ms = um_call_int(op, row,
			UM_READ_WAITING_CLOSES_IN_MS),
	};
	shown->is_claimable = shown->is_completed
		&& um_shown_is_claimable(
			um_str(um_call_text(op, row, UM_READ_WAITING_KIND)));
	return um_uuid_parse(shown->id,
		um_str(um_call_text(op, row, UM_READ_WAITING_ID)));
}

bool
um_shown_is_overdue(const struct um_shown *shown)
{
	return !shown->is_completed && shown->closes_in_ms <= 0;
}

int64_t
um_shown_due_at(const struct um_shown *shown,
	struct um_watched_element *element, int64_t now)
{
	int64_t at = now + UM_WATCHED_ROUTINE_MS;

	/* One that does not expire although it should is asked for again. */
	if (!shown->is_completed)
		at = um_deadline_earlier(at,
			now
				+ (um_shown_is_overdue(shown)
						? UM_WAIT_POLL_MS
						: shown->closes_in_ms));
	/* Those who cannot be asked do not look more often for its sake. */
	element->due_at = -1;
	if (element->can_check && shown->awaits_check)
		element->due_at = now + LEASE_RETRY_MS;
	if (element->can_recheck && shown->awaits_recheck)
		element->due_at = um_deadline_earlier(element->due_at,
			now
				+ (shown->recheck_in_ms > 0
						? shown->recheck_in_ms
						: LEASE_RETRY_MS));
	return at;
}

/* Opens what is sealed in a column; no bytes: it has none. */
static bool
open_column(struct um_buf *out, struct um_buf *sealed,
	const struct um_context *context, const struct um_op *op, int row,
	int column, const uint8_t *id, const uint8_t *binding)
{
	if (um_call_text(op, row, column) == NULL)
		return true;
	return um_call_bytes(op, row, column, sealed)
		&& (column == UM_READ_WAITING_RESULT
				? um_seal_open(out, um_buf_str(sealed), id,
					binding, context->keys)
				: um_seal_open_for_page(out, um_buf_str(sealed),
					UM_USE_VERIFIER, id, binding,
					context->keys));
}

/* A text, or null. */
static void
put_text(struct um_buf *json, const char *name, struct um_str text)
{
	um_json_put_key(json, um_str(name));
	if (text.ptr != NULL)
		um_json_put_string(json, text);
	else
		um_json_put_null(json);
}

/* What is JSON already, or null. */
static void
put_json(struct um_buf *json, const char *name, struct um_str text)
{
	um_json_put_key(json, um_str(name));
	if (text.len != 0)
		um_buf_put(json, text.ptr, text.len);
	else
		um_json_put_null(json);
}

/* The verifier and the nonce, which are only of use with a code. */
static void
put_verifier(struct um_buf *json, struct um_str verifier)
{
	static const char *const names[] = { "code_verifier", "nonce" };
	struct um_json_node *root = verifier.len != 0
		? um_json_parse(verifier, 16, NULL)
		: NULL;

	for (size_t i = 0; i < 2; i++) {
		const struct um_json_node *node = um_json_member(root,
			um_str(names[i]));

		put_text(json, names[i],
			um_json_is(node, UM_JSON_STRING) ? um_json_str(node)
							 : um_str(NULL));
	}
	free(root);
}

void
um_shown_put_columns(struct um_buf *json, uint8_t digest[static UM_SEEN_BYTES],
	const uint8_t id[static UM_UUID_LEN],
	const struct um_shown_columns *columns, const struct um_keys *keys)
{
	char seen[UM_SEEN_LEN + 1];
	size_t begin = json->len;

	um_json_put_begin(json);
	um_api_put_id(json, "id", id);
	put_text(json, "provider", columns->provider);
	put_text(json, "kind", columns->kind);
	put_text(json, "status", columns->status);
	put_text(json, "action", columns->action);
	put_text(json, "reason", columns->reason);
	put_json(json, "result", columns->result);
	put_verifier(json, columns->verifier);
	put_text(json, "reference", columns->reference);
	put_json(json, "amount", columns->amount);
	put_text(json, "currency", columns->currency);
	um_json_put_key(json, um_str("late"));
	um_json_put_bool(json, columns->late);
	um_json_put_key(json, um_str("failed_attempts"));
	um_json_put_int(json, columns->failed_attempts);
	put_text(json, "expires_at", columns->expires_at);
	um_digest_of(digest, keys, "seen",
		(struct um_str){ json->ptr + begin, json->len - begin });
	um_base64url_encode(seen, digest, UM_SEEN_BYTES);
	um_json_put_member(json, "seen", um_str(seen));
}

static struct um_str
column_of(const struct um_op *op, int row, int column)
{
	return um_str(um_call_text(op, row, column));
}

/* The columns that are not sealed. */
static void
read_columns(struct um_shown_columns *columns, const struct um_op *op, int row)
{
	columns->provider = column_of(op, row, UM_READ_WAITING_PROVIDER);
	columns->kind = column_of(op, row, UM_READ_WAITING_KIND);
	columns->status = column_of(op, row, UM_READ_WAITING_STATUS);
	columns->action = column_of(op, row, UM_READ_WAITING_ACTION);
	columns->reason = column_of(op, row, UM_READ_WAITING_REASON);
	columns->reference = column_of(op, row,
		UM_READ_WAITING_PAYMENT_REFERENCE);
	columns->amount = column_of(op, row, UM_READ_WAITING_AMOUNT);
	columns->currency = column_of(op, row, UM_READ_WAITING_CURRENCY);
	columns->late = um_call_is(op, row, UM_READ_WAITING_LATE, "t");
	columns->failed_attempts = um_call_int(op, row,
		UM_READ_WAITING_FAILED_ATTEMPTS);
}

bool
um_shown_put(struct um_shown *shown, struct um_buf *json,
	struct um_buf *verifier, const struct um_context *context,
	const struct um_op *op, int row,
	const uint8_t binding[static UM_BINDING_LEN])
{
	bool accepted = um_call_is(op, row, UM_READ_WAITING_ACTION, "accept");
	struct um_shown_columns columns = { .late = false };
	struct um_buf sealed = { 0 }, result = { 0 }, opened = { 0 };
	bool ok = true;

	if (shown->is_completed)
		ok = open_column(&result, &sealed, context, op, row,
			     UM_READ_WAITING_RESULT, shown->id, binding)
			&& (!accepted
				|| open_column(&opened, verifier, context, op,
					row, UM_READ_WAITING_VERIFIER,
					shown->id, binding));
	else
		um_call_bytes(op, row, UM_READ_WAITING_VERIFIER, verifier);
	if (ok) {
		char expires_at[UM_API_TIME_MAX];

		read_columns(&columns, op, row);
		columns.result = um_buf_str(&result);
		columns.verifier = um_buf_str(&opened);
		um_api_time_text(expires_at,
			um_call_int(op, row, UM_READ_WAITING_EXPIRES_AT));
		columns.expires_at = um_str(expires_at);
		um_shown_put_columns(json, shown->digest, shown->id, &columns,
			context->keys);
	}
	um_buf_free(&sealed);
	um_buf_free(&result);
	um_buf_free(&opened);
	return ok && !json->failed;
}

bool
um_shown_put_check(struct um_buf *json, const struct um_context *context,
	const struct um_op *op, const struct um_watched_element *element)
{
	struct um_buf sealed = { 0 }, result = { 0 };
	struct um_json_node *root = NULL;
	const struct um_json_node *values = NULL;

	if (um_call_bytes(op, 0, UM_TAKE_CHECK_RESULT, &sealed)
		&& um_seal_open(&result, um_buf_str(&sealed), element->id,
			element->binding, context->keys))
		root = um_json_parse(um_buf_str(&result), UM_JSON_VALUES_MAX,
			NULL);
	values = um_json_member(root, um_str("values"));
	if (values != NULL) {
		um_json_put_key(json, um_str("check"));
		um_json_put_begin(json);
		um_api_put_text(json, "lease",
			um_call_text(op, 0, UM_TAKE_CHECK_LEASE));
		um_json_put_key(json, um_str("values"));
		um_json_canonical(json, values);
		um_json_put_key(json, um_str("left_ms"));
		um_json_put_int(json,
			um_call_int(op, 0, UM_TAKE_CHECK_LEFT_MS));
		um_json_put_end(json);
	}
	free(root);
	um_buf_free(&sealed);
	um_buf_free(&result);
	return values != NULL;
}

void
um_shown_put_recheck(struct um_buf *json, const struct um_op *op)
{
	struct um_buf lease = { 0 };

	/* end_recheck needs to know which events were answered. */
	um_buf_cat(&lease, um_call_text(op, 0, UM_BEGIN_RECHECK_LEASE), "-",
		um_call_text(op, 0, UM_BEGIN_RECHECK_RECHECKS));
	um_json_put_key(json, um_str("recheck"));
	um_json_put_begin(json);
	um_json_put_member(json, "lease", um_buf_str(&lease));
	um_api_put_text(json, "provider",
		um_call_text(op, 0, UM_BEGIN_RECHECK_PROVIDER));
	um_api_put_text(json, "type",
		um_call_text(op, 0, UM_BEGIN_RECHECK_EVENT_TYPE));
	put_json(json, "references",
		column_of(op, 0, UM_BEGIN_RECHECK_UNPROVEN_REFERENCES));
	put_json(json, "expected", column_of(op, 0, UM_BEGIN_RECHECK_EXPECTED));
	um_api_put_text(json, "checkout",
		um_call_text(op, 0, UM_BEGIN_RECHECK_CHECKOUT));
	um_json_put_end(json);
	um_buf_free(&lease);
}
