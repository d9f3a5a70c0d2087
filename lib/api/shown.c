/* SPDX-License-Identifier: MIT */
#include "api/shown.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/request.h"
#include "core/encode.h"
#include "core/json_canonical.h"
#include "core/json_put.h"
#include "crypto/seal.h"
#include "postgres/call.h"

/* The columns of read_waiting. */
enum column {
	ID,
	PROVIDER,
	KIND,
	STATUS,
	ACTION,
	REASON,
	LATE,
	RESULT,
	VERIFIER,
	CLOSES_IN,
	FAILED_ATTEMPTS,
	AWAITS_RECHECK,
	RECHECK_IN,
	REFERENCE,
	AMOUNT,
	CURRENCY,
	EXPIRES
};

bool
um_shown_read(struct um_shown *shown, const struct um_op *op, int row)
{
	*shown = (struct um_shown){
		.is_completed = um_call_is(op, row, STATUS, "completed"),
		.awaits_check = um_call_is(op, row, KIND, "input")
			&& um_call_is(op, row, STATUS, "processing"),
		.awaits_recheck = um_call_is(op, row, AWAITS_RECHECK, "t"),
		.recheck_in_ms = um_call_int(op, row, RECHECK_IN),
		.closes_in_ms = um_call_int(op, row, CLOSES_IN),
	};
	return um_uuid_parse(shown->id, um_str(um_call_text(op, row, ID)));
}

/* Opens what is sealed in a column; it ends with a NUL. No bytes: it has none. */
static bool
open_column(struct um_buf *out, const struct um_context *context,
	const struct um_op *op, int row, int column, const uint8_t *id,
	const uint8_t *binding)
{
	struct um_buf sealed = { 0 };
	bool ok = true;

	if (um_call_text(op, row, column) == NULL)
		return true;
	ok = um_call_bytes(op, row, column, &sealed)
		&& (column == RESULT
				? um_seal_open(out, um_buf_str(&sealed), id,
					binding, context->keys)
				: um_seal_open_for_page(out,
					um_buf_str(&sealed), UM_USE_VERIFIER,
					id, binding, context->keys));
	um_buf_free(&sealed);
	return ok;
}

/* The verifier and the nonce, which are only of use with a code. */
static void
put_verifier(struct um_buf *json, const struct um_buf *verifier)
{
	static const char *const names[] = { "code_verifier", "nonce" };
	struct um_json_node *root = verifier->len != 0
		? um_json_parse(um_buf_str(verifier), 16, NULL)
		: NULL;

	for (size_t i = 0; i < 2; i++) {
		const struct um_json_node *node = um_json_member(root,
			um_str(names[i]));

		um_json_put_key(json, um_str(names[i]));
		if (um_json_is(node, UM_JSON_STRING))
			um_json_put_string(json, um_json_str(node));
		else
			um_json_put_null(json);
	}
	free(root);
}

static void
put_columns(struct um_buf *json, const struct um_op *op, int row)
{
	um_api_put_text(json, "reference", um_call_text(op, row, REFERENCE));
	um_json_put_key(json, um_str("amount"));
	if (um_call_text(op, row, AMOUNT) != NULL)
		um_json_put_int(json, um_call_int(op, row, AMOUNT));
	else
		um_json_put_null(json);
	um_api_put_text(json, "currency", um_call_text(op, row, CURRENCY));
	um_json_put_key(json, um_str("late"));
	um_json_put_bool(json, um_call_is(op, row, LATE, "t"));
	um_json_put_key(json, um_str("failed_attempts"));
	um_json_put_int(json, um_call_int(op, row, FAILED_ATTEMPTS));
	um_api_put_time(json, "expires_at", um_call_int(op, row, EXPIRES));
}

