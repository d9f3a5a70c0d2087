/* SPDX-License-Identifier: MIT */
#include "app/signin.h"

#include <stdio.h>
#include <string.h>

#include <openssl/crypto.h>

#include "app/checks.h"
#include "app/session.h"
#include "core/encode.h"
#include "crypto/binding.h"
#include "crypto/sealed_text.h"
#include "http/escape.h"
#include "http/header.h"

#define COOKIE_LEN 22 /* 16 random bytes as base64url */

struct um_str
um_signin_cookie(const struct um_exchange *ex)
{
	struct um_str value = um_cookie_get(ex->request.cookie,
		UM_SIGNIN_COOKIE);

	if (value.len != COOKIE_LEN || !um_base64url_is(value))
		return (struct um_str){ 0 };
	return value;
}

/* Where the user was going. */
static void
put_way(struct um_buf *out, const struct um_exchange *ex, const char *route)
{
	struct um_str state = um_form_get(&ex->form, "state");

	um_buf_cat(out, route, ex->provider->name, "?state=");
	um_buf_put(out, state.ptr, state.len);
}

/* The state of a sign-in by the browser with this cookie, then on to `way`. */
static bool
put_state(struct um_buf *out, const struct um_context *context,
	struct um_str way, struct um_str cookie)
{
	struct um_buf scope = { 0 }, text = { 0 };
	struct um_seal_purpose purpose = { .use = UM_USE_SIGNIN };
	uint8_t nonce[UM_NONCE_LEN], browser[UM_BROWSER_LEN];
	bool ok;

	context->random(nonce, sizeof(nonce));
	um_session_put_scope(&scope, context->config, "signin");
	purpose.context = um_buf_str(&scope);
	um_browser_digest(browser, context->keys, cookie);
	um_buf_put(&text, browser, sizeof(browser));
	um_buf_put(&text, way.ptr, way.len);
	ok = !scope.failed && !text.failed
		&& um_sealed_text_put(out, um_buf_str(&text),
			context->now_ms / 1000 + UM_SIGNIN_S, context->keys,
			&purpose, nonce);
	um_buf_free(&scope);
	um_buf_free(&text);
	return ok;
}

void
um_signin_offer(const struct um_context *context, struct um_exchange *ex,
	const struct um_buf *way)
{
	um_buf_clear(&ex->way_on);
	um_buf_puts(&ex->way_on, UM_SIGNIN_ROUTE "?state=");
	if (way->failed
		|| !put_state(&ex->way_on, context, um_buf_str(way),
			um_str("")))
		um_buf_clear(&ex->way_on);
}

/* A parameter of the authorization request; none for NULL. */
static void
put_parameter(struct um_buf *url, const char *name, const char *value)
{
	if (value == NULL)
		return;
	um_buf_cat(url, memchr(url->ptr, '?', url->len) != NULL ? "&" : "?",
		name, "=");
	um_escape_url_arg(url, um_str(value));
}

/*
 * What the provider is told to ask somebody else for. Some refuse select_account,
 * on a page of their own, and some refuse login.
 */
static const char *
prompt_of_other(struct um_exchange *ex)
{
	bool tried =
		um_cookie_get(ex->request.cookie, UM_SIGNIN_OTHER_COOKIE).ptr
		!= NULL;

	if (ex->request.method == UM_GET)
		um_response_cookie(&ex->response, UM_SIGNIN_OTHER_COOKIE,
			um_str(tried ? "" : "1"), tried ? 0 : UM_SIGNIN_S,
			"Lax");
	return tried ? "login" : "select_account";
}

/* `other`: the prompt for somebody else, or NULL. */
static void
put_request(struct um_buf *url, const struct um_config *config,
	const char *returns_to, const char *state, const char *nonce,
	const char *other, bool fresh)
{
	const struct um_openid *openid = &config->openid;
	char max_age[24];

	um_buf_puts(url, openid->authorization_endpoint);
	if (url->failed)
		return;
	snprintf(max_age, sizeof(max_age), "%lld", (long long)openid->max_age);
	put_parameter(url, "response_type", "id_token");
	put_parameter(url, "response_mode", "form_post");
	put_parameter(url, "client_id", openid->client_id);
	put_parameter(url, "redirect_uri", config->base_url);
	um_escape_url_arg(url, um_str(returns_to));
	put_parameter(url, "scope", openid->scope);
	put_parameter(url, "state", state);
	put_parameter(url, "nonce", nonce);
	put_parameter(url, "prompt", other != NULL ? other : openid->prompt);
	put_parameter(url, "login_hint",
		other != NULL ? NULL : openid->login_hint);
	put_parameter(url, "max_age",
		fresh                          ? "0"
			: openid->max_age != 0 ? max_age
					       : NULL);
}

