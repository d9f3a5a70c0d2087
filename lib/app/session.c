/* SPDX-License-Identifier: MIT */
#include "app/session.h"

#include <string.h>

#include "crypto/sealed_text.h"
#include "http/header.h"

void
um_session_put_scope(struct um_buf *out, const struct um_config *config,
	const char *purpose)
{
	const struct um_openid *openid = &config->openid;
	const char *const parts[] = { purpose, config->base_url, openid->issuer,
		openid->client_id };

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		um_buf_put(out, parts[i], strlen(parts[i]) + 1);
	um_buf_puts(out, openid->claim);
}

/* A text of 1 to `max` bytes. */
static bool
copy(char *out, size_t max, struct um_str text)
{
	if (text.len == 0 || text.len > max || !um_str_is_text(text))
		return false;
	memcpy(out, text.ptr, text.len);
	out[text.len] = '\0';
	return true;
}

void
um_session_read(const struct um_context *context, struct um_exchange *ex)
{
	struct um_buf scope = { 0 }, text = { 0 };
	struct um_seal_purpose purpose = { .use = UM_USE_SESSION };
	struct um_str cookie = um_cookie_get(ex->request.cookie,
		UM_SESSION_COOKIE);

	if (cookie.len == 0)
		return;
	um_session_put_scope(&scope, context->config, "session");
	purpose.context = um_buf_str(&scope);
	if (!scope.failed
		&& um_sealed_text_open(&text, cookie, context->keys, &purpose,
			   context->now_ms / 1000)
			== UM_SEALED_TEXT_GOOD) {
		size_t len = strnlen(text.ptr, text.len);

		if (len < text.len
			&& copy(ex->user, UM_SUBJECT_MAX,
				(struct um_str){ text.ptr, len }))
			copy(ex->user_name, UM_ID_TOKEN_NAME_MAX,
				(struct um_str){ text.ptr + len + 1,
					text.len - len - 1 });
	}
	um_buf_free(&scope);
	um_buf_free(&text);
}

bool
um_session_put(struct um_buf *out, const struct um_config *config,
	const struct um_keys *keys, const struct um_id_token_user *user,
	int64_t expires, const uint8_t nonce[static UM_NONCE_LEN])
{
	struct um_seal_purpose purpose = { .use = UM_USE_SESSION };
	struct um_buf scope = { 0 }, text = { 0 };
	bool ok;

	um_session_put_scope(&scope, config, "session");
	purpose.context = um_buf_str(&scope);
	um_buf_put(&text, user->subject, strlen(user->subject) + 1);
	um_buf_puts(&text, user->name);
	ok = !scope.failed && !text.failed
		&& um_sealed_text_put(out, um_buf_str(&text), expires, keys,
			&purpose, nonce);
	um_buf_free(&scope);
	um_buf_free(&text);
	return ok;
}

bool
um_session_set(const struct um_context *context, struct um_exchange *ex,
	const struct um_id_token_user *user)
{
	int64_t lifetime = context->config->openid.session;
	struct um_buf cookie = { 0 };
	uint8_t nonce[UM_NONCE_LEN];
	bool ok;

	context->random(nonce, sizeof(nonce));
	ok = um_session_put(&cookie, context->config, context->keys, user,
		context->now_ms / 1000 + lifetime, nonce);
	if (ok)
		um_response_cookie(&ex->response, UM_SESSION_COOKIE,
			um_buf_str(&cookie), lifetime, "Lax");
	um_buf_free(&cookie);
	return ok;
}