static void
put_seen(struct um_shown *shown, struct um_buf *json, size_t begin,
	const struct um_keys *keys)
{
	char seen[UM_SEEN_LEN + 1];

	um_digest_of(shown->digest, keys, "seen",
		(struct um_str){ json->ptr + begin, json->len - begin });
	um_base64url_encode(seen, shown->digest, sizeof(shown->digest));
	um_json_put_member(json, "seen", um_str(seen));
}

bool
um_shown_put(struct um_shown *shown, struct um_buf *json,
	const struct um_context *context, const struct um_op *op, int row,
	const uint8_t binding[static UM_BINDING_LEN])
{
	bool accepted = um_call_is(op, row, ACTION, "accept");
	struct um_buf result = { 0 }, verifier = { 0 };
	size_t begin = json->len;
	bool ok = !shown->is_completed
		|| (open_column(&result, context, op, row, RESULT, shown->id,
			    binding)
			&& (!accepted
				|| open_column(&verifier, context, op, row,
					VERIFIER, shown->id, binding)));

	if (ok) {
		um_json_put_begin(json);
		um_api_put_id(json, "id", shown->id);
		um_api_put_text(json, "provider",
			um_call_text(op, row, PROVIDER));
		um_api_put_text(json, "kind", um_call_text(op, row, KIND));
		um_api_put_text(json, "status", um_call_text(op, row, STATUS));
		um_api_put_text(json, "action", um_call_text(op, row, ACTION));
		um_api_put_text(json, "reason", um_call_text(op, row, REASON));
		um_json_put_key(json, um_str("result"));
		if (result.len != 0)
			um_buf_put(json, result.ptr, result.len);
		else
			um_json_put_null(json);
		put_verifier(json, &verifier);
		put_columns(json, op, row);
		put_seen(shown, json, begin, context->keys);
	}
	um_buf_free(&result);
	um_buf_free(&verifier);
	return ok && !json->failed;
}

bool
um_shown_put_check(struct um_buf *json, const struct um_context *context,
	const struct um_op *op, const struct um_watched_element *element)
{
	struct um_buf sealed = { 0 }, result = { 0 };
	struct um_json_node *root = NULL;
	const struct um_json_node *values = NULL;

	if (um_call_bytes(op, 0, 1, &sealed)
		&& um_seal_open(&result, um_buf_str(&sealed), element->id,
			element->binding, context->keys))
		root = um_json_parse(um_buf_str(&result), UM_JSON_VALUES_MAX,
			NULL);
	values = um_json_member(root, um_str("values"));
	if (values != NULL) {
		um_json_put_key(json, um_str("check"));
		um_json_put_begin(json);
		um_api_put_text(json, "lease", um_call_text(op, 0, 0));
		um_json_put_key(json, um_str("values"));
		um_json_canonical(json, values);
		um_json_put_key(json, um_str("left_ms"));
		um_json_put_int(json, um_call_int(op, 0, 2));
		um_json_put_end(json);
	}
	free(root);
	um_buf_free(&sealed);
	um_buf_free(&result);
	return values != NULL;
}

/* What is JSON already, or null. */
static void
put_json(struct um_buf *json, const char *name, const char *text)
{
	um_json_put_key(json, um_str(name));
	um_buf_puts(json, text != NULL ? text : "null");
}

void
um_shown_put_recheck(struct um_buf *json, const struct um_op *op)
{
	struct um_buf lease = { 0 };

	/* end_recheck needs to know which events were answered. */
	um_buf_cat(&lease, um_call_text(op, 0, 0), "-", um_call_text(op, 0, 1));
	um_json_put_key(json, um_str("recheck"));
	um_json_put_begin(json);
	um_json_put_member(json, "lease", um_buf_str(&lease));
	um_api_put_text(json, "type", um_call_text(op, 0, 2));
	put_json(json, "references", um_call_text(op, 0, 3));
	put_json(json, "expected", um_call_text(op, 0, 4));
	um_api_put_text(json, "checkout", um_call_text(op, 0, 5));
	um_json_put_end(json);
	um_buf_free(&lease);
}
