/* SPDX-License-Identifier: MIT */
#include "app/kept.h"

#include <stdlib.h>
#include <string.h>

#include "core/encode.h"
#include "crypto/seal.h"
#include "http/header.h"

#define SEALED_MAX (UM_KEPT_MAX + UM_SEAL_OVERHEAD)

_Static_assert(sizeof(UM_KEPT_COOKIE) + UM_BASE64_LEN(SEALED_MAX) <= 4096,
	"browsers take the cookie");
_Static_assert(UM_KEPT_MAX > UM_SUBJECT_MAX, "a reader is no longer");

/* Seals the text, as base64url. */
static bool
put_sealed(struct um_buf *out, struct um_str text, enum um_key_use use,
	const uint8_t *for_whom, const struct um_context *context,
	const struct um_exchange *ex)
{
	uint8_t nonce[UM_NONCE_LEN];
	struct um_buf sealed = { 0 };
	bool ok;

	context->random(nonce, sizeof(nonce));
	ok = text.len <= UM_KEPT_MAX
		&& um_seal_put_for_page(&sealed, text, use, ex->token.id,
			for_whom, context->keys, nonce);
	if (ok) {
		char encoded[UM_BASE64_LEN(SEALED_MAX) + 1];

		um_base64url_encode(encoded, (const uint8_t *)sealed.ptr,
			sealed.len);
		um_buf_puts(out, encoded);
	}
	um_buf_free(&sealed);
	return ok;
}

/* Appends the text. False: it is not one that was sealed so. */
static bool
open_sealed(struct um_buf *out, struct um_str encoded, enum um_key_use use,
	const uint8_t *for_whom, const struct um_context *context,
	const struct um_exchange *ex)
{
	uint8_t sealed[SEALED_MAX];
	size_t len = encoded.len * 3 / 4;

	return encoded.len <= UM_BASE64_LEN(SEALED_MAX)
		&& um_base64url_decode(sealed, len, encoded)
		&& um_seal_open_for_page(out,
			(struct um_str){ (const char *)sealed, len }, use,
			ex->token.id, for_whom, context->keys);
}

bool
um_kept_put_reader(struct um_buf *out, const struct um_context *context,
	const struct um_exchange *ex)
{
	return ex->user[0] == '\0'
		|| put_sealed(out, um_str(ex->user), UM_USE_READER,
			ex->token.browser, context, ex);
}

bool
um_kept_read_reader(const struct um_context *context, struct um_exchange *ex)
{
	struct um_buf text = { 0 };

	if (open_sealed(&text, um_form_get(&ex->form, UM_ANSWER_READER),
		    UM_USE_READER, ex->token.browser, context, ex)
		&& text.len <= UM_SUBJECT_MAX) {
		memcpy(ex->reader, text.ptr, text.len);
		ex->reader[text.len] = '\0';
	}
	um_buf_free(&text);
	return ex->reader[0] != '\0';
}

static void
digest_of(uint8_t out[static UM_BINDING_LEN], const char *user,
	const struct um_context *context, const struct um_exchange *ex)
{
	um_binding_digest(out, context->keys, um_str(user), um_str(ex->cookie));
}

void
um_kept_seal(const struct um_context *context, struct um_exchange *ex,
	const struct um_definition *definition,
	const struct um_answers *answers)
{
	uint8_t for_whom[UM_BINDING_LEN];
	struct um_buf json = { 0 };
	bool all = um_answers_put_typed(&json, answers, definition,
		UM_KEPT_MAX);

	digest_of(for_whom, ex->reader, context, ex);
	ex->keeps_all = !json.failed
		&& put_sealed(&ex->kept, um_buf_str(&json), UM_USE_KEPT,
			for_whom, context, ex)
		&& all;
	um_buf_free(&json);
}

bool
um_kept_read(struct um_answers *answers, const struct um_context *context,
	const struct um_exchange *ex, const struct um_definition *definition)
{
	struct um_str cookie = um_cookie_get(ex->request.cookie,
		UM_KEPT_COOKIE);
	struct um_json_node *values = NULL;
	uint8_t for_whom[UM_BINDING_LEN];
	struct um_buf json = { 0 };
	bool found;

	if (cookie.len == 0 || ex->user[0] == '\0')
		return false;
	digest_of(for_whom, ex->user, context, ex);
	if (open_sealed(&json, cookie, UM_USE_KEPT, for_whom, context, ex))
		values = um_json_parse(um_buf_str(&json), UM_ANSWERS_NODES_MAX,
			NULL);
	um_buf_free(&json);
	found = values != NULL
		&& um_answers_read_json(answers, definition, values);
	free(values);
	return found;
}

void
um_kept_delete(struct um_exchange *ex)
{
	if (um_cookie_get(ex->request.cookie, UM_KEPT_COOKIE).ptr != NULL)
		um_response_cookie_of(&ex->response, UM_KEPT_PATH,
			UM_KEPT_COOKIE, um_str(""), 0, "Lax");
}
