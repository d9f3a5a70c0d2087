/* SPDX-License-Identifier: MIT */
#include "api/api.h"

#include <stdlib.h>
#include <string.h>

#include "api/calls.h"
#include "contract/limits.h"
#include "core/clock.h"
#include "postgres/array.h"

/* A file that is refused leaves the keys as they were. */
static void
load_keys(struct um_api *api)
{
	const char *path = api->context->config->api_keys_file;
	struct um_api_keys *keys;
	struct um_error err;

	if (!um_api_keys_load(&keys, path, &err)) {
		api->loop.notice(err.text, api->loop.arg);
		return;
	}
	um_api_keys_free(api->keys);
	api->keys = keys;
}

static void
api_close(void *side)
{
	struct um_api *api = side;

	if (api == NULL)
		return;
	um_api_keys_free(api->keys);
	um_notifications_free(api->notifications);
	um_watched_free(&api->watched);
	um_buf_free(&api->read_ids);
	um_buf_free(&api->read_bindings);
	free(api);
}

static void
wake_call(void *call, void *arg)
{
	um_api_wake(arg, call);
}

static void
on_announced(const uint8_t id[static UM_UUID_LEN], void *arg)
{
	struct um_api *api = arg;

	um_watched_announced(&api->watched, id, wake_call, api);
}

static void
on_listening(void *arg)
{
	struct um_api *api = arg;

	um_watched_all_announced(&api->watched, wake_call, api);
}

static void
on_notice(const char *text, void *arg)
{
	struct um_api *api = arg;

	api->loop.notice(text, api->loop.arg);
}

static bool
open_notifications(struct um_api *api, struct um_error *err)
{
	const struct um_config *config = api->context->config;
	const struct um_notifications_events events = { on_announced,
		on_listening, on_notice, api };

	api->notifications = um_notifications_new(config->listen_url != NULL
			? config->listen_url
			: config->database_url,
		&events);
	return api->notifications != NULL || um_error(err, "out of memory");
}

bool
um_api_is_listening(const struct um_api *api)
{
	return um_notifications_is_listening(api->notifications);
}

static void *
api_open(struct um_context *context, const struct um_side_loop *loop,
	struct um_error *err)
{
	const char *path = context->config->api_keys_file;
	struct um_api *api = calloc(1, sizeof(*api));

	if (api == NULL) {
		um_error(err, "out of memory");
		return NULL;
	}
	api->context = context;
	api->loop = *loop;
	api->wakes_at = api->marks_at = -1;
	api->purges_results_at = um_monotonic_ms() + UM_PURGE_RESULTS_EVERY_MS;
	api->purges_rows_at = um_monotonic_ms() + UM_PURGE_ROWS_EVERY_MS;
	TAILQ_INIT(&api->parked);
	um_file_changed_or_gone(&api->keys_version, path);
	if (!um_api_keys_load(&api->keys, path, err)
		|| !open_notifications(api, err)) {
		api_close(api);
		return NULL;
	}
	return api;
}

static void
api_look(void *side, int64_t now)
{
	struct um_api *api = side;

	if (now - api->keys_at < UM_API_LOOK_MS)
		return;
	api->keys_at = now;
	if (um_file_changed_or_gone(&api->keys_version,
		    api->context->config->api_keys_file))
		load_keys(api);
}

static void
take_off(struct um_api *api, struct um_api_request *request)
{
	if (request->is_listed)
		TAILQ_REMOVE(&api->parked, request, link);
	request->is_listed = false;
}

void
um_api_wake(struct um_api *api, struct um_api_request *request)
{
	request->is_due = true;
	if (request->is_listed)
		api->wakes_at = 0;
}

/* Whatever waits no longer goes on: it may be parked again by that. */
static void
wake_all(struct um_api *api, int64_t now)
{
	struct um_api_parked woken = TAILQ_HEAD_INITIALIZER(woken);
	struct um_api_request *request, *next;

	api->wakes_at = -1;
	for (request = TAILQ_FIRST(&api->parked); request != NULL;
		request = next) {
		next = TAILQ_NEXT(request, link);
		if (!request->is_due && !api->stopped
			&& (request->wakes_at < 0 || request->wakes_at > now)) {
			api->wakes_at = um_deadline_earlier(api->wakes_at,
				request->wakes_at);
			continue;
		}
		TAILQ_REMOVE(&api->parked, request, link);
		TAILQ_INSERT_TAIL(&woken, request, link);
	}
	while ((request = TAILQ_FIRST(&woken)) != NULL) {
		TAILQ_REMOVE(&woken, request, link);
		request->is_listed = false;
		api->loop.resume(request->ex, api->loop.arg);
	}
}

/* An operation of its own, which nobody waits for. */
static struct um_op *
new_call(const struct um_call *call)
{
	struct um_op *op = calloc(1, sizeof(*op));

	if (op != NULL)
		*op = (struct um_op){ .kind = UM_OP_CALL, .call = call };
	return op;
}

static void
submit(struct um_api *api, struct um_op *op)
{
	if (op != NULL)
		api->loop.submit(op, api->loop.arg);
}

void
um_api_mark_read(struct um_api *api, const uint8_t id[static UM_UUID_LEN],
	const uint8_t binding[static UM_BINDING_LEN])
{
	um_buf_put(&api->read_ids, id, UM_UUID_LEN);
	um_buf_put(&api->read_bindings, binding, UM_BINDING_LEN);
	if (api->marks_at < 0)
		api->marks_at = api->context->monotonic_ms + UM_MARK_DELAY_MS;
}

