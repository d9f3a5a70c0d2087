/* SPDX-License-Identifier: MIT */
#include "webhook/challenge.h"

#include <stdlib.h>
#include <string.h>

#include "core/json_put.h"

void
um_challenge_free(struct um_challenge *challenge)
{
	um_conditions_free(&challenge->when);
	for (size_t i = 0; i < challenge->len; i++) {
		free(challenge->member[i].name);
		um_expr_free(&challenge->member[i].value);
	}
	*challenge = (struct um_challenge){ 0 };
}

static bool
load_json(struct um_challenge *challenge, const struct um_conf_loc *at,
	json_t *object, const struct um_expr_scope *scope)
{
	const char *key;
	json_t *value;

	if (json_object_size(object) == 0
		|| json_object_size(object) > UM_CHALLENGE_MEMBERS_MAX)
		return um_conf_error(at, "is not an object of 1 to %d values",
			UM_CHALLENGE_MEMBERS_MAX);
	json_object_foreach (object, key, value) {
		struct um_challenge_member *member =
			&challenge->member[challenge->len++];

		if (!um_conf_copy_text(at, key, &member->name)
			|| !um_expr_load(&member->value, at, object, key,
				scope))
			return false;
	}
	return true;
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
	return um_expr_load(&challenge->member[0].value, at, answer, "text",
		&inner);
}

bool
um_challenge_load(struct um_challenge *challenge, const struct um_conf_loc *at,
	json_t *node, const struct um_expr_scope *scope)
{
	static const char *const keys[] = { "method", "when", "answer", NULL };
	static const char *const methods[] = { "GET", "POST", NULL };
	struct um_conf_loc when = um_conf_member(at, "when");
	struct um_conf_loc answer = um_conf_member(at, "answer");
	unsigned method;

	if (node == NULL)
		return true;
	challenge->exists = true;
	if (!um_conf_check_keys(at, node, keys)
		|| !um_conf_get_choice(at, node, "method", methods, &method))
		return false;
	challenge->is_get = method == 0;
	return um_conditions_load(&challenge->when, &when,
		       json_object_get(node, "when"), scope)
		&& load_answer(challenge, &answer,
			json_object_get(node, "answer"), scope);
}

static bool
is_harmless(struct um_str text)
{
	static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "abcdefghijklmnopqrstuvwxyz0123456789"
				      "._~+/=|-";

	for (size_t i = 0; i < text.len; i++)
		if (memchr(allowed, text.ptr[i], sizeof(allowed) - 1) == NULL)
			return false;
	return text.len != 0 && text.len <= UM_CHALLENGE_TEXT_MAX;
}

/* The value of a member, if it may be sent. */
static bool
put_value(const struct um_expr *value, struct um_parsed_delivery *parsed,
	struct um_buf *out)
{
	return um_expr_eval(value, parsed, out) == UM_FOUND && !out->failed
		&& is_harmless(um_buf_str(out));
}

bool
um_challenge_answer(const struct um_challenge *challenge,
	struct um_parsed_delivery *parsed, struct um_reply *reply)
{
	bool ok = um_conditions_hold(&challenge->when, parsed);

	if (!ok)
		return false;
	if (challenge->is_json)
		um_json_put_begin(&reply->body);
	for (size_t i = 0; i < challenge->len && ok; i++) {
		const struct um_challenge_member *member =
			&challenge->member[i];
		struct um_buf text = { 0 };

		ok = put_value(&member->value, parsed, &text);
		if (challenge->is_json)
			um_json_put_member(&reply->body, member->name,
				um_buf_str(&text));
		else
			um_buf_put(&reply->body, text.ptr, text.len);
		um_buf_free(&text);
	}
	if (challenge->is_json)
		um_json_put_end(&reply->body);
	reply->content_type = challenge->is_json ? "application/json"
						 : "text/plain; charset=utf-8";
	reply->given = ok && !reply->body.failed;
	if (!reply->given)
		um_buf_free(&reply->body);
	return reply->given;
}
