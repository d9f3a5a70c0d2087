/* SPDX-License-Identifier: MIT */
#include "api/announced.h"

#include <stdlib.h>
#include <string.h>

#include "api/shown.h"
#include "contract/limits.h"
#include "core/encode.h"
#include "core/json_put.h"
#include "crypto/seal.h"

#define VALUES_MAX 4096 /* of an outcome, which has at most 2,600 bytes */

/* The sealed outcome of a notification of a row that has just ended. */
static const struct um_json_node *
outcome_of(const struct um_json_node *notification)
{
	const struct um_json_node *outcome = um_json_member(notification,
		um_str("outcome"));
	bool has_ended = um_json_string_eq(um_json_member(notification,
						   um_str("status")),
		um_str("completed"));

	/* What comes after the end changes what is shown in ways of its own. */
	return has_ended && um_json_is(outcome, UM_JSON_STRING)
			&& um_json_member(notification, um_str("late")) == NULL
			&& um_json_member(notification, um_str("refunded"))
				== NULL
		? outcome
		: NULL;
}

/* Opens it to `json`. */
static bool
open_outcome(struct um_buf *json, const struct um_watched_row *row,
	struct um_str outcome, const struct um_keys *keys)
{
	uint8_t sealed[UM_NOTIFIED_MAX];
	size_t len;

	return um_base64_decode(sealed, sizeof(sealed), &len, outcome)
		&& um_seal_open_outcome(json,
			(struct um_str){ (const char *)sealed, len }, row->id,
			row->binding, keys);
}

static struct um_str
text_of(const struct um_json_node *object, const char *name)
{
	const struct um_json_node *node = um_json_member(object, um_str(name));

	return um_json_is(node, UM_JSON_STRING) ? um_json_str(node)
						: um_str(NULL);
}

/*
 * The text of the result in an outcome, as it is in the row as well. Whoever seals
 * an outcome writes these members before it, and nothing behind it. No bytes: it is
 * not so.
 */
static struct um_str
result_of(const struct um_buf *json, const struct um_json_node *outcome,
	const struct um_shown_columns *columns)
{
	const struct um_json_node *node = um_json_member(outcome,
		um_str("result"));
	bool is_last = node != NULL
		&& node + node->size == outcome + outcome->size;
	struct um_str text = um_buf_str(json), result = { 0 };
	struct um_buf before = { 0 };

	um_json_put_begin(&before);
	um_json_put_member(&before, "action", columns->action);
	um_json_put_member(&before, "reason", columns->reason);
	if (columns->reference.len != 0)
		um_json_put_member(&before, "reference", columns->reference);
	um_json_put_key(&before, um_str("result"));
	if (is_last && !before.failed && text.len > before.len + 1
		&& memcmp(text.ptr, before.ptr, before.len) == 0
		&& text.ptr[text.len - 1] == '}')
		result = (struct um_str){ text.ptr + before.len,
			text.len - before.len - 1 };
	um_buf_free(&before);
	return result;
}

/* What is known of the row, with the outcome. */
static bool
read_columns(struct um_shown_columns *columns, const struct um_json_node *shown,
	const struct um_json_node *outcome, const struct um_buf *json)
{
	const struct um_json_node *attempts = um_json_member(shown,
		um_str("failed_attempts"));

	columns->provider = text_of(shown, "provider");
	columns->kind = text_of(shown, "kind");
	columns->status = um_str("completed");
	columns->expires_at = text_of(shown, "expires_at");
	if (um_json_is(attempts, UM_JSON_INTEGER))
		columns->failed_attempts = strtoll(attempts->text, NULL, 10);
	columns->action = text_of(outcome, "action");
	columns->reason = text_of(outcome, "reason");
	columns->reference = text_of(outcome, "reference");
	columns->result = result_of(json, outcome, columns);
	columns->reference = um_str(NULL); /* only a payment shows it */
	return columns->result.len != 0
		&& !um_shown_is_claimable(columns->kind);
}

/* The verifier that the code of an accept is of use with. */
static bool
open_verifier(struct um_buf *opened, const struct um_watched_row *row,
	struct um_str action, const struct um_keys *keys)
{
	struct um_str sealed = um_watched_verifier(row);

	return sealed.len == 0 || !um_str_is(action, "accept")
		|| um_seal_open_for_page(opened, sealed, UM_USE_VERIFIER,
			row->id, row->binding, keys);
}

/* The object as it was shown last. */
static struct um_json_node *
parse_object(const struct um_watched_row *row)
{
	struct um_str kept = um_watched_object(row);
	struct um_buf text = { 0 };
	struct um_json_node *object;

	um_buf_put(&text, kept.ptr, kept.len);
	um_json_put_end(&text);
	object = text.failed
		? NULL
		: um_json_parse(um_buf_str(&text), UM_JSON_VALUES_MAX, NULL);
	um_buf_free(&text);
	return object;
}

bool
um_announced_put(struct um_watched_state *state, struct um_buf *object,
	const struct um_watched_row *row,
	const struct um_json_node *notification, const struct um_keys *keys)
{
	const struct um_json_node *sealed = outcome_of(notification);
	struct um_shown_columns columns = { .late = false };
	struct um_json_node *shown = NULL, *outcome = NULL;
	struct um_buf json = { 0 }, verifier = { 0 };
	bool ok = sealed != NULL && row->kept != NULL && !row->is_completed
		&& open_outcome(&json, row, um_json_str(sealed), keys)
		&& (shown = parse_object(row)) != NULL
		&& (outcome = um_json_parse(um_buf_str(&json), VALUES_MAX,
			    NULL))
			!= NULL
		&& read_columns(&columns, shown, outcome, &json)
		&& open_verifier(&verifier, row, columns.action, keys);

	if (ok) {
		columns.verifier = um_buf_str(&verifier);
		*state = (struct um_watched_state){ .is_completed = true };
		um_shown_put_columns(object, state->digest, row->id, &columns,
			keys);
		state->object = um_buf_str(object);
		ok = !object->failed;
	}
	um_buf_free(&json);
	um_buf_free(&verifier);
	free(shown);
	free(outcome);
	return ok;
}
