/* SPDX-License-Identifier: MIT */
#include "api/api.h"

#include <stdlib.h>
#include <string.h>

#include "core/clock.h"

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
	free(api);
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
	TAILQ_INIT(&api->parked);
	um_file_changed_or_gone(&api->keys_version, path);
	if (!um_api_keys_load(&api->keys, path, err)) {
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

static void
api_run(void *side, bool ready, int64_t now)
{
	struct um_api *api = side;

	(void)ready;
	if (api->wakes_at >= 0 && api->wakes_at <= now)
		wake_all(api, now);
}

static int
api_watch(const void *side, bool *want_write, unsigned *connection)
{
	(void)side;
	*want_write = false;
	*connection = 0;
	return -1;
}

static int64_t
api_deadline(const void *side)
{
	const struct um_api *api = side;

	return api->wakes_at;
}

static void
api_done(void *side, struct um_op *op)
{
	(void)side;
	um_op_free(op);
}

static void
api_park(void *side, struct um_exchange *ex, int64_t now)
{
	struct um_api *api = side;
	struct um_api_request *request = ex->own;

	(void)now;
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

	if (ex->own != NULL)
		take_off(api, ex->own);
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
