/* SPDX-License-Identifier: MIT */
#include "app/follow.h"

#include <string.h>

#include "crypto/sealed_text.h"
#include "http/cookie.h"

static const struct um_seal_purpose purpose = { .use = UM_USE_FOLLOW };

void
um_follow_set(const struct um_context *context, struct um_exchange *ex)
{
	struct um_buf text = { 0 }, cookie = { 0 };
	uint8_t nonce[UM_NONCE_LEN];

	context->random(nonce, sizeof(nonce));
	um_buf_put(&text, ex->token.id, sizeof(ex->token.id));
	um_buf_put(&text, ex->token.binding, sizeof(ex->token.binding));
	um_buf_puts(&text, ex->provider->name);
	if (!text.failed
		&& um_sealed_text_put(&cookie, um_buf_str(&text),
			context->now_ms / 1000 + UM_FINAL_PAGE_MAX_AGE,
			context->keys, &purpose, nonce))
		um_response_cookie(&ex->response, UM_FOLLOW_COOKIE,
			um_buf_str(&cookie), UM_FINAL_PAGE_MAX_AGE, "Lax");
	um_buf_free(&text);
	um_buf_free(&cookie);
}

bool
um_follow_read(const struct um_context *context, struct um_exchange *ex)
{
	const size_t ids_len = sizeof(ex->token.id) + sizeof(ex->token.binding);
	struct um_buf text = { 0 };
	struct um_str cookie = um_cookie_get(ex->request.cookie,
		UM_FOLLOW_COOKIE);

	if (cookie.len != 0
		&& um_sealed_text_open(&text, cookie, context->keys, &purpose,
			   context->now_ms / 1000)
			== UM_SEALED_TEXT_GOOD
		&& text.len > ids_len) {
		memcpy(ex->token.id, text.ptr, sizeof(ex->token.id));
		memcpy(ex->token.binding, text.ptr + sizeof(ex->token.id),
			sizeof(ex->token.binding));
		ex->provider = um_config_provider(context->config,
			(struct um_str){ text.ptr + ids_len,
				text.len - ids_len });
	}
	um_buf_free(&text);
	return ex->provider != NULL;
}
