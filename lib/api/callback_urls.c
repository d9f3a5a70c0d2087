/* SPDX-License-Identifier: MIT */
#include "api/callback_urls.h"

#include <string.h>

#include "api/request.h"
#include "contract/limits.h"
#include "core/json_put.h"
#include "crypto/link.h"
#include "crypto/token.h"

/*
 * The nonce is a function of what is sealed, of the key that seals and of the
 * purpose (as in RFC 8452, AES-GCM-SIV): another token has another nonce.
 */
static bool
make_nonce(uint8_t nonce[static UM_NONCE_LEN], const struct um_keys *keys,
	const struct um_token *token, enum um_purpose purpose)
{
	uint8_t key[UM_KEY_LEN];
	char info[sizeof("urlmode nonce of a callback") + 1 + 8
		+ UM_BINDING_LEN] = "urlmode nonce of a callback";
	char *p = info + strlen(info) + 1;
	bool ok;

	*p++ = (char)purpose;
	for (int shift = 56; shift >= 0; shift -= 8)
		*p++ = (char)((uint64_t)token->expires >> shift);
	memcpy(p, token->binding, UM_BINDING_LEN);
	ok = um_keys_derive(key, keys, um_keys_minting(keys),
		(struct um_str){ (const char *)token->id, UM_UUID_LEN },
		(struct um_str){ info, sizeof(info) });
	memcpy(nonce, key, UM_NONCE_LEN);
	explicit_bzero(key, sizeof(key));
	return ok;
}

/* "<base><before><provider><after>?state=<token>" */
static bool
put_url(struct um_buf *json, const struct um_context *context,
	const struct um_callback_row *row, enum um_purpose purpose,
	const char *const parts[static 3])
{
	struct um_token token = {
		.expires = row->expires + UM_GRACE_MAX_S,
	};
	char state[UM_TOKEN_LEN + 1];
	uint8_t nonce[UM_NONCE_LEN];
	struct um_buf url = { 0 };

	memcpy(token.id, row->id, sizeof(token.id));
	memcpy(token.binding, row->binding, sizeof(token.binding));
	if (!make_nonce(nonce, context->keys, &token, purpose)
		|| !um_token_mint(state, &token, context->keys, purpose,
			row->provider, nonce))
		return false;
	um_buf_cat(&url, context->config->base_url, parts[1], row->provider,
		parts[2], "?state=", state);
	um_json_put_member(json, parts[0], um_buf_str(&url));
	json->failed |= url.failed;
	um_buf_free(&url);
	return true;
}

bool
um_callback_urls_put(struct um_buf *json, const struct um_context *context,
	const struct um_callback_row *row)
{
	static const char *const back[] = { "return_url", "/payment/",
		"/return" };
	static const char *const cancel[] = { "cancel_url", "/payment/",
		"/cancel" };
	static const char *const webhook[] = { "webhook_url", "/webhook/", "" };
	struct um_buf url = { 0 };

	if (row->kind == UM_KIND_PAYMENT || row->kind == UM_KIND_SIGNATURE)
		return put_url(json, context, row, UM_PURPOSE_RETURN, back)
			&& put_url(json, context, row, UM_PURPOSE_CANCEL,
				cancel)
			&& put_url(json, context, row, UM_PURPOSE_WEBHOOK,
				webhook);
	/* /connect mints the state of a redirect URI for the browser. */
	if (row->kind == UM_KIND_OAUTH) {
		um_buf_cat(&url, context->config->base_url, "/oauth/",
			row->provider, "/return");
		um_json_put_member(json, "return_url", um_buf_str(&url));
		json->failed |= url.failed;
		um_buf_free(&url);
	} else {
		um_api_put_text(json, "return_url", NULL);
	}
	um_api_put_text(json, "cancel_url", NULL);
	um_api_put_text(json, "webhook_url", NULL);
	return true;
}

bool
um_callback_link_put(struct um_buf *json, const struct um_context *context,
	const struct um_callback_row *row, int kid, bool by_others)
{
	char state[UM_LINK_LEN + 1];
	struct um_buf url = { 0 };

	if (!um_link_mint_with(state, row->id, context->keys, kid,
		    row->provider, by_others))
		return false;
	um_buf_cat(&url, context->config->base_url, "/connect/", row->provider,
		"?state=", state);
	if (by_others)
		um_api_put_text(json, "url", NULL);
	um_json_put_member(json, by_others ? "approval_url" : "url",
		um_buf_str(&url));
	json->failed |= url.failed;
	um_buf_free(&url);
	return true;
}
