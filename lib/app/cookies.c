/* SPDX-License-Identifier: MIT */
#include "app/cookies.h"

#include <string.h>

#include <openssl/sha.h>

#include "core/encode.h"
#include "crypto/sealed_text.h"
#include "http/final_page.h"
#include "http/header.h"

void
um_browser_read_cookie(char cookie[static UM_COOKIE_MAX + 1],
	struct um_str header)
{
	struct um_str value = um_cookie_get(header, UM_COOKIE_NAME);

	cookie[0] = '\0';
	if (value.len == 0 || value.len > UM_COOKIE_MAX
		|| !um_base64url_is(value))
		return;
	memcpy(cookie, value.ptr, value.len);
	cookie[value.len] = '\0';
}

void
um_browser_ensure_cookie(char cookie[static UM_COOKIE_MAX + 1],
	const struct um_context *context)
{
	uint8_t bytes[16];

	if (strlen(cookie) >= UM_COOKIE_LEN)
		return;
	context->random(bytes, sizeof(bytes));
	um_base64url_encode(cookie, bytes, sizeof(bytes));
	explicit_bzero(bytes, sizeof(bytes));
}

void
um_browser_set_cookie(struct um_response *response, const char *cookie)
{
	um_response_cookie(response, UM_COOKIE_NAME, um_str(cookie),
		UM_COOKIE_MAX_AGE, "Lax");
}

static const struct um_seal_purpose follow = { .use = UM_USE_FOLLOW };

void
um_follow_set(struct um_response *response, const struct um_context *context,
	const struct um_token *token, const struct um_provider *provider)
{
	struct um_buf text = { 0 }, cookie = { 0 };
	uint8_t nonce[UM_NONCE_LEN];

	context->random(nonce, sizeof(nonce));
	um_buf_put(&text, token->id, sizeof(token->id));
	um_buf_put(&text, token->binding, sizeof(token->binding));
	um_buf_puts(&text, provider->name);
	if (!text.failed
		&& um_sealed_text_put(&cookie, um_buf_str(&text),
			context->now_ms / 1000 + UM_FINAL_PAGE_MAX_AGE,
			context->keys, &follow, nonce))
		um_response_cookie(response, UM_FOLLOW_COOKIE,
			um_buf_str(&cookie), UM_FINAL_PAGE_MAX_AGE, "Lax");
	um_buf_free(&text);
	um_buf_free(&cookie);
}

const struct um_provider *
um_follow_read(struct um_token *token, const struct um_context *context,
	struct um_str header)
{
	const size_t ids_len = sizeof(token->id) + sizeof(token->binding);
	const struct um_provider *provider = NULL;
	struct um_buf text = { 0 };
	struct um_str cookie = um_cookie_get(header, UM_FOLLOW_COOKIE);

	if (cookie.len != 0
		&& um_sealed_text_open(&text, cookie, context->keys, &follow,
			   context->now_ms / 1000)
			== UM_SEALED_TEXT_GOOD
		&& text.len > ids_len) {
		memcpy(token->id, text.ptr, sizeof(token->id));
		memcpy(token->binding, text.ptr + sizeof(token->id),
			sizeof(token->binding));
		provider = um_config_provider(context->config,
			(struct um_str){ text.ptr + ids_len,
				text.len - ids_len });
	}
	um_buf_free(&text);
	return provider;
}

#define OPEN_HALF 8 /* bytes of a digest */
/* Characters of an entry. */
#define OPEN_LEN ((size_t)UM_BASE64_LEN(2 * OPEN_HALF))

/* The first bytes of SHA-256(cookie 00 bytes). */
static void
put_half(uint8_t out[static OPEN_HALF], const char *cookie, struct um_str bytes)
{
	uint8_t digest[SHA256_DIGEST_LENGTH] = { 0 };
	struct um_buf text = { 0 };

	um_buf_put(&text, cookie, strlen(cookie) + 1);
	um_buf_put(&text, bytes.ptr, bytes.len);
	if (!text.failed)
		SHA256((const uint8_t *)text.ptr, text.len, digest);
	memcpy(out, digest, OPEN_HALF);
	um_buf_free(&text);
}

/* Its entries as the cookie has them, or nothing. */
static struct um_str
open_entries(struct um_str header)
{
	struct um_str value = um_cookie_get(header, UM_OPEN_COOKIE);

	return value.len % OPEN_LEN == 0 && value.len <= UM_OPEN_MAX * OPEN_LEN
			&& um_base64url_is(value)
		? value
		: (struct um_str){ 0 };
}

bool
um_open_note(struct um_response *response, struct um_str header,
	const char *cookie, const struct um_token *token, struct um_str state)
{
	struct um_str entries = open_entries(header);
	uint8_t entry[2 * OPEN_HALF], found[2 * OPEN_HALF];
	char text[OPEN_LEN + 1];
	struct um_buf value = { 0 };

	put_half(entry, cookie,
		(struct um_str){ (const char *)token->id, sizeof(token->id) });
	put_half(entry + OPEN_HALF, cookie, state);
	for (size_t at = 0; at < entries.len; at += OPEN_LEN)
		if (um_base64url_decode(found, sizeof(found),
			    (struct um_str){ entries.ptr + at, OPEN_LEN })
			&& memcmp(found, entry, OPEN_HALF) == 0)
			return memcmp(found, entry, sizeof(entry)) != 0;
	/* The newest first. */
	um_base64url_encode(text, entry, sizeof(entry));
	um_buf_puts(&value, text);
	um_buf_put(&value, entries.ptr,
		entries.len < UM_OPEN_MAX * OPEN_LEN
			? entries.len
			: (UM_OPEN_MAX - 1) * OPEN_LEN);
	if (!value.failed)
		um_response_cookie(response, UM_OPEN_COOKIE, um_buf_str(&value),
			UM_OPEN_MAX_AGE, "Lax");
	um_buf_free(&value);
	return false;
}
