/* SPDX-License-Identifier: MIT */
#include "api/wait.h"

#include <stdlib.h>
#include <string.h>

#include "api/api.h"
#include "api/calls.h"
#include "api/shown.h"
#include "api/wait_answer.h"
#include "api/wait_request.h"
#include "contract/limits.h"
#include "core/clock.h"
#include "core/json_put.h"
#include "postgres/array.h"

static um_step look, looked, expired, leased;

static struct um_api *
api_of(const struct um_context *context)
{
	return context->side;
}

enum um_refusal
um_wait_plan(const struct um_context *context, struct um_exchange *ex)
{
	struct um_wait *wait = um_api_begin(context, ex, sizeof(*wait),
		um_wait_free);

	if (wait == NULL)
		return UM_REFUSAL_NONE;
	um_wait_read(wait, context);
	if (!um_api_end(&wait->request))
		return UM_REFUSAL_NONE;
	/* Elements are copies. */
	um_api_request_free(&wait->request);
	if (api_of(context)->waits_len >= UM_API_WAITS_MAX)
		return um_api_fail(ex, UM_API_ERROR_TOO_MANY, NULL, NULL);
	wait->request.is_due = true;
	wait->request.gathers_until = um_deadline_earlier(wait->ends_at,
		context->monotonic_ms
			+ (int64_t)(wait->request.elements_len
				/ UM_API_GATHER_ELEMENTS));
	um_exchange_park(ex, look);
	return UM_REFUSAL_NONE;
}

static enum um_refusal
answer(const struct um_context *context, struct um_exchange *ex)
{
	struct um_wait *wait = ex->own;
	struct um_buf *json = um_api_answer(ex, 200,
		wait->moved != 0 ? "moved" : "waited");

	(void)context;
	um_wait_put_answer(json, wait);
	return UM_REFUSAL_NONE;
}

/* Until the call ends, or one of its rows is to be read again. */
static void
park(const struct um_context *context, struct um_exchange *ex)
{
	struct um_wait *wait = ex->own;
	struct um_api_request *request = &wait->request;

	request->wakes_at = wait->ends_at;
	if (wait->delayed_until > context->monotonic_ms) {
		request->wakes_at = um_deadline_earlier(request->wakes_at,
			wait->delayed_until);
		um_exchange_park(ex, look);
		return;
	}
	for (size_t i = 0; i < request->elements_len; i++) {
		const struct um_watched_row *row = request->elements[i].row;

		request->is_due |= request->elements[i].is_due;
		if (row != NULL)
			request->wakes_at =
				um_deadline_earlier(request->wakes_at,
					um_deadline_earlier(row->due_at,
						request->elements[i].due_at));
	}
	if (!um_api_is_listening(api_of(context)))
		request->wakes_at = um_deadline_earlier(request->wakes_at,
			context->monotonic_ms + UM_WAIT_POLL_MS);
	um_exchange_park(ex, look);
}

static void
mark(const struct um_context *context, const struct um_watched_element *element)
{
	um_house_mark(&api_of(context)->house, element->id, element->binding,
		context->monotonic_ms);
}

/* Whether its time has come, or that of its row. */
static bool
is_due(const struct um_watched_element *element, bool listening, int64_t now)
{
	const struct um_watched_row *row = element->row;

	return element->is_due || !listening || row->due_at <= now
		|| (element->due_at >= 0 && element->due_at <= now);
}

/* Shows a row as it is kept, if it has moved. False: it has no room. */
static bool
show_kept(const struct um_context *context, struct um_wait *wait,
	struct um_watched_element *element)
{
	const struct um_str kept = um_watched_object(element->row);

	if (um_watched_has_moved(element)) {
		if (!um_wait_has_room(wait, kept.len))
			return false;
		um_wait_put(wait, kept);
		if (element->row->is_completed)
			mark(context, element);
	}
	element->is_due = false;
	return true;
}

/*
 * Shows those of the next elements that have moved and are known, and chooses those
 * that are to be read.
 */
static void
choose(const struct um_context *context, struct um_wait *wait)
{
	struct um_api_request *request = &wait->request;
	bool listening = um_api_is_listening(api_of(context));

	wait->reads_len = 0;
	for (; wait->next < request->elements_len
		&& wait->reads_len < UM_WAIT_READS_MAX;
		wait->next++) {
		struct um_watched_element *element =
			&request->elements[wait->next];

		if (element->row == NULL
			|| !is_due(element, listening, context->monotonic_ms))
			continue;
		element->is_due = true;
		if (!listening
			|| !um_watched_is_known(element, context->monotonic_ms))
			wait->reads[wait->reads_len++] = wait->next;
		else if (!show_kept(context, wait, element))
			return;
	}
}

