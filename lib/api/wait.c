/* SPDX-License-Identifier: MIT */
#include "api/wait.h"

#include <stdlib.h>
#include <string.h>

#include "api/api.h"
#include "api/calls.h"
#include "api/request.h"
#include "api/shown.h"
#include "core/clock.h"
#include "core/encode.h"
#include "core/json_put.h"
#include "postgres/array.h"

#define LEASE_RETRY_MS 1000 /* where another one has the lease */

/* An element for which a lease is asked. */
struct ask {
	size_t place;
	bool is_check;
	bool has_moved;       /* it is shown also without a lease */
	struct um_buf object; /* but for its end */
};

struct wait {
	struct um_api_request request; /* its elements are sorted by id */
	int64_t ends_at;
	size_t *reads; /* the places of the elements that are being read */
	size_t reads_len;
	struct um_buf answer; /* the objects so far, with commas */
	size_t moved;         /* objects in it */
	struct ask *asks;     /* the next one last */
	size_t asks_len;
};

static um_step look, expired, looked, leased;

static void
free_wait(void *own)
{
	struct wait *wait = own;

	um_api_request_free(&wait->request);
	um_buf_free(&wait->answer);
	for (size_t i = 0; i < wait->asks_len; i++)
		um_buf_free(&wait->asks[i].object);
	free(wait->request.elements);
	free(wait->reads);
	free(wait->asks);
	free(wait);
}

static struct um_api *
api_of(const struct um_context *context)
{
	return context->side;
}

static int
compare(const void *a, const void *b)
{
	const struct um_watched_element *left = a, *right = b;

	return memcmp(left->id, right->id, sizeof(left->id));
}

/* `can`: what the caller can be asked for. */
static void
read_can(struct um_watched_element *element, struct um_reader *reader)
{
	const struct um_json_node *array, *one = NULL;

	if (!um_reader_array(reader, "can", UM_OPTIONAL, 0, 2, &array))
		return;
	while ((one = um_json_next(array, one)) != NULL) {
		if (um_json_string_eq(one, um_str("check")))
			element->can_check = true;
		else if (um_json_string_eq(one, um_str("recheck")))
			element->can_recheck = true;
		else
			um_reader_refuse(reader, "can",
				"can must be a list of check and recheck");
	}
}

static void
read_element(struct um_watched_element *element, struct wait *wait,
	struct um_reader *reader, const struct um_context *context)
{
	struct um_api_owner owner;
	struct um_str seen;

	um_reader_uuid(reader, "id", UM_REQUIRED, element->id);
	um_api_read_subject(&wait->request, reader, context, &owner);
	memcpy(element->binding, owner.binding, sizeof(element->binding));
	if (um_reader_text(reader, "seen", UM_OPTIONAL, 1, 64, &seen))
		element->has_seen = um_base64url_decode(element->seen,
			sizeof(element->seen), seen);
	read_can(element, reader);
	um_reader_end(reader);
}

static void
read_of(struct wait *wait, const struct um_context *context)
{
	struct um_api_request *request = &wait->request;
	const struct um_json_node *array, *one = NULL;
	size_t len = 0;

	if (!um_reader_array(&request->root, "of", UM_REQUIRED, 1,
		    UM_WAIT_OF_MAX, &array))
		return;
	while ((one = um_json_next(array, one)) != NULL)
		len++;
	request->elements = calloc(len + 1, sizeof(request->elements[0]));
	wait->reads = calloc(len + 1, sizeof(wait->reads[0]));
	wait->asks = calloc(len + 1, sizeof(wait->asks[0]));
	if (request->elements == NULL || wait->reads == NULL
		|| wait->asks == NULL) {
		um_reader_refuse(&request->root, "of", "out of memory");
		return;
	}
	while ((one = um_json_next(array, one)) != NULL) {
		struct um_reader reader = um_reader_element(&request->root,
			"of", one, request->elements_len);

		read_element(&request->elements[request->elements_len++], wait,
			&reader, context);
	}
	qsort(request->elements, len, sizeof(request->elements[0]), compare);
	for (size_t i = 1; i < len; i++)
		if (compare(&request->elements[i - 1], &request->elements[i])
			== 0)
			um_reader_refuse(&request->root, "of",
				"of must not have an id twice");
}

