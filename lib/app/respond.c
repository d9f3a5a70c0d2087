/* SPDX-License-Identifier: MIT */
#include "app/respond.h"

#include <string.h>

#include "app/cookies.h"
#include "app/kept.h"
#include "core/file.h"
#include "core/url.h"
#include "http/api_error.h"
#include "http/escape.h"
#include "http/page.h"
#include "webhook/amount.h"

/*
 * For a program. A provider whose signature is right is also told the place that
 * cannot be read, for whoever looks at its list of deliveries.
 */
static void
put_refusal_text(struct um_exchange *ex)
{
	struct um_response *response = &ex->response;
	bool has_place = ex->refusal == UM_REFUSAL_BODY_MALFORMED
		&& ex->fault.text[0] != '\0';

	response->status = um_refusal_status(ex->refusal);
	response->content_type = "text/plain; charset=utf-8";
	um_buf_printf(&response->body, "%s: %s%s%s\n",
		um_refusal_shown_code(ex->refusal),
		um_refusal_advice(ex->refusal), has_place ? " " : "",
		has_place ? ex->fault.text : "");
}

/* A header, so that the state in the address is not on the page. */
static void
put_refresh(struct um_exchange *ex)
{
	struct um_buf refresh = { 0 };

	um_buf_puts(&refresh, UM_RETRY_AFTER);
	if (ex->url.len != 0) {
		um_buf_puts(&refresh, "; url=");
		um_buf_put(&refresh, ex->url.ptr, ex->url.len);
	}
	um_response_header(&ex->response, "Refresh", um_buf_str(&refresh));
	ex->response.headers.failed |= refresh.failed | ex->url.failed;
	um_buf_free(&refresh);
}

/* Appends the provider's address that `urlmode jwks refresh` keeps, if it does. */
static void
read_sign_out(struct um_buf *out, const struct um_openid *openid)
{
	struct um_buf path = { 0 }, text = { 0 };
	struct um_error err;

	um_buf_cat(&path, openid->jwks_file, UM_OPENID_SIGN_OUT_SUFFIX);
	um_buf_put(&path, "", 1);
	if (!path.failed
		&& um_file_read(&text, path.ptr, UM_OPENID_TEXT_MAX, &err)) {
		struct um_str url = um_str_trim(
			um_str_cut(&(struct um_str){ text.ptr, text.len },
				"\n"));

		um_buf_put(out, url.ptr, url.len);
	}
	um_buf_put(out, "", 1);
	if (out->failed || um_url_authority_end(out->ptr) == NULL)
		um_buf_clear(out);
	um_buf_free(&path);
	um_buf_free(&text);
}

/* The provider's page for signing out (RP-Initiated Logout, section 2). */
static void
put_sign_out(struct um_buf *url, const struct um_openid *openid)
{
	struct um_buf kept = { 0 };
	const char *page = openid->end_session_endpoint;

	if (page == NULL) {
		read_sign_out(&kept, openid);
		page = kept.len != 0 ? kept.ptr : NULL;
	}
	if (page != NULL) {
		um_buf_cat(url, page, strchr(page, '?') != NULL ? "&" : "?",
			"client_id=");
		um_escape_url_arg(url, um_str(openid->client_id));
	}
	um_buf_free(&kept);
}

static enum um_reader
reader_of(const struct um_provider *provider)
{
	if (provider == NULL || !um_provider_has_form(provider))
		return UM_READER_ANYBODY;
	return provider->kind == UM_KIND_APPROVAL ? UM_READER_OF_APPROVAL
						  : UM_READER_OF_FORM;
}

/* Whether somebody else could go on. */
static bool
refuses_user(const struct um_exchange *ex)
{
	return ex->user[0] != '\0'
		&& (ex->refusal == UM_REFUSAL_WRONG_USER
			|| ex->refusal == UM_REFUSAL_OWN_REQUEST
			|| ex->refusal == UM_REFUSAL_NOT_OPERATOR);
}

