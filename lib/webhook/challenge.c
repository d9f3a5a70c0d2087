/* SPDX-License-Identifier: MIT */
#include "webhook/challenge.h"

#include <stdlib.h>
#include <string.h>

void
um_challenge_free(struct um_challenge *challenge)
{
	um_conditions_free(&challenge->when);
	for (size_t i = 0; i < challenge->len; i++) {
		free(challenge->piece[i].text);
		um_expr_free(&challenge->piece[i].value);
	}
	*challenge = (struct um_challenge){ 0 };
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

/* Puts a text of the description, and a value, if that may be sent. */
static bool
put_piece(struct um_buf *out, const struct um_challenge_piece *piece,
	const struct um_source *source)
{
	struct um_value value;
	enum um_found found = um_expr_eval(&piece->value, source, &value);
	bool ok = piece->value.kind == UM_EXPR_NONE
		|| (found == UM_FOUND && is_harmless(value.text));

	um_buf_puts(out, piece->text);
	if (ok)
		um_buf_put(out, value.text.ptr, value.text.len);
	um_value_free(&value);
	return ok;
}

bool
um_challenge_answer(const struct um_challenge *challenge,
	const struct um_source *source, struct um_reply *reply)
{
	struct um_value unread;
	bool ok = um_conditions_hold(&challenge->when, source, &unread)
		== UM_HOLDS;

	um_value_free(&unread);
	for (size_t i = 0; i < challenge->len && ok; i++)
		ok = put_piece(&reply->body, &challenge->piece[i], source);
	reply->content_type = challenge->is_json ? "application/json"
						 : "text/plain; charset=utf-8";
	reply->given = ok && !reply->body.failed;
	if (!reply->given)
		um_buf_free(&reply->body);
	return reply->given;
}
