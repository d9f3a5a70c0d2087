/* SPDX-License-Identifier: MIT */
#include "api/create_answer.h"

#include "api/callback_urls.h"
#include "core/json_put.h"

static struct um_callback_row
callback_row(const struct um_create *create, const uint8_t *id,
	int64_t expires_ms)
{
	return (struct um_callback_row){ .id = id,
		.binding = create->what.owner.binding,
		.provider = create->what.provider,
		.kind = create->what.kind,
		.expires = (expires_ms + 999) / 1000 };
}

/* The price as its provider writes it, or null. */
static void
put_amount(struct um_buf *json, const struct um_create *create)
{
	um_json_put_key(json, um_str("amount"));
	if (create->what.expected.price.len != 0)
		um_buf_put(json, create->what.expected.price.ptr,
			create->what.expected.price.len);
	else
		um_json_put_null(json);
}

enum um_refusal
um_create_answer(const struct um_context *context, struct um_exchange *ex,
	const struct um_create_row *row)
{
	const struct um_create *create = ex->own;
	const struct um_callback_row urls = callback_row(create, row->id,
		row->expires_ms);
	struct um_buf *json = um_api_answer(ex, row->resumed ? 200 : 201,
		row->resumed ? "resumed" : "created");
	bool ok;

	um_api_put_id(json, "id", row->id);
	ok = um_callback_link_put(json, context, &urls, row->kid,
		     create->what.asked.by_others)
		&& um_callback_urls_put(json, context, &urls);
	put_amount(json, create);
	um_api_put_time(json, "expires_at", row->expires_ms);
	um_json_put_key(json, um_str("resumed"));
	um_json_put_bool(json, row->resumed);
	um_json_put_end(json);
	return ok ? UM_REFUSAL_NONE : UM_REFUSAL_INTERNAL_ERROR;
}

enum um_refusal
um_create_answer_needs(const struct um_context *context, struct um_exchange *ex)
{
	const struct um_create *create = ex->own;
	const struct um_callback_row urls = callback_row(create, create->id,
		context->now_ms + create->what.ttl_ms);
	struct um_buf *json = um_api_answer(ex, 200, "needs");
	bool ok;

	um_json_put_member(json, "needs", um_str("target_url"));
	um_api_put_id(json, "id", create->id);
	ok = um_callback_urls_put(json, context, &urls);
	put_amount(json, create);
	um_json_put_end(json);
	return ok ? UM_REFUSAL_NONE : UM_REFUSAL_INTERNAL_ERROR;
}