/* How to go on after a refusal. `sign_out` holds what the way points to. */
static struct um_way_on
way_on_of(const struct um_config *config, const struct um_exchange *ex,
	struct um_buf *sign_out)
{
	const struct um_str url = um_buf_str(&ex->way_on);
	struct um_way_on way = { .reader = reader_of(ex->provider),
		.kept = ex->keeps_all };

	if (!refuses_user(ex)) {
		way.try_again = url;
		return way;
	}
	way.acting = (struct um_acting){ .user = um_exchange_user_name(ex),
		.is_known = true,
		.other_account = url };
	if (config->user_check == UM_USER_OPENID)
		put_sign_out(sign_out, &config->openid);
	way.sign_out = um_buf_str(sign_out);
	return way;
}

static enum um_api_error
api_error_of(enum um_refusal refusal)
{
	switch (refusal) {
	case UM_REFUSAL_UNKNOWN_ROUTE:
		return UM_API_ERROR_NOT_FOUND;
	case UM_REFUSAL_METHOD_NOT_ALLOWED:
		return UM_API_ERROR_METHOD_NOT_ALLOWED;
	case UM_REFUSAL_BODY_TOO_LARGE:
		return UM_API_ERROR_TOO_LARGE;
	case UM_REFUSAL_UNAVAILABLE:
	case UM_REFUSAL_TOO_MANY_BODIES:
		return UM_API_ERROR_UNAVAILABLE;
	case UM_REFUSAL_INTERNAL_ERROR:
		return UM_API_ERROR_INTERNAL_ERROR;
	default:
		return UM_API_ERROR_INVALID_REQUEST;
	}
}

static void
put_api_refusal(struct um_exchange *ex)
{
	enum um_api_error error = api_error_of(ex->refusal);

	ex->reason = um_api_error_code(error);
	um_response_free(&ex->response);
	if (ex->refusal == UM_REFUSAL_METHOD_NOT_ALLOWED)
		um_response_header(&ex->response, "Allow", um_str(ex->allow));
	um_api_error_put(&ex->response, error, NULL, NULL);
}

/* It can be done soon, and has not been begun. */
static bool
is_unavailable(enum um_refusal refusal)
{
	return refusal == UM_REFUSAL_UNAVAILABLE
		|| refusal == UM_REFUSAL_NOT_STORED
		|| refusal == UM_REFUSAL_TOO_MANY_BODIES;
}

static void
put_refusal(const struct um_config *config, struct um_exchange *ex)
{
	struct um_buf sign_out = { 0 };
	struct um_way_on way;

	ex->outcome = is_unavailable(ex->refusal)          ? "unavailable"
		: ex->refusal == UM_REFUSAL_INTERNAL_ERROR ? "failed"
							   : "refused";
	if (ex->is_api) {
		put_api_refusal(ex);
		return;
	}
	ex->reason = um_refusal_code(ex->refusal);
	um_response_free(&ex->response);
	if (ex->refusal == UM_REFUSAL_METHOD_NOT_ALLOWED)
		um_response_header(&ex->response, "Allow", um_str(ex->allow));
	if (is_unavailable(ex->refusal)
		|| ex->refusal == UM_REFUSAL_SIGNING_KEY_MISSING)
		um_response_header(&ex->response, "Retry-After",
			um_str(UM_RETRY_AFTER));
	if (ex->plain) {
		put_refusal_text(ex);
		return;
	}
	if (ex->refusal == UM_REFUSAL_UNAVAILABLE)
		put_refresh(ex);
	if (ex->kept.len != 0)
		um_response_cookie_of(&ex->response, UM_KEPT_PATH,
			UM_KEPT_COOKIE, um_buf_str(&ex->kept), UM_KEPT_MAX_AGE,
			"Lax");
	way = way_on_of(config, ex, &sign_out);
	um_page_refusal(&ex->response, &ex->request, &config->brand,
		ex->refusal, &way);
	ex->response.body.failed |= sign_out.failed;
	um_buf_free(&sign_out);
}