/* Calls with the ids and the bindings of the elements that are being read. */
static void
request_for_reads(struct um_exchange *ex, const struct um_call *call,
	um_step *then)
{
	const struct um_wait *wait = ex->own;
	struct um_buf ids = { 0 }, bindings = { 0 };

	for (size_t i = 0; i < wait->reads_len; i++) {
		const struct um_watched_element *element =
			&wait->request.elements[wait->reads[i]];

		um_buf_put(&ids, element->id, sizeof(element->id));
		um_buf_put(&bindings, element->binding,
			sizeof(element->binding));
	}
	um_exchange_request_call(ex, call, NULL, then);
	um_call_put_array(&ex->op.args, UM_CALL_UUIDS, (uint8_t *)ids.ptr,
		UM_UUID_LEN, wait->reads_len);
	um_call_put_array(&ex->op.args, UM_CALL_BYTEAS, (uint8_t *)bindings.ptr,
		UM_BINDING_LEN, wait->reads_len);
	ex->op.args.failed |= ids.failed || bindings.failed;
	um_buf_free(&ids);
	um_buf_free(&bindings);
}

static enum um_refusal
read_rows(struct um_exchange *ex)
{
	struct um_wait *wait = ex->own;

	for (size_t i = 0; i < wait->reads_len; i++)
		um_watched_begin_read(&wait->request.elements[wait->reads[i]]);
	request_for_reads(ex, &um_call_read_waiting, looked);
	ex->op.reads = (unsigned)wait->reads_len;
	return UM_REFUSAL_NONE;
}

static enum um_refusal
finish(const struct um_context *context, struct um_exchange *ex)
{
	const struct um_wait *wait = ex->own;

	if (wait->moved != 0 || context->monotonic_ms >= wait->ends_at)
		return answer(context, ex);
	park(context, ex);
	return UM_REFUSAL_NONE;
}

/* Reads what is due of the rest of its elements, as long as there is room. */
static enum um_refusal
look_on(const struct um_context *context, struct um_exchange *ex)
{
	struct um_wait *wait = ex->own;

	if (!wait->is_full)
		choose(context, wait);
	if (wait->is_full)
		return answer(context, ex);
	return wait->reads_len != 0 ? read_rows(ex) : finish(context, ex);
}

/* It is awake: something is announced, or a time has come. */
static enum um_refusal
look(const struct um_context *context, struct um_exchange *ex)
{
	struct um_wait *wait = ex->own;

	wait->request.is_due = false;
	if (api_of(context)->stopped)
		return answer(context, ex);
	if (context->monotonic_ms
		< um_deadline_earlier(wait->ends_at, wait->delayed_until))
		return finish(context, ex);
	wait->next = 0;
	return look_on(context, ex);
}

/* Whatever came of it: the row says how it is. */
static enum um_refusal
expired(const struct um_context *context, struct um_exchange *ex)
{
	struct um_wait *wait = ex->own;

	(void)context;
	wait->has_expired = true;
	return read_rows(ex);
}

/* What is to be done about a row that was read, which shows `object`. */
static void
take_row(const struct um_context *context, struct um_wait *wait,
	const struct um_shown *shown, struct um_watched_element *element,
	struct um_buf *object)
{
	bool checks = element->can_check && shown->awaits_check;
	bool rechecks = element->can_recheck && shown->awaits_recheck
		&& shown->recheck_in_ms <= 0;
	bool has_moved = !element->has_seen
		|| memcmp(element->seen, shown->digest, sizeof(shown->digest))
			!= 0;

	if (checks || rechecks) {
		wait->asks[wait->asks_len++] = (struct um_wait_ask){
			.place = (size_t)(element - wait->request.elements),
			.is_check = checks,
			.has_moved = has_moved,
			.object = *object,
		};
		*object = (struct um_buf){ 0 };
	} else if (has_moved && um_wait_has_room(wait, object->len)) {
		um_wait_put(wait, um_buf_str(object));
		if (shown->is_completed)
			mark(context, element);
	}
}

/* A row that was read. */
static void
read_row(const struct um_context *context, struct um_exchange *ex, int row,
	struct um_shown *shown, struct um_watched_element *element)
{
	struct um_api *api = api_of(context);
	struct um_buf object = { 0 }, verifier = { 0 };

	if (um_shown_put(shown, &object, &verifier, context, &ex->op, row,
		    element->binding)) {
		struct um_watched_state state = {
			.is_completed = shown->is_completed,
			.is_claimable = shown->is_claimable,
			.is_asked = shown->awaits_check
				|| shown->awaits_recheck,
			.object = um_buf_str(&object),
		};

		memcpy(state.digest, shown->digest, sizeof(state.digest));
		if (!shown->is_completed)
			state.verifier = um_buf_str(&verifier);
		um_watched_end_read(&api->watched, element, &state,
			um_shown_due_at(shown, element, context->monotonic_ms),
			um_api_is_listening(api));
		take_row(context, ex->own, shown, element, &object);
	} else {
		um_wait_put_error(ex->own, element,
			UM_API_ERROR_INTERNAL_ERROR);
	}
	um_buf_free(&object);
	um_buf_free(&verifier);
}

