/* SPDX-License-Identifier: MIT */
#include "server/cgi.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app/respond.h"
#include "app/route.h"
#include "core/file.h"
#include "postgres/store.h"
#include "server/issuer_keys.h"
#include "server/loop.h"
#include "server/metrics.h"

#define DROPPED_MAX 1048576 /* bytes that are read of a body over the limit */

static const char *
get_env(const char *name, void *arg)
{
	(void)arg;
	return getenv(name);
}

/*
 * How many bytes of standard input to read: CONTENT_LENGTH, or without it (a
 * chunked body) all of it, but of a body over the limit at most DROPPED_MAX
 * more.
 */
static unsigned long long
input_max(const struct um_exchange *ex, enum um_content_length known,
	unsigned long long len, size_t max)
{
	if (known == UM_CONTENT_LENGTH_UNKNOWN && ex->request.method != UM_POST)
		return 0;
	if (known != UM_CONTENT_LENGTH_KNOWN || len > max + DROPPED_MAX)
		return max + DROPPED_MAX;
	return len;
}

/*
 * Reads the body. One over the limit is read and dropped, since a web server
 * that is still writing when this process ends (fcgiwrap) answers with an error
 * page of its own.
 */
static void
read_body(struct um_exchange *ex, struct um_buf *body, size_t max)
{
	unsigned long long len = 0;
	enum um_content_length known = um_request_content_length(&ex->request,
		&len);
	unsigned long long left = input_max(ex, known, len, max);
	bool drop = len > max || known == UM_CONTENT_LENGTH_MALFORMED;
	char chunk[4096];
	ssize_t n = 0;

	while (left != 0) {
		n = read(STDIN_FILENO, chunk,
			left < sizeof(chunk) ? (size_t)left : sizeof(chunk));
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		drop = drop || body->len + (size_t)n > max;
		if (!drop)
			um_buf_put(body, chunk, (size_t)n);
		left -= (unsigned long long)n;
	}
	explicit_bzero(chunk, sizeof(chunk));
	ex->request.body_too_large = drop;
	/*
	 * An incomplete body counts as none: the code in it may be incomplete.
	 */
	if (!drop && n >= 0
		&& (left == 0 || known == UM_CONTENT_LENGTH_UNKNOWN))
		ex->request.body = um_buf_str(body);
}

struct waiting {
	struct um_log *log;
	struct um_metrics *metrics;
	size_t left;
};

static void
on_done(struct um_op *op, void *arg)
{
	struct waiting *waiting = arg;

	um_metrics_event(waiting->metrics, op);
	waiting->left--;
}

static void
on_notice(const char *text, void *arg)
{
	struct waiting *waiting = arg;

	um_log_notice(waiting->log, text, um_clock_wall_ms());
}

/* Carries out the operations that are requested. */
static void
carry_out(struct um_exchange *ex, const struct um_program *program,
	const struct um_context *context, struct um_log *log)
{
	struct waiting waiting = { .log = log,
		.metrics = context->metrics,
		.left = ex->ops_len };
	const struct um_store_events events = { on_done, on_notice, NULL,
		um_monotonic_us, NULL, &waiting };
	struct um_store *store = um_store_new(context->config->database_url,
		program->name, program->login, NULL, &events);

	if (store == NULL)
		return; /* They stay UNAVAILABLE. */
	um_store_assign(store, context->config->providers,
		context->config->providers_len);
	for (size_t i = 0; i < ex->ops_len; i++)
		um_store_submit(store, &ex->ops[i], um_monotonic_ms());
	um_store_run(store, false, um_monotonic_ms());
	while (waiting.left != 0) {
		bool want_write;
		unsigned connection;
		struct pollfd pfd = {
			.fd = um_store_watch(store, &want_write, &connection),
			.events = POLLIN,
		};
		int64_t left = um_store_deadline(store) - um_monotonic_ms();

		if (want_write)
			pfd.events |= POLLOUT;
		poll(&pfd, 1, left < 0 ? 0 : (int)left);
		um_store_run(store, pfd.revents != 0, um_monotonic_ms());
	}
	um_store_free(store);
}

int
um_cgi_run(const struct um_program *program, struct um_context *context,
	struct um_log *log)
{
	struct um_exchange ex;
	struct um_buf path = { 0 };
	struct um_buf body = { 0 };
	struct um_buf out = { 0 };
	struct um_file_version jwks = { 0 };
	struct um_error err;
	int64_t began = um_monotonic_us();
	int64_t took_us;
	bool sent;

	alarm(UM_CGI_S);
	context->now_ms = um_clock_wall_ms();
	context->monotonic_ms = um_monotonic_ms();
	um_exchange_begin(&ex, &path, get_env, NULL, context);
	read_body(&ex, &body, um_route_body_max(program));
	if (!um_issuer_keys_look(context, &ex, &jwks, &err))
		um_log_notice(log, err.text, context->now_ms);
	um_route_request(context, &ex, program);
	while (ex.then != NULL) {
		carry_out(&ex, program, context, log);
		um_exchange_step(context, &ex, ex.then);
	}
	um_respond(context, &ex, &out);
	if (!um_issuer_keys_ask(context, &ex, &err))
		um_log_notice(log, err.text, context->now_ms);
	sent = um_file_write(STDOUT_FILENO, um_buf_str(&out));
	took_us = um_monotonic_us() - began;
	um_metrics_count(context->metrics, &ex, took_us);
	um_log_request(log, &ex, um_clock_wall_ms(), took_us);
	um_log_flush(log);
	um_exchange_free(&ex);
	um_buf_free(&path);
	um_buf_free(&body);
	um_buf_free(&out);
	return sent ? 0 : 1;
}