/* All tabs share one cookie. */
enum um_refusal
um_signin_redirect(const struct um_context *context, struct um_exchange *ex,
	struct um_str way, enum um_signin_purpose purpose,
	const char *returns_to)
{
	struct um_str shared = um_signin_cookie(ex);
	char cookie[COOKIE_LEN + 1], nonce[UM_SIGNIN_NONCE_LEN + 1];
	struct um_buf state = { 0 };
	uint8_t bytes[16];
	bool ok;

	context->random(bytes, sizeof(bytes));
	um_base64url_encode(cookie, bytes, sizeof(bytes));
	if (shared.len != 0)
		memcpy(cookie, shared.ptr, COOKIE_LEN);
	ok = put_state(&state, context, way, um_str(cookie))
		&& um_signin_nonce(nonce, context->keys, um_str(cookie),
			um_buf_str(&state));
	um_buf_put(&state, "", 1);
	if (ok && !state.failed) {
		ex->answer = UM_ANSWER_REDIRECT;
		ex->outcome = "redirected";
		ex->reason = "sign_in";
		put_request(&ex->url, context->config, returns_to, state.ptr,
			nonce,
			purpose == UM_SIGNIN_OTHER ? prompt_of_other(ex) : NULL,
			purpose == UM_SIGNIN_FRESH);
		if (ex->request.method == UM_GET)
			um_response_cookie(&ex->response, UM_SIGNIN_COOKIE,
				um_str(cookie), UM_SIGNIN_S, "None");
	}
	ok = ok && !state.failed;
	explicit_bzero(cookie, sizeof(cookie));
	explicit_bzero(bytes, sizeof(bytes));
	um_buf_free(&state);
	return ok ? UM_REFUSAL_NONE : UM_REFUSAL_INTERNAL_ERROR;
}

#define SINCE "&since="
#define FROM "&from="

/* To the provider, unless the user comes from there. `asked`: the field `signin`. */
static enum um_refusal
begin(const struct um_context *context, struct um_exchange *ex,
	struct um_str asked, struct um_buf *way)
{
	bool again = um_str_is(asked, "again");

	if (way->failed)
		return UM_REFUSAL_INTERNAL_ERROR;
	if (um_str_is(asked, "done") || um_str_is(asked, "proved")) {
		um_signin_offer(context, ex, way);
		return UM_REFUSAL_SESSION_MISSING;
	}
	/* It may be all that an approval demands (app/fresh.h). */
	if (ex->provider->kind == UM_KIND_APPROVAL)
		um_buf_printf(way, FROM "%lld",
			(long long)(context->now_ms / 1000));
	/* An attempt that fails leads to another one of this kind. */
	if (again)
		um_buf_puts(way, "&signin=again");
	return um_signin_redirect(context, ex, um_buf_str(way),
		again ? UM_SIGNIN_OTHER : UM_SIGNIN_ANY, UM_SIGNIN_ROUTE);
}

bool
um_signin_begins(const struct um_context *context, struct um_exchange *ex,
	const char *route, enum um_refusal *refusal)
{
	struct um_str asked = um_form_get(&ex->form, "signin");
	struct um_buf way = { 0 };

	if (context->config->user_check != UM_USER_OPENID
		|| (ex->user[0] != '\0' && !um_str_is(asked, "again")))
		return false;
	put_way(&way, ex, route);
	*refusal = begin(context, ex, asked, &way);
	um_buf_free(&way);
	return true;
}

enum um_refusal
um_signin_begin_fresh(const struct um_context *context, struct um_exchange *ex,
	const char *route)
{
	enum um_refusal refusal = UM_REFUSAL_SESSION_MISSING;
	struct um_buf way = { 0 };

	put_way(&way, ex, route);
	if (um_form_is(&ex->form, "signin", "proved")) {
		um_signin_offer(context, ex, &way);
	} else {
		um_buf_printf(&way, SINCE "%lld&signin=fresh",
			(long long)(context->now_ms / 1000));
		refusal = way.failed
			? UM_REFUSAL_INTERNAL_ERROR
			: um_signin_redirect(context, ex, um_buf_str(&way),
				UM_SIGNIN_FRESH, UM_SIGNIN_ROUTE);
	}
	um_buf_free(&way);
	return refusal;
}