enum um_refusal
um_wait_plan(const struct um_context *context, struct um_exchange *ex)
{
	struct wait *wait = um_api_begin(context, ex, sizeof(*wait), free_wait);
	int64_t for_ms = UM_WAIT_FOR_MAX_MS;

	if (wait == NULL)
		return UM_REFUSAL_NONE;
	read_of(wait, context);
	um_reader_int(&wait->request.root, "for_ms", UM_OPTIONAL, 0,
		UM_WAIT_FOR_MAX_MS, &for_ms);
	if (!um_api_end(&wait->request))
		return UM_REFUSAL_NONE;
	/* Elements are copies. */
	um_api_request_free(&wait->request);
	if (api_of(context)->waits_len >= UM_API_WAITS_MAX)
		return um_api_fail(ex, UM_API_ERROR_TOO_MANY, NULL, NULL);
	wait->ends_at = context->monotonic_ms + for_ms;
	wait->request.is_due = true;
	um_exchange_park(ex, look);
	return UM_REFUSAL_NONE;
}

static enum um_refusal
answer(const struct um_context *context, struct um_exchange *ex)
{
	struct wait *wait = ex->own;
	struct um_buf *json = um_api_answer(ex, 200,
		wait->moved != 0 ? "moved" : "waited");

	(void)context;
	um_json_put_key(json, um_str("elicitations"));
	um_buf_puts(json, "[");
	um_buf_put(json, wait->answer.ptr, wait->answer.len);
	um_buf_puts(json, "]");
	um_json_put_end(json);
	json->failed |= wait->answer.failed;
	return UM_REFUSAL_NONE;
}

/* Until the call ends, or one of its rows is to be read again. */
static void
park(const struct um_context *context, struct um_exchange *ex)
{
	struct wait *wait = ex->own;
	struct um_api_request *request = &wait->request;

	request->wakes_at = wait->ends_at;
	for (size_t i = 0; i < request->elements_len; i++) {
		const struct um_watched_row *row = request->elements[i].row;

		request->is_due |= request->elements[i].is_due;
		if (row != NULL)
			request->wakes_at =
				um_deadline_earlier(request->wakes_at,
					row->due_at);
	}
	if (!um_api_is_listening(api_of(context)))
		request->wakes_at = um_deadline_earlier(request->wakes_at,
			context->monotonic_ms + UM_WAIT_POLL_MS);
	um_exchange_park(ex, look);
}

/* Which elements are to be read; those whose time is over are due. */
static void
choose(const struct um_context *context, struct wait *wait)
{
	struct um_api_request *request = &wait->request;
	bool listening = um_api_is_listening(api_of(context));

	wait->reads_len = 0;
	for (size_t i = 0; i < request->elements_len; i++) {
		struct um_watched_element *element = &request->elements[i];

		if (element->row == NULL)
			continue;
		if (!listening || element->row->due_at < 0
			|| element->row->due_at <= context->monotonic_ms)
			element->is_due = true;
		if (element->is_due)
			wait->reads[wait->reads_len++] = i;
	}
}

/* Adds the ids and the bindings of these elements to the call. */
static void
put_elements(struct um_exchange *ex, bool only_overdue)
{
	const struct wait *wait = ex->own;
	struct um_buf ids = { 0 }, bindings = { 0 };
	size_t len = 0;

	for (size_t i = 0; i < wait->reads_len; i++) {
		const struct um_watched_element *element =
			&wait->request.elements[wait->reads[i]];

		if (only_overdue && !element->is_overdue)
			continue;
		um_buf_put(&ids, element->id, sizeof(element->id));
		um_buf_put(&bindings, element->binding,
			sizeof(element->binding));
		len++;
	}
	um_call_put_array(&ex->op.args, UM_CALL_UUIDS, (uint8_t *)ids.ptr,
		UM_UUID_LEN, len);
	um_call_put_array(&ex->op.args, UM_CALL_BYTEAS, (uint8_t *)bindings.ptr,
		UM_BINDING_LEN, len);
	ex->op.args.failed |= ids.failed || bindings.failed;
	um_buf_free(&ids);
	um_buf_free(&bindings);
}

