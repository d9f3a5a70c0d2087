/* SPDX-License-Identifier: MIT */
#include "console/session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/checks.h"
#include "app/signin.h"
#include "config/console.h"
#include "core/encode.h"
#include "crypto/sealed_text.h"
#include "http/header.h"
#include "postgres/call.h"

#define USER_NAME_MAX UM_ID_TOKEN_NAME_MAX
#define COOKIE_NAME_MAX 32

/* The context of a sealed text. */
static void
put_context(struct um_buf *out, const struct um_context *context,
	const char *purpose, const struct um_str *about)
{
	um_buf_put(out, purpose, strlen(purpose) + 1);
	um_buf_puts(out, context->config->base_url);
	for (; about->ptr != NULL; about++) {
		um_buf_put(out, "", 1);
		um_buf_put(out, about->ptr, about->len);
	}
}

bool
um_console_seal(struct um_buf *out, const struct um_context *context,
	const char *purpose, const struct um_str *about, struct um_str text,
	int64_t seconds)
{
	struct um_seal_purpose use = { .use = UM_USE_CONSOLE };
	struct um_buf scope = { 0 };
	uint8_t nonce[UM_NONCE_LEN];
	bool ok;

	context->random(nonce, sizeof(nonce));
	put_context(&scope, context, purpose, about);
	use.context = um_buf_str(&scope);
	ok = !scope.failed
		&& um_sealed_text_put(out, text,
			context->now_ms / 1000 + seconds, context->keys, &use,
			nonce);
	um_buf_free(&scope);
	return ok;
}

bool
um_console_open(struct um_buf *out, const struct um_context *context,
	const char *purpose, const struct um_str *about, struct um_str sealed)
{
	struct um_seal_purpose use = { .use = UM_USE_CONSOLE };
	struct um_buf scope = { 0 };
	bool ok;

	put_context(&scope, context, purpose, about);
	use.context = um_buf_str(&scope);
	ok = sealed.len != 0 && !scope.failed
		&& um_sealed_text_open(out, sealed, context->keys, &use,
			   context->now_ms / 1000)
			== UM_SEALED_TEXT_GOOD;
	um_buf_free(&scope);
	return ok;
}

struct um_console *
um_console_of(const struct um_exchange *ex)
{
	return ex->own;
}

static void
free_console(void *own)
{
	struct um_console *console = own;

	if (console == NULL)
		return;
	for (size_t i = 0; i < UM_CONSOLE_DATA_MAX; i++)
		json_decref(console->data[i]);
	um_wipe_free(console, sizeof(*console));
}

/* The part of the session before the next NUL, of at most `max` bytes. */
static bool
take(struct um_str *rest, char *out, size_t max)
{
	size_t len = rest->ptr != NULL ? strnlen(rest->ptr, rest->len) : 0;

	if (rest->ptr == NULL || len > max)
		return false;
	memcpy(out, rest->ptr, len);
	out[len] = '\0';
	if (len == rest->len)
		*rest = (struct um_str){ 0 };
	else
		*rest = (struct um_str){ rest->ptr + len + 1,
			rest->len - len - 1 };
	return true;
}

/* "__Host-urlmode-console-8082": another console on this host has another one. */
static void
cookie_name(char out[static COOKIE_NAME_MAX], const struct um_config *config)
{
	const char *port = strrchr(config->base_url, ':') + 1;

	snprintf(out, COOKIE_NAME_MAX, "%s", UM_CONSOLE_COOKIE);
	if (port[0] != '\0' && strlen(port) <= 5
		&& port[strspn(port, "0123456789")] == '\0')
		snprintf(out, COOKIE_NAME_MAX, "%s-%s", UM_CONSOLE_COOKIE,
			port);
}

/* A session is of its issuer: the next one may know somebody else by a name. */
#define ABOUT_SESSION(config)                                                  \
	(const struct um_str[])                                                \
	{                                                                      \
		um_str((config)->user_check == UM_USER_OPENID                  \
				? (config)->openid.issuer                      \
				: ""),                                         \
		{                                                              \
			0                                                      \
		}                                                              \
	}

/* Of `remote-user`, a session of somebody else is none. */
static bool
read_session(const struct um_context *context, struct um_exchange *ex,
	struct um_console *console)
{
	char user[UM_SUBJECT_MAX + 1], name[USER_NAME_MAX + 1], fresh[24];
	char cookie[COOKIE_NAME_MAX];
	struct um_buf text = { 0 };
	struct um_str rest;
	bool ok;

	cookie_name(cookie, context->config);
	ok = um_console_open(&text, context, "session",
		ABOUT_SESSION(context->config),
		um_cookie_get(ex->request.cookie, cookie));
	rest = um_buf_str(&text);
	ok = ok && take(&rest, user, UM_SUBJECT_MAX)
		&& take(&rest, name, USER_NAME_MAX)
		&& take(&rest, console->id, UM_CONSOLE_ID_LEN)
		&& take(&rest, fresh, sizeof(fresh) - 1)
		&& (ex->user[0] == '\0' || strcmp(ex->user, user) == 0);
	um_buf_free(&text);
	if (!ok) {
		console->id[0] = '\0';
		return false;
	}
	memcpy(ex->user, user, sizeof(user));
	memcpy(ex->user_name, name, sizeof(name));
	console->fresh_at = strtoll(fresh, NULL, 10);
	return true;
}

