/* SPDX-License-Identifier: MIT */
#include "app/fresh.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/session.h"
#include "crypto/sealed_text.h"
#include "http/header.h"

static void
put_context(struct um_buf *out, const struct um_context *context,
	struct um_str state)
{
	um_session_put_scope(out, context->config, "fresh");
	um_buf_put(out, "", 1);
	um_buf_put(out, state.ptr, state.len);
}

/* Gives the proof to the browser, for the page of this state. */
static bool
put_cookie(const struct um_context *context, struct um_exchange *ex,
	const char *path, struct um_str state, const char *user,
	const struct um_fresh *fresh)
{
	struct um_buf scope = { 0 }, text = { 0 }, cookie = { 0 };
	struct um_seal_purpose purpose = { .use = UM_USE_FRESH };
	uint8_t nonce[UM_NONCE_LEN];
	int64_t now = context->now_ms / 1000;
	int64_t expires = (fresh->at < now ? fresh->at : now) + UM_FRESH_S;
	bool ok;

	put_context(&scope, context, state);
	purpose.context = um_buf_str(&scope);
	um_buf_put(&text, user, strlen(user) + 1);
	um_buf_printf(&text, "%lld", (long long)fresh->at);
	um_buf_put(&text, "", 1);
	um_buf_puts(&text, fresh->how);
	context->random(nonce, sizeof(nonce));
	ok = !scope.failed && !text.failed
		&& um_sealed_text_put(&cookie, um_buf_str(&text), expires,
			context->keys, &purpose, nonce);
	if (ok && expires > now)
		um_response_cookie_of(&ex->response, path, UM_FRESH_COOKIE,
			um_buf_str(&cookie), expires - now, "Lax");
	um_buf_free(&scope);
	um_buf_free(&text);
	um_buf_free(&cookie);
	return ok;
}

bool
um_fresh_set(const struct um_context *context, struct um_exchange *ex,
	const struct um_buf *way, const struct um_id_token_user *user)
{
	struct um_str rest = um_buf_str(way);
	struct um_str route = um_str_cut(&rest, "?state=");
	struct um_fresh fresh = { .at = user->auth_time };

	if (rest.ptr == NULL)
		return false;
	snprintf(fresh.how, sizeof(fresh.how), "%s", user->how);
	return put_cookie(context, ex,
		um_str_take_prefix(&route, UM_FRESH_PATH) ? UM_FRESH_PATH
							  : UM_FRESH_LINK_PATH,
		um_str_cut(&rest, "&"), user->subject, &fresh);
}

void
um_fresh_pass_on(const struct um_context *context, struct um_exchange *ex)
{
	struct um_fresh fresh;

	if (!um_fresh_read(&fresh, context, ex))
		return;
	put_cookie(context, ex, UM_FRESH_PATH, um_str(ex->state), ex->user,
		&fresh);
	um_response_cookie_of(&ex->response, UM_FRESH_LINK_PATH,
		UM_FRESH_COOKIE, um_str(""), 0, "Lax");
}

/* Reads what was sealed. False: it is another user's. */
static bool
read_text(struct um_fresh *fresh, const struct um_exchange *ex,
	struct um_str text)
{
	static const char end[] = { 0 };
	struct um_buf copy = { 0 };
	size_t user = strnlen(text.ptr, text.len);
	bool ok = false;

	um_buf_put(&copy, text.ptr, text.len);
	um_buf_put(&copy, end, sizeof(end));
	if (!copy.failed && user < text.len
		&& strcmp(copy.ptr, ex->user) == 0) {
		size_t time = strlen(copy.ptr + user + 1);

		fresh->at = strtoll(copy.ptr + user + 1, NULL, 10);
		if (user + 1 + time < text.len) {
			const char *how = copy.ptr + user + time + 2;
			size_t len = strnlen(how, UM_ID_TOKEN_HOW_MAX);

			memcpy(fresh->how, how, len);
			fresh->how[len] = '\0';
			ok = true;
		}
	}
	um_buf_free(&copy);
	return ok;
}

bool
um_fresh_read(struct um_fresh *fresh, const struct um_context *context,
	const struct um_exchange *ex)
{
	struct um_str cookie = um_cookie_get(ex->request.cookie,
		UM_FRESH_COOKIE);
	struct um_buf scope = { 0 }, text = { 0 };
	struct um_seal_purpose purpose = { .use = UM_USE_FRESH };
	bool ok;

	*fresh = (struct um_fresh){ 0 };
	if (cookie.len == 0 || ex->user[0] == '\0')
		return false;
	put_context(&scope, context, um_form_get(&ex->form, "state"));
	purpose.context = um_buf_str(&scope);
	ok = !scope.failed
		&& um_sealed_text_open(&text, cookie, context->keys, &purpose,
			   context->now_ms / 1000)
			== UM_SEALED_TEXT_GOOD
		&& read_text(fresh, ex, um_buf_str(&text));
	um_buf_free(&scope);
	um_buf_free(&text);
	return ok;
}

void
um_fresh_delete(struct um_exchange *ex)
{
	if (um_cookie_get(ex->request.cookie, UM_FRESH_COOKIE).ptr != NULL)
		um_response_cookie_of(&ex->response, UM_FRESH_PATH,
			UM_FRESH_COOKIE, um_str(""), 0, "Lax");
}
