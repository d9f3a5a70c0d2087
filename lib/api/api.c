/* SPDX-License-Identifier: MIT */
#include "api/api.h"

#include <stdlib.h>
#include <string.h>

#include "api/announced.h"
#include "core/clock.h"
#include "http/api_error.h"

/* The key of a request that waits was removed. */
static enum um_refusal
removed(const struct um_context *context, struct um_exchange *ex)
{
	(void)context;
	ex->outcome = "refused";
	ex->reason = um_api_error_code(UM_API_ERROR_UNAUTHORIZED);
	um_api_error_put(&ex->response, UM_API_ERROR_UNAUTHORIZED, NULL, NULL);
	return UM_REFUSAL_NONE;
}

/* Ends a call that waits with a key that is not there any more. */
static void
end_if_removed(struct um_api *api, struct um_api_request *request)
{
	if (um_api_keys_has(api->keys, request->key, request->tenant))
		return;
	request->ex->then = removed;
	request->is_due = true;
	request->gathers_until = 0;
	api->wakes_at = 0;
}

static void
check_parked(struct um_api *api)
{
	for (struct um_api_request *request = TAILQ_FIRST(&api->parked);
		request != NULL; request = TAILQ_NEXT(request, link))
		end_if_removed(api, request);
}

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
	check_parked(api);
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
	um_house_free(&api->house);
	free(api);
}

struct notified {
	struct um_api *api;
	const struct um_json_node *notification; /* NULL: it is not known */
};

/* The outcome that is announced is what the row shows from now on. */
static bool
take_outcome(struct um_watched_row *row, void *arg)
{
	const struct notified *notified = arg;
	struct um_api *api = notified->api;
	struct um_watched_state state;
	struct um_buf object = { 0 };
	bool taken = um_announced_put(&state, &object, row,
		notified->notification, api->context->keys);

	if (taken)
		um_watched_show(&api->watched, row, &state,
			api->context->monotonic_ms + UM_WATCHED_ROUTINE_MS);
	um_buf_free(&object);
	return taken && row->kept != NULL;
}

static void
wake_call(void *call, void *arg)
{
	const struct notified *notified = arg;
	struct um_api_request *request = call;

	request->announced++;
	notified->api->announced++;
	um_api_wake(notified->api, request);
}

static void
on_announced(const uint8_t id[static UM_UUID_LEN],
	const struct um_json_node *notification, void *arg)
{
	struct notified notified = { arg, notification };
	const struct um_watched_events events = { take_outcome, wake_call,
		&notified };

	um_watched_announced(&notified.api->watched, id, &events);
}

static void
on_listening(void *arg)
{
	struct notified notified = { .api = arg };
	const struct um_watched_events events = { take_outcome, wake_call,
		&notified };

	um_watched_all_announced(&notified.api->watched, &events);
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
	api->wakes_at = -1;
	um_house_begin(&api->house, loop, um_monotonic_ms());
	um_watched_begin(&api->watched);
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

/* When a parked request goes on, or -1: nobody knows. */
static int64_t
goes_on_at(const struct um_api *api, const struct um_api_request *request)
{
	if (api->stopped)
		return 0;
	if (!request->is_due)
		return request->wakes_at;
	return api->announced + api->announced_before < UM_API_BUSY
			|| request->announced
				>= UM_API_GATHER_MOVED(request->elements_len)
		? 0
		: request->gathers_until;
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
		int64_t at = goes_on_at(api, request);

		next = TAILQ_NEXT(request, link);
		if (at < 0 || at > now) {
			api->wakes_at = um_deadline_earlier(api->wakes_at, at);
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

static void
api_run(void *side, bool ready, int64_t now)
{
	struct um_api *api = side;

	if (now - api->window_at >= UM_API_WINDOW_MS) {
		api->announced_before = now - api->window_at
				< 2 * (int64_t)UM_API_WINDOW_MS
			? api->announced
			: 0;
		api->announced = 0;
		api->window_at = now;
	}
	um_notifications_run(api->notifications, ready, now);
	um_house_run(&api->house, api->stopped, now);
	if (api->forgets_at <= now) {
		um_watched_forget(&api->watched, now);
		api->forgets_at = now + UM_WATCHED_KEEP_MS;
	}
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

	deadline = um_deadline_earlier(deadline,
		um_house_deadline(&api->house));
	return um_deadline_earlier(deadline, api->forgets_at);
}

static void
api_done(void *side, struct um_op *op)
{
	struct um_api *api = side;

	um_house_done(&api->house, op);
}

static void
api_unanswered(void *side, int64_t now)
{
	struct um_api *api = side;

	um_notifications_leave(api->notifications, now);
}

/* What was shown is marked before the process ends. */
static bool
api_is_busy(const void *side)
{
	const struct um_api *api = side;

	return um_house_is_busy(&api->house);
}

/*
 * The first time, what a call of `wait` watches. What has moved already counts, and
 * what the caller has never seen does not: a caller adds that in place of what has
 * ended, and then waits for the others.
 */
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
		request->announced += element->is_due && element->has_seen;
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
		um_watched_leave(&api->watched, &request->elements[i],
			api->context->monotonic_ms);
}

static void
api_park(void *side, struct um_exchange *ex, int64_t now)
{
	struct um_api *api = side;
	struct um_api_request *request = ex->own;

	request->announced = 0;
	if (request->elements != NULL && !request->has_joined)
		join(api, request, now);
	TAILQ_INSERT_TAIL(&api->parked, request, link);
	request->is_listed = true;
	end_if_removed(api, request);
	api->wakes_at = um_deadline_earlier(api->wakes_at,
		goes_on_at(api, request));
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
	.unanswered = api_unanswered,
	.is_busy = api_is_busy,
	.park = api_park,
	.leave = api_leave,
	.stop = api_stop };