/* A new session, as a cookie with the response. */
static bool
begin_session(const struct um_context *context, struct um_exchange *ex,
	struct um_console *console, const char *user, const char *name)
{
	const struct um_config *config = context->config;
	int64_t lifetime = config->user_check == UM_USER_OPENID
		? config->openid.session
		: UM_CONSOLE_SESSION_S;
	struct um_buf text = { 0 }, cookie = { 0 };
	char of_cookie[COOKIE_NAME_MAX];
	uint8_t bytes[16];
	bool ok;

	context->random(bytes, sizeof(bytes));
	um_base64url_encode(console->id, bytes, sizeof(bytes));
	um_buf_put(&text, user, strlen(user) + 1);
	um_buf_put(&text, name, strlen(name) + 1);
	um_buf_put(&text, console->id, UM_CONSOLE_ID_LEN + 1);
	um_buf_int(&text, console->fresh_at);
	ok = !text.failed
		&& um_console_seal(&cookie, context, "session",
			ABOUT_SESSION(config), um_buf_str(&text), lifetime);
	cookie_name(of_cookie, config);
	if (ok)
		um_response_cookie(&ex->response, of_cookie,
			um_buf_str(&cookie), lifetime, "Lax");
	um_buf_free(&text);
	um_buf_free(&cookie);
	explicit_bzero(bytes, sizeof(bytes));
	return ok;
}

static bool
asks(const struct um_exchange *ex, const char *word)
{
	return um_form_is(&ex->form, "signin", word);
}

/* Where the user is going, behind the time of a fresh sign-in, or 0. */
static enum um_refusal
begin_sign_in(const struct um_context *context, struct um_exchange *ex,
	enum um_signin_purpose purpose)
{
	const struct um_request *request = &ex->request;
	int64_t since = purpose == UM_SIGNIN_FRESH ? context->now_ms / 1000 : 0;
	enum um_refusal refusal = UM_REFUSAL_INTERNAL_ERROR;
	struct um_buf way = { 0 };

	um_buf_int(&way, since);
	um_buf_puts(&way, " ");
	/* A page that shows the query of a long search is not sealed. */
	if (purpose == UM_SIGNIN_OTHER || request->query.len > 512) {
		um_buf_puts(&way, UM_CONSOLE_ROUTE);
	} else {
		um_buf_put(&way, request->path.ptr, request->path.len);
		if (request->query.len != 0)
			um_buf_puts(&way, "?");
		um_buf_put(&way, request->query.ptr, request->query.len);
	}
	if (!way.failed)
		refusal = um_signin_redirect(context, ex, um_buf_str(&way),
			purpose, UM_SIGNIN_CONSOLE_ROUTE);
	um_buf_free(&way);
	return refusal;
}

/* A link of a refusal: to the first page, as somebody else. */
static void
offer_other(const struct um_context *context, struct um_exchange *ex)
{
	if (context->config->user_check == UM_USER_OPENID)
		um_buf_puts(&ex->way_on, UM_CONSOLE_ROUTE "?signin=again");
}

/* There is no session. Who follows a link to an action signs in for it at once. */
static enum um_refusal
ask_to_sign_in(const struct um_context *context, struct um_exchange *ex)
{
	um_buf_puts(&ex->way_on, UM_CONSOLE_ROUTE);
	if (ex->request.method == UM_POST)
		return UM_REFUSAL_SESSION_ENDED;
	if (asks(ex, "done"))
		return UM_REFUSAL_SESSION_MISSING;
	return begin_sign_in(context, ex,
		um_str_is(ex->request.path, UM_CONSOLE_ROUTE "act")
			? UM_SIGNIN_FRESH
			: UM_SIGNIN_ANY);
}

static enum um_refusal
know_user(const struct um_context *context, struct um_exchange *ex,
	struct um_console *console)
{
	bool is_openid = context->config->user_check == UM_USER_OPENID;
	enum um_refusal refusal;

	if (is_openid && ex->request.method != UM_POST && asks(ex, "again"))
		return begin_sign_in(context, ex, UM_SIGNIN_OTHER);
	if (!is_openid && (refusal = um_check_user(context, ex)))
		return refusal;
	if (!read_session(context, ex, console) && is_openid)
		return ask_to_sign_in(context, ex);
	if (!um_config_is_operator(context->config, ex->user)) {
		offer_other(context, ex);
		return UM_REFUSAL_NOT_OPERATOR;
	}
	if (console->id[0] == '\0' && ex->request.method == UM_GET
		&& !begin_session(context, ex, console, ex->user, ""))
		return UM_REFUSAL_INTERNAL_ERROR;
	return UM_REFUSAL_NONE;
}