static void
mark(struct um_api *api)
{
	struct um_op *op = new_call(&um_call_mark_read);
	size_t len = api->read_ids.len / UM_UUID_LEN;

	if (op != NULL) {
		um_call_put_array(&op->args, UM_CALL_UUIDS,
			(const uint8_t *)api->read_ids.ptr, UM_UUID_LEN, len);
		um_call_put_array(&op->args, UM_CALL_BYTEAS,
			(const uint8_t *)api->read_bindings.ptr, UM_BINDING_LEN,
			len);
		um_array_put_int64(&op->args, UM_KEEP_RESULTS_MS, true);
	}
	submit(api, op);
	um_buf_free(&api->read_ids);
	um_buf_free(&api->read_bindings);
	api->marks_at = -1;
}

static void
purge_results(struct um_api *api, int64_t now)
{
	struct um_op *op = new_call(&um_call_purge_results);

	if (op != NULL)
		um_array_put_int64(&op->args, UM_KEEP_UNCLAIMED_MS, true);
	submit(api, op);
	api->purges_results_at = now + UM_PURGE_RESULTS_EVERY_MS;
}

static void
purge_rows(struct um_api *api, int64_t now)
{
	struct um_op *op = new_call(&um_call_purge);

	if (op != NULL)
		um_array_put_int64(&op->args, UM_RETENTION_MS, true);
	submit(api, op);
	api->purges_rows_at = now + UM_PURGE_ROWS_EVERY_MS;
}

/* What the packages do beside the calls: lib/node/src/core/purge.js. */
static void
keep_house(struct um_api *api, int64_t now)
{
	if (api->marks_at >= 0 && api->marks_at <= now)
		mark(api);
	if (api->purges_results_at <= now)
		purge_results(api, now);
	if (api->purges_rows_at <= now)
		purge_rows(api, now);
	if (api->forgets_at <= now) {
		um_watched_forget(&api->watched, now);
		api->forgets_at = now + UM_WATCHED_KEEP_MS;
	}
}

static void
api_run(void *side, bool ready, int64_t now)
{
	struct um_api *api = side;

	um_notifications_run(api->notifications, ready, now);
	keep_house(api, now);
	if (api->wakes_at >= 0 && api->wakes_at <= now)
		wake_all(api, now);
}

static int
api_watch(const void *side, bool *want_write, unsigned *connection)
{
	const struct um_api *api = side;

	return um_notifications_watch(api->notifications, want_write,
		connection);
}

static int64_t
api_deadline(const void *side)
{
	const struct um_api *api = side;
	int64_t deadline = um_deadline_earlier(api->wakes_at,
		um_notifications_deadline(api->notifications));

	deadline = um_deadline_earlier(deadline, api->marks_at);
	deadline = um_deadline_earlier(deadline, api->purges_results_at);
	deadline = um_deadline_earlier(deadline, api->purges_rows_at);
	return um_deadline_earlier(deadline, api->forgets_at);
}

/* A purge that has taken something is followed by the next one. */
static void
api_done(void *side, struct um_op *op)
{
	struct um_api *api = side;
	bool more = op->status == UM_STORE_DONE && op->rows_len == 1
		&& um_call_int(op, 0, 0) > 0;

	if (more && op->call == &um_call_purge_results)
		api->purges_results_at = 0;
	if (more && op->call == &um_call_purge)
		api->purges_rows_at = 0;
	um_op_free(op);
	free(op);
}

/* The first time, what a call of `wait` watches. */
static void
join(struct um_api *api, struct um_api_request *request, int64_t now)
{
	bool listening = um_api_is_listening(api);

	request->has_joined = true;
	api->waits_len++;
	for (size_t i = 0; i < request->elements_len; i++) {
		struct um_watched_element *element = &request->elements[i];

		element->call = request;
		if (!um_watched_join(&api->watched, element, now) || !listening)
			element->is_due = true;
	}
}

static void
leave(struct um_api *api, struct um_api_request *request)
{
	if (!request->has_joined)
		return;
	request->has_joined = false;
	api->waits_len--;
	for (size_t i = 0; i < request->elements_len; i++)
		um_watched_leave(&request->elements[i],
			api->context->monotonic_ms);
}

static void
api_park(void *side, struct um_exchange *ex, int64_t now)
{
	struct um_api *api = side;
	struct um_api_request *request = ex->own;

	if (request->elements != NULL && !request->has_joined)
		join(api, request, now);
	TAILQ_INSERT_TAIL(&api->parked, request, link);
	request->is_listed = true;
	api->wakes_at = request->is_due || api->stopped
		? 0
		: um_deadline_earlier(api->wakes_at, request->wakes_at);
}

static void
api_leave(void *side, struct um_exchange *ex)
{
	struct um_api *api = side;

	if (ex->own == NULL)
		return;
	take_off(api, ex->own);
	leave(api, ex->own);
}

static void
api_stop(void *side, int64_t now)
{
	struct um_api *api = side;

	(void)now;
	api->stopped = true;
	api->wakes_at = 0;
}

const struct um_side um_api_side = { .open = api_open,
	.close = api_close,
	.look = api_look,
	.run = api_run,
	.watch = api_watch,
	.deadline = api_deadline,
	.done = api_done,
	.park = api_park,
	.leave = api_leave,
	.stop = api_stop };