/*
 * Asks for the next lease, one after another, as long as there is room for what
 * comes with it: a lease that nobody hears of would only be lost.
 */
static enum um_refusal
ask(const struct um_context *context, struct um_exchange *ex)
{
	struct um_wait *wait = ex->own;
	const struct um_watched_element *element;
	const struct um_wait_ask *next;

	while (wait->asks_len != 0
		&& !um_wait_has_room(wait,
			wait->asks[wait->asks_len - 1].object.len
				+ UM_RESULT_MAX))
		um_buf_free(&wait->asks[--wait->asks_len].object);
	if (wait->asks_len == 0)
		return look_on(context, ex);
	next = &wait->asks[wait->asks_len - 1];
	element = &wait->request.elements[next->place];
	um_exchange_request_call(ex,
		next->is_check ? &um_call_take_check : &um_call_begin_recheck,
		element->id, leased);
	um_array_put(&ex->op.args, element->id, sizeof(element->id));
	um_array_put(&ex->op.args, element->binding, sizeof(element->binding));
	if (!next->is_check) {
		um_array_put_int64(&ex->op.args, UM_RECHECK_LEASE_MS, true);
		um_array_put_int64(&ex->op.args, 0, false);
	}
	return UM_REFUSAL_NONE;
}

/*
 * A database that is away delays, as long as the call waits. What is in the answer
 * already is answered.
 */
static enum um_refusal
delay(const struct um_context *context, struct um_exchange *ex,
	enum um_refusal refusal)
{
	struct um_wait *wait = ex->own;

	wait->has_expired = false;
	for (size_t i = 0; i < wait->reads_len; i++)
		wait->request.elements[wait->reads[i]].is_due = true;
	while (wait->asks_len != 0) {
		struct um_wait_ask *last = &wait->asks[--wait->asks_len];

		wait->request.elements[last->place].is_due = true;
		um_buf_free(&last->object);
	}
	wait->delayed_until = context->monotonic_ms + UM_WAIT_POLL_MS;
	if (wait->moved == 0
		&& (refusal != UM_REFUSAL_UNAVAILABLE
			|| context->monotonic_ms >= wait->ends_at))
		return refusal;
	return finish(context, ex);
}

enum found { MISSING, SHOWN, OVERDUE };

/* Takes each row that was read. One that is overdue is first expired, once. */
static void
take_rows(const struct um_context *context, struct um_exchange *ex,
	enum found *found)
{
	struct um_wait *wait = ex->own;

	for (int row = 0; row < ex->op.rows_len; row++) {
		struct um_watched_element *element;
		struct um_shown shown;

		if (!um_shown_read(&shown, &ex->op, row))
			continue;
		element = um_wait_find(wait, shown.id);
		if (element == NULL)
			continue;
		if (!wait->has_expired && um_shown_is_overdue(&shown)) {
			found[element - wait->request.elements] = OVERDUE;
			continue;
		}
		found[element - wait->request.elements] = SHOWN;
		read_row(context, ex, row, &shown, element);
	}
}

static enum um_refusal
looked(const struct um_context *context, struct um_exchange *ex)
{
	struct um_wait *wait = ex->own;
	enum um_refusal refusal = um_api_check_call(ex);
	enum found *found;
	size_t overdue = 0;

	if (refusal != UM_REFUSAL_NONE)
		return delay(context, ex, refusal);
	found = calloc(wait->request.elements_len, sizeof(*found));
	if (found == NULL)
		return UM_REFUSAL_INTERNAL_ERROR;
	take_rows(context, ex, found);
	wait->has_expired = false;
	for (size_t i = 0; i < wait->reads_len; i++) {
		size_t place = wait->reads[i];

		if (found[place] == MISSING)
			um_wait_put_error(wait, &wait->request.elements[place],
				UM_API_ERROR_NOT_FOUND);
		else if (found[place] == OVERDUE)
			wait->reads[overdue++] = place;
	}
	free(found);
	if (overdue == 0)
		return ask(context, ex);
	wait->reads_len = overdue;
	request_for_reads(ex, &um_call_expire, expired);
	return UM_REFUSAL_NONE;
}

/* The lease, or none: another one has it. What has moved is shown in any case. */
static enum um_refusal
leased(const struct um_context *context, struct um_exchange *ex)
{
	struct um_wait *wait = ex->own;
	struct um_wait_ask *last = &wait->asks[--wait->asks_len];
	const struct um_watched_element *element =
		&wait->request.elements[last->place];
	bool has_lease = ex->op.status == UM_STORE_DONE && ex->op.rows_len == 1;

	if (has_lease && last->is_check)
		has_lease = um_shown_put_check(&last->object, context, &ex->op,
			element);
	else if (has_lease)
		um_shown_put_recheck(&last->object, &ex->op);
	if (has_lease || last->has_moved)
		um_wait_put(wait, um_buf_str(&last->object));
	um_buf_free(&last->object);
	return ask(context, ex);
}
