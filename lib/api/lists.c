/* SPDX-License-Identifier: MIT */
#include "api/lists.h"

#include <stdlib.h>
#include <string.h>

#include "api/calls.h"
#include "api/request.h"
#include "contract/limits.h"
#include "core/json_put.h"
#include "postgres/array.h"

#define PAGE_MAX 100
#define CURSOR_MAX 1024 /* bytes of a cursor, which a page has given */
#define WORD "abcdefghijklmnopqrstuvwxyz0123456789-_"

struct list {
	struct um_api_request request;
	struct um_str provider, subject, item, after; /* .ptr NULL: none */
	bool has_since, delivered;
	int64_t since_ms, limit;
};

static um_step listed, paid_looked;

static void
free_list(void *own)
{
	struct list *list = own;

	um_api_request_free(&list->request);
	free(list);
}

/* What each list takes: since a time, and a page. */
static void
read_page(struct list *list)
{
	list->has_since = um_api_read_since(&list->request.root,
		&list->since_ms);
	list->limit = PAGE_MAX;
	um_reader_int(&list->request.root, "limit", UM_OPTIONAL, 1, PAGE_MAX,
		&list->limit);
	um_reader_text(&list->request.root, "after", UM_OPTIONAL, 1, CURSOR_MAX,
		&list->after);
}

static struct list *
begin(const struct um_context *context, struct um_exchange *ex)
{
	return um_api_begin(context, ex, sizeof(struct list), free_list);
}

static void
put_since(struct um_op *op, const struct list *list)
{
	um_call_put_time(&op->args, list->since_ms * 1000, list->has_since);
}

static void
put_page(struct um_op *op, const struct list *list)
{
	um_call_put_str(&op->args, list->after);
	um_call_put_int(&op->args, (int32_t)list->limit, true);
	op->reads = (unsigned)list->limit;
}

/* `unclaimed` and `refunds`: of a provider, since a time. */
static enum um_refusal
list_money(const struct um_context *context, struct um_exchange *ex,
	const struct um_call *call)
{
	struct list *list = begin(context, ex);
	struct um_buf *args = &ex->op.args;

	if (list == NULL)
		return UM_REFUSAL_NONE;
	um_reader_word(&list->request.root, "provider", UM_OPTIONAL,
		UM_PROVIDER_MAX, WORD, &list->provider);
	read_page(list);
	if (!um_api_end(&list->request))
		return UM_REFUSAL_NONE;
	um_api_call(ex, call, NULL, listed);
	um_array_put_text(args, list->request.tenant);
	um_call_put_str(args, list->provider);
	put_since(&ex->op, list);
	put_page(&ex->op, list);
	return UM_REFUSAL_NONE;
}

enum um_refusal
um_unclaimed_plan(const struct um_context *context, struct um_exchange *ex)
{
	return list_money(context, ex, &um_call_page_of_unclaimed);
}

enum um_refusal
um_refunds_plan(const struct um_context *context, struct um_exchange *ex)
{
	return list_money(context, ex, &um_call_page_of_refunds);
}

/* Whose payments, and of what: `item` may be all. */
static void
read_user(struct list *list, enum um_presence item)
{
	um_reader_text(&list->request.root, "subject", UM_REQUIRED, 1,
		UM_SUBJECT_MAX, &list->subject);
	um_reader_text(&list->request.root, "item", item, 1, UM_ITEM_MAX,
		&list->item);
}

static void
request_of_user(struct um_exchange *ex, const struct um_call *call,
	um_step *then)
{
	const struct list *list = ex->own;
	struct um_buf *args = &ex->op.args;

	um_api_call(ex, call, NULL, then);
	um_array_put_text(args, list->request.tenant);
	um_call_put_str(args, list->subject);
	um_call_put_str(args, list->item);
	put_since(&ex->op, list);
}

enum um_refusal
um_entitlements_plan(const struct um_context *context, struct um_exchange *ex)
{
	struct list *list = begin(context, ex);

	if (list == NULL)
		return UM_REFUSAL_NONE;
	read_user(list, UM_OPTIONAL);
	read_page(list);
	if (!um_api_end(&list->request))
		return UM_REFUSAL_NONE;
	request_of_user(ex, &um_call_page_of_entitlements_since, listed);
	put_page(&ex->op, list);
	return UM_REFUSAL_NONE;
}

/* The cursor of the next page, if this one is full. */
static const char *
next_of(const struct um_exchange *ex, int col)
{
	const struct list *list = ex->own;
	int len = ex->op.rows_len;

	return len == list->limit ? um_call_text(&ex->op, len - 1, col) : NULL;
}

/* The functions of these lists have the same columns. */
static enum um_refusal
listed(const struct um_context *context, struct um_exchange *ex)
{
	struct um_buf *json;

	(void)context;
	json = um_api_answer(ex, 200, "ok");
	um_api_put_page(json, &ex->op, UM_PAGE_OF_UNCLAIMED_ITEM,
		next_of(ex, UM_PAGE_OF_UNCLAIMED_CURSOR));
	um_json_put_end(json);
	return UM_REFUSAL_NONE;
}

enum um_refusal
um_paid_plan(const struct um_context *context, struct um_exchange *ex)
{
	struct list *list = begin(context, ex);

	if (list == NULL)
		return UM_REFUSAL_NONE;
	read_user(list, UM_REQUIRED);
	um_reader_bool(&list->request.root, "delivered", &list->delivered);
	read_page(list);
	if (!um_api_end(&list->request))
		return UM_REFUSAL_NONE;
	request_of_user(ex, &um_call_page_of_paid, paid_looked);
	um_call_put_bool(&ex->op.args, list->delivered);
	put_page(&ex->op, list);
	return UM_REFUSAL_NONE;
}

/* Without a payment on this page there is one row, without an item. */
static enum um_refusal
paid_looked(const struct um_context *context, struct um_exchange *ex)
{
	struct um_buf *json;

	(void)context;
	json = um_api_answer(ex, 200, "ok");
	um_json_put_key(json, um_str("paid"));
	um_json_put_bool(json,
		um_call_is(&ex->op, 0, UM_PAGE_OF_PAID_PAID, "t"));
	um_api_put_page(json, &ex->op, UM_PAGE_OF_PAID_ITEM,
		next_of(ex, UM_PAGE_OF_PAID_CURSOR));
	um_json_put_end(json);
	return UM_REFUSAL_NONE;
}
