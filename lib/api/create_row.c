/* SPDX-License-Identifier: MIT */
#include "api/create_row.h"

#include "api/pkce.h"
#include "contract/limits.h"
#include "crypto/seal.h"
#include "postgres/array.h"
#include "postgres/call.h"

static bool
seal(struct um_buf *out, const struct um_context *context,
	const struct um_create *create, enum um_key_use use, struct um_str json)
{
	uint8_t nonce[UM_NONCE_LEN];

	context->random(nonce, sizeof(nonce));
	return um_seal_put_for_page(out, json, use, create->id,
		create->what.owner.binding, context->keys, nonce);
}

enum um_refusal
um_create_seal(const struct um_context *context, struct um_exchange *ex)
{
	struct um_create *create = ex->own;
	struct um_buf verifier = { 0 };
	enum um_refusal refusal = UM_REFUSAL_NONE;
	const char *fault;

	if (create->what.asked.json.len != 0)
		return seal(&create->form, context, create, UM_USE_FORM,
			       um_buf_str(&create->what.asked.json))
			? UM_REFUSAL_NONE
			: UM_REFUSAL_INTERNAL_ERROR;
	if (!create->what.pkce) {
		um_buf_put(&create->target_url, create->what.target_url.ptr,
			create->what.target_url.len);
		return UM_REFUSAL_NONE;
	}
	fault = um_pkce_add(&create->target_url, &verifier,
		create->what.target_url, context->random);
	if (fault != NULL)
		um_api_fail(ex, UM_API_ERROR_INVALID_REQUEST, fault,
			"target_url");
	else if (create->target_url.len > UM_TARGET_URL_MAX)
		um_api_fail(ex, UM_API_ERROR_INVALID_REQUEST,
			"target_url is too long with the challenge",
			"target_url");
	else if (!seal(&create->verifier, context, create, UM_USE_VERIFIER,
			 um_buf_str(&verifier)))
		refusal = UM_REFUSAL_INTERNAL_ERROR;
	um_buf_free(&verifier);
	return refusal;
}

/* A text, or SQL's NULL where there is none. */
static void
put_buf(struct um_buf *args, const struct um_buf *buf)
{
	um_array_put(args, buf->len != 0 ? buf->ptr : NULL, buf->len);
}

static void
put_target(struct um_buf *args, const struct um_create *create)
{
	const struct um_create_request *what = &create->what;

	put_buf(args, &create->target_url);
	um_array_put_json(args, um_buf_str(&what->expected.json));
	put_buf(args, &create->verifier);
	um_array_put_int64(args, what->ttl_ms, true);
	um_call_put_bool(args, what->exclusive);
	um_call_put_str(args, what->resume_key);
	um_call_put_bool(args, what->can_recheck);
	um_array_put(args, what->request, sizeof(what->request));
	um_call_put_str(args, what->checkout);
	um_call_put_str(args, what->client_id);
}

void
um_create_put_row(struct um_buf *args, const struct um_create *create,
	const struct um_context *context)
{
	const struct um_create_request *what = &create->what;

	um_array_put(args, create->id, sizeof(create->id));
	um_array_put_text(args, what->provider);
	um_array_put_text(args, um_kind_words[create->what.kind]);
	um_call_put_str(args, what->owner.subject);
	um_call_put_str(args, what->owner.session);
	um_array_put(args, what->owner.binding, sizeof(what->owner.binding));
	um_call_put_str(args,
		what->name.ptr != NULL ? what->name
				       : um_str(context->config->server_name));
	put_target(args, create);
	um_call_put_small(args, um_keys_minting(context->keys)->kid, true);
	put_buf(args, &create->form);
	um_array_put_json(args, um_buf_str(&what->asked.approvers));
	um_call_put_int(args, (int32_t)what->verify_ms, what->verify_ms >= 0);
	um_call_put_str(args, what->traceparent);
	um_array_put_text(args, create->request.tenant);
	um_call_put_str(args, what->item);
	um_array_put(args, what->content, sizeof(what->content));
}