enum um_refusal
um_console_enter(const struct um_context *context, struct um_exchange *ex)
{
	struct um_console *console = calloc(1, sizeof(*console));
	enum um_refusal refusal;

	if (console == NULL)
		return UM_REFUSAL_INTERNAL_ERROR;
	refusal = know_user(context, ex, console);
	if (refusal != UM_REFUSAL_NONE || ex->answer == UM_ANSWER_REDIRECT) {
		free_console(console);
		return refusal;
	}
	ex->own = console;
	ex->free_own = free_console;
	return UM_REFUSAL_NONE;
}

/* Takes the time off the way; the rest is an address of the console. */
static int64_t
take_since(struct um_str *address, const struct um_buf *way)
{
	int64_t since = 0;

	*address = um_buf_str(way);
	for (; address->len != 0 && address->ptr[0] >= '0'
		&& address->ptr[0] <= '9' && since < INT64_MAX / 20;
		address->ptr++, address->len--)
		since = since * 10 + (address->ptr[0] - '0');
	um_str_take_prefix(address, " ");
	return since;
}

static enum um_refusal
sign_in(const struct um_context *context, struct um_exchange *ex, int64_t since)
{
	struct um_console console = { 0 };
	struct um_id_token_user user;
	enum um_refusal refusal = um_signin_answer(context, ex, since, &user);

	if (refusal != UM_REFUSAL_NONE)
		return refusal;
	memcpy(ex->user, user.subject, sizeof(user.subject));
	memcpy(ex->user_name, user.name, sizeof(user.name));
	if (!um_config_is_operator(context->config, ex->user)) {
		offer_other(context, ex);
		return UM_REFUSAL_NOT_OPERATOR;
	}
	console.fresh_at = since != 0 ? user.auth_time : 0;
	if (!begin_session(context, ex, &console, user.subject, user.name))
		return UM_REFUSAL_INTERNAL_ERROR;
	um_signin_forget(ex);
	ex->outcome = "signed_in";
	return UM_REFUSAL_NONE;
}

enum um_refusal
um_console_signed_in(const struct um_context *context, struct um_exchange *ex)
{
	struct um_buf way = { 0 };
	struct um_str address;
	enum um_refusal refusal = UM_REFUSAL_STATE_MISSING;
	int64_t since;

	if (um_form_get(&ex->form, "state").len != 0)
		refusal = um_signin_check_state(context, ex, &way);
	since = take_since(&address, &way);
	if (refusal == UM_REFUSAL_NONE)
		refusal = sign_in(context, ex, since);
	if (refusal == UM_REFUSAL_NONE) {
		um_buf_put(&ex->url, address.ptr, address.len);
		um_buf_puts(&ex->url,
			memchr(address.ptr, '?', address.len) != NULL
				? "&signin=done"
				: "?signin=done");
		ex->answer = UM_ANSWER_REDIRECT;
	} else if (ex->way_on.len == 0) {
		um_buf_puts(&ex->way_on, UM_CONSOLE_ROUTE);
	}
	um_buf_free(&way);
	return refusal;
}

bool
um_console_is_fresh(const struct um_context *context, struct um_exchange *ex,
	enum um_refusal *refusal)
{
	int64_t now = context->now_ms / 1000;
	int64_t at = um_console_of(ex)->fresh_at;

	*refusal = UM_REFUSAL_NONE;
	if (context->config->user_check != UM_USER_OPENID
		|| (at <= now + 60 && now - at < UM_CONSOLE_FRESH_S))
		return true;
	um_buf_puts(&ex->way_on, UM_CONSOLE_ROUTE);
	*refusal = ex->request.method == UM_POST ? UM_REFUSAL_SESSION_ENDED
		: asks(ex, "done")
		? UM_REFUSAL_SESSION_MISSING
		: begin_sign_in(context, ex, UM_SIGNIN_FRESH);
	return false;
}

enum um_refusal
um_console_check_site(const struct um_context *context, struct um_exchange *ex)
{
	const char *site = um_request_header("Sec-Fetch-Site", &ex->request);
	const char *origin = um_request_header("Origin", &ex->request);
	/* Pages with Referrer-Policy: no-referrer send "null". */
	bool is_ours = origin != NULL
		&& strcmp(origin, context->config->base_url) == 0;

	if (site == NULL)
		return is_ours ? UM_REFUSAL_NONE : UM_REFUSAL_CROSS_SITE;
	return strcmp(site, "same-origin") == 0
			&& (origin == NULL || is_ours
				|| strcmp(origin, "null") == 0)
		? UM_REFUSAL_NONE
		: UM_REFUSAL_CROSS_SITE;
}

enum um_refusal
um_console_read(struct um_exchange *ex, size_t len)
{
	struct um_console *console = um_console_of(ex);
	enum um_refusal refusal = um_check_done(ex);

	if (refusal != UM_REFUSAL_NONE)
		return refusal;
	if (ex->op.rows_len != 1)
		return UM_REFUSAL_INTERNAL_ERROR;
	for (size_t i = 0; i < len; i++) {
		const char *text = um_call_text(&ex->op, 0, (int)i);

		console->data[i] = text != NULL
			? json_loads(text, JSON_DECODE_ANY, NULL)
			: json_null();
		if (console->data[i] == NULL)
			return UM_REFUSAL_INTERNAL_ERROR;
	}
	return UM_REFUSAL_NONE;
}