static enum um_refusal
read_rows(struct um_exchange *ex)
{
	struct wait *wait = ex->own;

	for (size_t i = 0; i < wait->reads_len; i++)
		um_watched_begin_read(&wait->request.elements[wait->reads[i]]);
	um_exchange_request_call(ex, &um_call_read_waiting, NULL, looked);
	put_elements(ex, false);
	return UM_REFUSAL_NONE;
}

/* It is awake: something is announced, or a time has come. */
static enum um_refusal
look(const struct um_context *context, struct um_exchange *ex)
{
	struct wait *wait = ex->own;
	bool any_overdue = false;

	wait->request.is_due = false;
	if (api_of(context)->stopped)
		return answer(context, ex);
	choose(context, wait);
	if (wait->reads_len == 0) {
		if (context->monotonic_ms >= wait->ends_at)
			return answer(context, ex);
		park(context, ex);
		return UM_REFUSAL_NONE;
	}
	for (size_t i = 0; i < wait->reads_len; i++)
		any_overdue |=
			wait->request.elements[wait->reads[i]].is_overdue;
	if (!any_overdue)
		return read_rows(ex);
	um_exchange_request_call(ex, &um_call_expire, NULL, expired);
	put_elements(ex, true);
	return UM_REFUSAL_NONE;
}

/* Whatever came of it: the row says how it is. */
static enum um_refusal
expired(const struct um_context *context, struct um_exchange *ex)
{
	const struct wait *wait = ex->own;

	(void)context;
	for (size_t i = 0; i < wait->reads_len; i++)
		wait->request.elements[wait->reads[i]].is_overdue = false;
	return read_rows(ex);
}

static void
begin_object(struct wait *wait)
{
	if (wait->moved++ != 0)
		um_buf_puts(&wait->answer, ",");
}

/* An element that has no row, or whose row cannot be shown. */
static void
put_error(struct wait *wait, const struct um_watched_element *element,
	enum um_api_error error)
{
	begin_object(wait);
	um_json_put_begin(&wait->answer);
	um_api_put_id(&wait->answer, "id", element->id);
	um_json_put_member(&wait->answer, "error",
		um_str(um_api_error_code(error)));
	um_json_put_end(&wait->answer);
}

/* When the row is to be read again at the latest. */
static int64_t
due_at(const struct um_context *context, struct um_watched_element *element,
	const struct um_shown *shown)
{
	int64_t now = context->monotonic_ms;
	int64_t at = now + UM_WATCHED_ROUTINE_MS;

	if (shown->is_completed)
		return at;
	element->is_overdue = shown->closes_in_ms <= 0;
	/* One that does not expire although it should is asked for again. */
	at = um_deadline_earlier(at,
		now
			+ (element->is_overdue ? UM_WAIT_POLL_MS
					       : shown->closes_in_ms));
	if (element->can_check && shown->awaits_check)
		at = um_deadline_earlier(at, now + LEASE_RETRY_MS);
	if (element->can_recheck && shown->awaits_recheck)
		at = um_deadline_earlier(at,
			now
				+ (shown->recheck_in_ms > 0
						? shown->recheck_in_ms
						: LEASE_RETRY_MS));
	return at;
}

/* Adds an object to the answer, unless that is full. */
static void
show(struct wait *wait, struct um_buf *object)
{
	if (wait->answer.len + object->len >= UM_WAIT_ANSWER_MAX)
		return;
	begin_object(wait);
	um_json_put_end(object);
	um_buf_put(&wait->answer, object->ptr, object->len);
	wait->answer.failed |= object->failed;
}

/* A row that was read: shows it if it has moved, or asks for a lease. */
static void
take_row(const struct um_context *context, struct um_exchange *ex, int row,
	const struct um_shown *its, struct um_watched_element *element)
{
	struct wait *wait = ex->own;
	struct um_shown shown = *its;
	struct um_buf object = { 0 };
	bool checks = element->can_check && shown.awaits_check;
	bool rechecks = element->can_recheck && shown.awaits_recheck
		&& shown.recheck_in_ms <= 0;
	bool has_moved;

	if (!um_shown_put(&shown, &object, context, &ex->op, row,
		    element->binding)) {
		put_error(wait, element, UM_API_ERROR_INTERNAL_ERROR);
		um_buf_free(&object);
		return;
	}
	um_watched_end_read(element, shown.digest,
		due_at(context, element, &shown),
		um_api_is_listening(api_of(context)));
	has_moved = !element->has_seen
		|| memcmp(element->seen, shown.digest, sizeof(shown.digest))
			!= 0;
	if (checks || rechecks) {
		wait->asks[wait->asks_len++] = (struct ask){
			.place = (size_t)(element - wait->request.elements),
			.is_check = checks,
			.has_moved = has_moved,
			.object = object,
		};
		return;
	}
	if (has_moved)
		show(wait, &object);
	if (has_moved && shown.is_completed)
		um_api_mark_read(api_of(context), element->id,
			element->binding);
	um_buf_free(&object);
}