/* The time that stands behind this name. */
static int64_t
get_time(const struct um_buf *way, const char *name)
{
	struct um_str rest = um_buf_str(way);
	int64_t since = 0;

	um_str_cut(&rest, name);
	for (size_t i = 0; rest.ptr != NULL && i < rest.len && i < 12
		&& rest.ptr[i] >= '0' && rest.ptr[i] <= '9';
		i++)
		since = since * 10 + (rest.ptr[i] - '0');
	return since;
}

int64_t
um_signin_since(const struct um_buf *way)
{
	return get_time(way, SINCE);
}

bool
um_signin_was_fresh(const struct um_context *context, const struct um_buf *way,
	const struct um_id_token_user *user)
{
	int64_t from = get_time(way, FROM);

	return um_signin_since(way) != 0
		|| (from != 0 && user->auth_time >= from
			&& user->auth_time <= user->issued_at
			&& user->issued_at - user->auth_time
				<= context->now_ms / 1000 - from);
}

void
um_signin_end(struct um_exchange *ex, const struct um_buf *way)
{
	struct um_str rest = um_buf_str(way), address = um_str_cut(&rest, "&");

	ex->url.failed |= way->failed;
	um_buf_put(&ex->url, address.ptr, address.len);
	um_buf_puts(&ex->url,
		um_signin_since(way) != 0 ? "&signin=proved" : "&signin=done");
	um_signin_forget(ex);
	ex->answer = UM_ANSWER_REDIRECT;
	ex->outcome = "signed_in";
}

void
um_signin_offer_other(const struct um_context *context, struct um_exchange *ex,
	const char *route)
{
	struct um_buf way = { 0 };

	if (context->config->user_check != UM_USER_OPENID
		|| (ex->op.outcome != UM_ROW_WRONG_USER
			&& ex->op.outcome != UM_ROW_OWN_REQUEST))
		return;
	put_way(&way, ex, route);
	um_buf_puts(&way, "&signin=again");
	um_signin_offer(context, ex, &way);
	um_buf_free(&way);
}

struct um_acting
um_signin_acting(const struct um_context *context, const struct um_exchange *ex,
	const char *route, struct um_buf *link)
{
	if (ex->user[0] == '\0')
		return (struct um_acting){ .user = um_str(ex->op.row.subject) };
	if (context->config->user_check == UM_USER_OPENID) {
		put_way(link, ex, route);
		um_buf_puts(link, "&signin=again");
	}
	return (struct um_acting){
		.user = um_exchange_user_name(ex),
		.is_known = true,
		.other_account = um_buf_str(link),
	};
}

enum um_refusal
um_signin_check_state(const struct um_context *context,
	const struct um_exchange *ex, struct um_buf *way)
{
	struct um_str cookie = um_signin_cookie(ex), text;
	struct um_buf scope = { 0 }, opened = { 0 };
	struct um_seal_purpose purpose = { .use = UM_USE_SIGNIN };
	enum um_sealed_text state;
	bool same = ex->request.method != UM_POST;

	um_session_put_scope(&scope, context->config, "signin");
	purpose.context = um_buf_str(&scope);
	state = um_sealed_text_open(&opened, um_form_get(&ex->form, "state"),
		context->keys, &purpose, context->now_ms / 1000);
	text = um_buf_str(&opened);
	if (text.len > UM_BROWSER_LEN) {
		uint8_t browser[UM_BROWSER_LEN];

		um_browser_digest(browser, context->keys, cookie);
		same = same
			|| (cookie.len != 0
				&& CRYPTO_memcmp(text.ptr, browser,
					   sizeof(browser))
					== 0);
		um_buf_put(way, text.ptr + UM_BROWSER_LEN,
			text.len - UM_BROWSER_LEN);
	}
	um_buf_free(&scope);
	um_buf_free(&opened);
	switch (state) {
	case UM_SEALED_TEXT_GOOD:
		return same ? UM_REFUSAL_NONE : UM_REFUSAL_WRONG_BROWSER;
	case UM_SEALED_TEXT_EXPIRED:
		return UM_REFUSAL_STATE_EXPIRED;
	case UM_SEALED_TEXT_UNKNOWN_KEY:
		return UM_REFUSAL_UNKNOWN_KEY;
	case UM_SEALED_TEXT_INVALID:
		break;
	}
	return UM_REFUSAL_STATE_INVALID;
}
