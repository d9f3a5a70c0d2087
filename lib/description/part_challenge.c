/* SPDX-License-Identifier: MIT */
/* Compiles the `challenge` of a description. */
#include "core/json_put.h"
#include "description/condition_load.h"
#include "description/part_load.h"

/* Ends a piece: the text so far, before its value. */
static bool
set_text(struct um_challenge_piece *piece, const struct um_conf_loc *at,
	struct um_buf *text)
{
	bool ok;

	um_buf_put(text, "", 1);
	ok = text->failed ? um_conf_error(at, "out of memory")
			  : um_conf_copy_text(at, text->ptr, &piece->text);
	um_buf_clear(text);
	return ok;
}

/* A member: a number as it stands there, or a value between quotes. */
static bool
add_member(struct um_challenge *challenge, const struct um_conf_loc *at,
	json_t *object, const char *key, struct um_buf *text,
	const struct um_expr_scope *scope)
{
	const json_t *value = json_object_get(object, key);
	struct um_challenge_piece *piece;

	um_json_put_key(text, um_str(key));
	if (json_is_integer(value)) {
		um_json_put_int(text, json_integer_value(value));
		return true;
	}
	um_buf_puts(text, "\"");
	piece = &challenge->piece[challenge->len++];
	if (!set_text(piece, at, text)
		|| !um_expr_load(&piece->value, at, object, key, scope))
		return false;
	um_buf_puts(text, "\"");
	return true;
}

/* An object. Its values need no escape (um_challenge_answer()). */
static bool
load_json(struct um_challenge *challenge, const struct um_conf_loc *at,
	json_t *object, const struct um_expr_scope *scope)
{
	struct um_buf text = { 0 };
	const char *key;
	json_t *value;
	bool ok = true;

	if (json_object_size(object) == 0
		|| json_object_size(object) > UM_CHALLENGE_MEMBERS_MAX)
		return um_conf_error(at,
			"is not an object of 1 to %d values or whole numbers",
			UM_CHALLENGE_MEMBERS_MAX);
	um_json_put_begin(&text);
	json_object_foreach (object, key, value)
		ok = ok && add_member(challenge, at, object, key, &text, scope);
	um_json_put_end(&text);
	ok = ok && set_text(&challenge->piece[challenge->len++], at, &text);
	um_buf_free(&text);
	return ok;
}

static bool
load_answer(struct um_challenge *challenge, const struct um_conf_loc *at,
	json_t *answer, const struct um_expr_scope *scope)
{
	static const char *const keys[] = { "text", "json", NULL };
	struct um_conf_loc members = um_conf_member(at, "json");
	json_t *json = json_object_get(answer, "json");
	struct um_expr_scope inner = *scope;

	if (answer == NULL)
		return um_conf_error(at, "is missing");
	if (!um_conf_check_keys(at, answer, keys))
		return false;
	if (json_object_size(answer) != 1)
		return um_conf_error(at, "must have either `text` or `json`");
	inner.has_mac = true;
	challenge->is_json = json != NULL;
	if (challenge->is_json)
		return load_json(challenge, &members, json, &inner);
	challenge->len = 1;
	return um_conf_copy_text(at, "", &challenge->piece[0].text)
		&& um_expr_load(&challenge->piece[0].value, at, answer, "text",
			&inner);
}

bool
um_spec_part_load_challenge(struct um_spec_part *part,
	const struct um_conf_loc *at, const json_t *root,
	const struct um_expr_scope *scope)
{
	static const char *const keys[] = { "method", "signed", "when",
		"answer", NULL };
	static const char *const methods[] = { "GET", "POST", NULL };
	struct um_conf_loc here = um_conf_member(at, "challenge");
	struct um_conf_loc when = um_conf_member(&here, "when");
	struct um_conf_loc answer = um_conf_member(&here, "answer");
	struct um_challenge *challenge = &part->challenge;
	json_t *node = json_object_get(root, "challenge");
	bool is_signed = true;
	unsigned method;

	if (node == NULL)
		return true;
	challenge->exists = true;
	if (!um_conf_check_keys(&here, node, keys)
		|| !um_conf_get_choice(&here, node, "method", methods, &method))
		return false;
	challenge->is_get = method == 0;
	if (!um_conf_get_bool(&here, node, "signed", &is_signed))
		return false;
	challenge->is_unsigned = !is_signed;
	if (challenge->is_unsigned && challenge->is_get)
		return um_conf_member_error(&here, "signed",
			"is only for a POST: a GET is never signed");
	return um_conditions_load(&challenge->when, &when,
		       json_object_get(node, "when"), scope)
		&& load_answer(challenge, &answer,
			json_object_get(node, "answer"), scope);
}
