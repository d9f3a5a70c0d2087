/* SPDX-License-Identifier: MIT */
/*
 * /oauth/<provider>/return
 *
 * The authorization response (RFC 6749 section 4.1.2), in the query or as
 * form_post (OAuth 2.0 Form Post Response Mode). The state first: whoever
 * has none learns nothing. Then the issuer (RFC 9207 section 2.4), then what
 * the provider says; its parameters are sealed for the waiting side.
 */
#include <string.h>

#include <jansson.h>
#include <openssl/crypto.h>

#include "program.h"
#include "seal.h"

/* A cross-site POST carries no Lax cookie; the GET that follows a 303 does. */
static void
come_again_by_get(struct um_exchange *ex, struct um_buf *url)
{
	um_buf_printf(url, "/oauth/%s/return?", ex->provider->name);
	for (size_t i = 0; i < ex->form.len; i++) {
		if (i != 0)
			um_buf_puts(url, "&");
		um_url_arg(url, ex->form.field[i].name);
		um_buf_puts(url, "=");
		um_url_arg(url, ex->form.field[i].value);
	}
	um_buf_put(url, "", 1);
	url->len -= !url->failed;
}

/* RFC 9207 section 2.4: compared as strings, on errors as well. */
static bool
issuer_is_good(struct um_exchange *ex)
{
	struct um_str iss = um_form_get(&ex->form, "iss");

	if (ex->provider->issuer == NULL)
		return true;
	if (iss.ptr == NULL)
		return !ex->provider->sends_iss || um_refuse(ex, UM_REFUSAL_ISSUER_MISSING);
	return um_str_is(iss, ex->provider->issuer)
		|| um_refuse(ex, UM_REFUSAL_ISSUER_MISMATCH);
}

/* What the provider's answer means, in the protocol's words. */
static bool
read_outcome(struct um_exchange *ex)
{
	struct um_str code = um_form_get(&ex->form, "code");
	struct um_str error = um_form_get(&ex->form, "error");

	if (code.len == 0 && error.len == 0)
		return um_refuse(ex, UM_REFUSAL_RESPONSE_INCOMPLETE);
	if (code.len != 0 && error.len != 0)
		return um_refuse(ex, UM_REFUSAL_RESPONSE_AMBIGUOUS);
	if (code.len != 0) {
		ex->op.action = "accept";
		ex->op.reason = "";
	} else if (um_str_is(error, "access_denied")) {
		ex->op.action = "decline";
		ex->op.reason = "access_denied";
	} else {
		ex->op.action = "cancel";
		ex->op.reason = "provider_error";
	}
	ex->reason = ex->op.reason;
	return true;
}

/* Every parameter but the state, as a JSON object, sealed. */
static bool
seal_parameters(const struct um_context *context, struct um_exchange *ex)
{
	json_t *object = json_object();
	uint8_t nonce[UM_NONCE_LEN];
	char *text = NULL;
	bool ok = object != NULL;

	for (size_t i = 0; ok && i < ex->form.len; i++) {
		const struct um_field *field = &ex->form.field[i];

		if (!um_str_is(field->name, "state"))
			ok = json_object_setn_new(object, field->name.ptr, field->name.len,
				json_stringn(field->value.ptr, field->value.len)) == 0;
	}
	if (ok)
		text = json_dumps(object, JSON_COMPACT);
	context->random(nonce, sizeof(nonce));
	ok = text != NULL && um_seal_result(&ex->op.result, um_str(text),
		ex->token.id, ex->token.binding, context->keys, nonce);
	if (text != NULL)
		OPENSSL_cleanse(text, strlen(text));
	free(text);
	json_decref(object);
	return ok || um_refuse(ex, UM_REFUSAL_INTERNAL_ERROR);
}

static void
plan(const struct um_context *context, struct um_exchange *ex)
{
	if (!um_route(context, ex, "/oauth/", "/return", UM_KIND_OAUTH)
			|| !um_method(ex, "GET, POST")
			|| !um_fields(ex))
		return;
	if (!um_state(context, ex, UM_PURPOSE_RETURN)) {
		if (ex->request.method == UM_POST && ex->has_token
				&& ex->cookie[0] == '\0') {
			struct um_buf url = { 0 };

			come_again_by_get(ex, &url);
			um_response_free(&ex->response);
			um_response_redirect(&ex->response, um_buf_str(&url));
			ex->response.headers.failed |= url.failed;
			um_buf_free(&url);
			ex->outcome = "redirected";
			ex->reason = "form_post";
		}
		return;
	}
	/* Only /connect mints these, and always for one browser. */
	if (!um_token_is_bound(&ex->token)) {
		um_refuse(ex, UM_REFUSAL_WRONG_BROWSER);
		return;
	}
	if (!issuer_is_good(ex) || !read_outcome(ex)
			|| !seal_parameters(context, ex))
		return;
	um_ask(ex, UM_OP_COMPLETE);
}

static void
answer(const struct um_context *context, struct um_exchange *ex)
{
	(void)context;
	if (ex->op.outcome == UM_OUTCOME_UNAVAILABLE
			&& ex->request.method == UM_POST) {
		struct um_buf url = { 0 };

		come_again_by_get(ex, &url);
		um_unavailable(ex, url.failed ? NULL : url.ptr);
		um_buf_free(&url);
		return;
	}
	if (um_answer_common(ex))
		return;
	if (ex->op.outcome == UM_OUTCOME_ALREADY)
		um_page_ending(&ex->response, UM_ENDING_ALREADY);
	else if (strcmp(ex->op.action, "accept") == 0)
		um_page_go_to_done(&ex->response, UM_ENDING_DONE);
	else if (strcmp(ex->op.action, "decline") == 0)
		um_page_go_to_done(&ex->response, UM_ENDING_DECLINED);
	else
		um_page_go_to_done(&ex->response, UM_ENDING_FAILED);
}

int
main(int argc, char **argv)
{
	static const struct um_program program = { "oauth-return", plan, answer };

	return um_program_main(&program, argc, argv);
}