static enum um_refusal
finish(const struct um_context *context, struct um_exchange *ex)
{
	struct wait *wait = ex->own;

	if (wait->moved != 0 || context->monotonic_ms >= wait->ends_at)
		return answer(context, ex);
	park(context, ex);
	return UM_REFUSAL_NONE;
}

/* Asks for the next lease, one after another. */
static enum um_refusal
ask(const struct um_context *context, struct um_exchange *ex)
{
	struct wait *wait = ex->own;
	const struct um_watched_element *element;
	const struct ask *next;

	if (wait->asks_len == 0)
		return finish(context, ex);
	next = &wait->asks[wait->asks_len - 1];
	element = &wait->request.elements[next->place];
	um_exchange_request_call(ex,
		next->is_check ? &um_call_take_check : &um_call_begin_recheck,
		element->id, leased);
	um_array_put(&ex->op.args, element->id, sizeof(element->id));
	um_array_put(&ex->op.args, element->binding, sizeof(element->binding));
	if (!next->is_check)
		um_array_put_int64(&ex->op.args, UM_RECHECK_LEASE_MS, true);
	return UM_REFUSAL_NONE;
}

static enum um_refusal
looked(const struct um_context *context, struct um_exchange *ex)
{
	struct wait *wait = ex->own;
	enum um_refusal refusal = um_api_check_call(ex);
	bool *found;

	/* A database that is away delays, as long as the call waits. */
	if (refusal != UM_REFUSAL_NONE) {
		for (size_t i = 0; i < wait->reads_len; i++)
			wait->request.elements[wait->reads[i]].row->due_at =
				context->monotonic_ms + UM_WAIT_POLL_MS;
		if (refusal != UM_REFUSAL_UNAVAILABLE
			|| context->monotonic_ms >= wait->ends_at)
			return refusal;
		return finish(context, ex);
	}
	found = calloc(wait->request.elements_len, sizeof(*found));
	if (found == NULL)
		return UM_REFUSAL_INTERNAL_ERROR;
	for (int row = 0; row < ex->op.rows_len; row++) {
		struct um_watched_element key = { .row = NULL }, *element;
		struct um_shown shown;

		if (!um_shown_read(&shown, &ex->op, row))
			continue;
		memcpy(key.id, shown.id, sizeof(key.id));
		element = bsearch(&key, wait->request.elements,
			wait->request.elements_len, sizeof(key), compare);
		if (element == NULL)
			continue;
		found[element - wait->request.elements] = true;
		take_row(context, ex, row, &shown, element);
	}
	for (size_t i = 0; i < wait->reads_len; i++)
		if (!found[wait->reads[i]])
			put_error(wait, &wait->request.elements[wait->reads[i]],
				UM_API_ERROR_NOT_FOUND);
	free(found);
	return ask(context, ex);
}

/* The lease, or none: another one has it. What has moved is shown in any case. */
static enum um_refusal
leased(const struct um_context *context, struct um_exchange *ex)
{
	struct wait *wait = ex->own;
	struct ask *last = &wait->asks[--wait->asks_len];
	const struct um_watched_element *element =
		&wait->request.elements[last->place];
	bool has_lease = ex->op.status == UM_STORE_DONE && ex->op.rows_len == 1;

	if (has_lease && last->is_check)
		has_lease = um_shown_put_check(&last->object, context, &ex->op,
			element);
	else if (has_lease)
		um_shown_put_recheck(&last->object, &ex->op);
	if (has_lease || last->has_moved)
		show(wait, &last->object);
	um_buf_free(&last->object);
	return ask(context, ex);
}
