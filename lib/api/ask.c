/* SPDX-License-Identifier: MIT */
#include "api/ask.h"

#include <stdlib.h>

#include "api/calls.h"
#include "api/request.h"
#include "core/json_put.h"
#include "postgres/array.h"

#define CLIENT_TEXT_MAX 8192 /* of the name and of the version, in bytes */

struct ask {
	struct um_api_request request;
	struct um_api_owner owner;
	uint8_t client[UM_DIGEST_LEN];
};

static um_step begun, ended, put_may, put_nothing;

static void
free_ask(void *own)
{
	struct ask *ask = own;

	um_api_request_free(&ask->request);
	free(ask);
}

/* A client is known by its name and its version, each empty if it says none. */
static void
read_client(struct ask *ask, const struct um_context *context)
{
	struct um_str name = um_str(""), version = um_str("");
	struct um_buf text = { 0 };
	struct um_reader client;

	if (!um_reader_object(&ask->request.root, "client", UM_REQUIRED,
		    &client))
		return;
	um_reader_text(&client, "name", UM_OPTIONAL, 0, CLIENT_TEXT_MAX, &name);
	um_reader_text(&client, "version", UM_OPTIONAL, 0, CLIENT_TEXT_MAX,
		&version);
	um_reader_end(&client);
	um_buf_put(&text, name.ptr, name.len);
	um_buf_put(&text, "", 1);
	um_buf_put(&text, version.ptr, version.len);
	um_digest_of(ask->client, context->keys, UM_CLIENT_LABEL,
		um_buf_str(&text));
	um_buf_free(&text);
}

static struct ask *
begin(const struct um_context *context, struct um_exchange *ex)
{
	struct ask *ask = um_api_begin(context, ex, sizeof(*ask), free_ask);

	if (ask == NULL)
		return NULL;
	um_api_read_owner(&ask->request, context, &ask->owner);
	read_client(ask, context);
	return ask;
}

static struct um_buf *
request_call(struct um_exchange *ex, const struct um_call *call, um_step *then)
{
	const struct ask *ask = ex->own;
	struct um_buf *args = um_api_request_call(ex, call, &ask->owner, then);

	um_array_put(args, ask->client, sizeof(ask->client));
	return args;
}

enum um_refusal
um_begin_ask_plan(const struct um_context *context, struct um_exchange *ex)
{
	struct ask *ask = begin(context, ex);
	bool awaited = false;

	if (ask == NULL)
		return UM_REFUSAL_NONE;
	um_reader_bool(&ask->request.root, "awaited", &awaited);
	if (um_api_end(&ask->request))
		um_call_put_bool(request_call(ex, &um_call_begin_ask, begun),
			awaited);
	return UM_REFUSAL_NONE;
}

/* `earlier`: what the client has done with this elicitation; null: it may be asked. */
static enum um_refusal
put_earlier(struct um_exchange *ex, const char *earlier)
{
	struct um_buf *json = um_api_answer(ex, 200, "ok");

	um_api_put_text(json, "earlier", earlier);
	um_json_put_end(json);
	return UM_REFUSAL_NONE;
}

static enum um_refusal
begun(const struct um_context *context, struct um_exchange *ex)
{
	const struct ask *ask = ex->own;

	(void)context;
	/* Where there is nothing, the function does not say whether there is a row. */
	return um_call_is(&ex->op, 0, 0, "")
		? um_api_look_up(ex, &ask->owner, put_may)
		: put_earlier(ex, um_call_text(&ex->op, 0, 0));
}

static enum um_refusal
put_may(const struct um_context *context, struct um_exchange *ex)
{
	(void)context;
	return put_earlier(ex, NULL);
}

enum um_refusal
um_end_ask_plan(const struct um_context *context, struct um_exchange *ex)
{
	static const char *const answers[] = { "accepted", "asked", "declined",
		"dismissed", "failed", NULL };
	struct ask *ask = begin(context, ex);
	size_t answer = 0;

	if (ask == NULL)
		return UM_REFUSAL_NONE;
	um_reader_choice(&ask->request.root, "answer", UM_REQUIRED, answers,
		&answer);
	if (um_api_end(&ask->request))
		um_array_put_text(request_call(ex, &um_call_end_ask, ended),
			answers[answer]);
	return UM_REFUSAL_NONE;
}

static enum um_refusal
ended(const struct um_context *context, struct um_exchange *ex)
{
	const struct ask *ask = ex->own;

	(void)context;
	return um_api_look_up(ex, &ask->owner, put_nothing);
}

static enum um_refusal
put_nothing(const struct um_context *context, struct um_exchange *ex)
{
	(void)context;
	um_json_put_end(um_api_answer(ex, 200, "ok"));
	return UM_REFUSAL_NONE;
}