/* What is to be paid, in `text`; empty if the row does not say. */
static struct um_str
format_amount(char text[static UM_AMOUNT_LEN + 1], const struct um_row *row)
{
	if (row->currency == NULL)
		return (struct um_str){ 0 };
	um_amount_format(text, row->amount, row->currency);
	return um_str(text);
}

static void
put_confirm(const struct um_config *config, struct um_exchange *ex)
{
	static const enum um_confirm_what what_of[] = {
		[UM_KIND_OAUTH] = UM_CONFIRM_ACCOUNT,
		[UM_KIND_PAYMENT] = UM_CONFIRM_PAYMENT,
		[UM_KIND_SIGNATURE] = UM_CONFIRM_SIGNATURE,
	};
	const struct um_row *row = &ex->op.row;
	char amount[UM_AMOUNT_LEN + 1];
	const struct um_confirm confirm = {
		.what = what_of[ex->provider->kind],
		.requester = um_str(row->requester),
		.subject = um_str(row->subject),
		.provider = um_str(ex->provider->name),
		.display_name = um_str(ex->provider->display_name),
		.state = um_str(ex->state),
		.amount = format_amount(amount, row),
		.currency = um_str(row->currency),
		.opened_before = ex->opened_before,
	};

	um_page_confirm(&ex->response, &ex->request, &config->brand, &confirm);
}

static void
put_redirect(struct um_exchange *ex)
{
	um_response_redirect(&ex->response, um_buf_str(&ex->url));
	ex->response.headers.failed |= ex->url.failed;
}

static void
put_received(struct um_response *response, const struct um_spec_answer *wanted)
{
	response->status = wanted->status;
	response->content_type = wanted->content_type;
	um_buf_puts(&response->body, wanted->body);
}

static void
put_answer(const struct um_config *config, struct um_exchange *ex)
{
	if (ex->refusal != UM_REFUSAL_NONE) {
		put_refusal(config, ex);
		return;
	}
	switch (ex->answer) {
	case UM_ANSWER_WRITTEN:
		break;
	case UM_ANSWER_RECEIVED:
		put_received(&ex->response, &ex->provider->spec->answer);
		break;
	case UM_ANSWER_REDIRECT:
		put_redirect(ex);
		break;
	case UM_ANSWER_DONE:
		um_final_page_set_cookie(&ex->response, ex->final);
		um_response_redirect(&ex->response, um_str("/done"));
		break;
	case UM_ANSWER_FINAL:
		um_page_final(&ex->response, &ex->request, &config->brand,
			ex->final, um_buf_str(&ex->way_on));
		ex->response.body.failed |= ex->way_on.failed;
		break;
	case UM_ANSWER_FOLLOW:
		um_page_follow(&ex->response, &ex->request, &config->brand,
			ex->attempt_failed);
		break;
	case UM_ANSWER_DECIDED:
		um_page_decided(&ex->response, &ex->request, &config->brand,
			strcmp(ex->op.row.action, "accept") == 0,
			um_str(ex->op.row.decided_by));
		break;
	case UM_ANSWER_CHECKING:
		um_page_checking(&ex->response, &ex->request, &config->brand);
		break;
	case UM_ANSWER_CONFIRM:
		put_confirm(config, ex);
		break;
	}
	if (ex->sets_cookie)
		um_browser_set_cookie(&ex->response, ex->cookie);
}

void
um_respond(const struct um_context *context, struct um_exchange *ex,
	struct um_buf *out)
{
	put_answer(context->config, ex);
	um_response_write(&ex->response, &ex->request, out);
	if (!out->failed)
		return;
	um_buf_free(out);
	ex->refusal = UM_REFUSAL_INTERNAL_ERROR;
	put_answer(context->config, ex);
	um_response_write(&ex->response, &ex->request, out);
}
