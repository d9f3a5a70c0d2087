/* SPDX-License-Identifier: MIT */
/*
 * What an operator decides about a payment: the same functions as the command's. The
 * page before says what will follow. What is sent has a reason, and a token of this
 * session that names the payment and holds the state in which the page has shown it:
 * what has changed since is not decided.
 */
#include <string.h>

#include "console/actions.h"
#include "console/calls.h"
#include "console/filters.h"
#include "console/pages.h"
#include "console/session.h"
#include "core/uuid.h"
#include "http/escape.h"
#include "postgres/array.h"

#define NOTE_MAX 1000     /* bytes, as the database has it */
#define REFERENCE_MAX 800 /* the same */

static um_step shown, decided;

/* What is decided about. Of a form, the token has the provider and the reference. */
struct subject {
	const struct um_action *action;
	struct um_str id, provider, reference;
	uint8_t uuid[UM_UUID_LEN];
};

static bool
read_subject(struct subject *subject, const struct um_exchange *ex)
{
	static const char *const of_link[] = { "action", "id", "provider",
		"reference", NULL };
	static const char *const of_form[] = { "action", "id", "token", "note",
		"refund", NULL };
	const struct um_form *form = &ex->form;
	bool posted = ex->request.method == UM_POST;

	*subject = (struct subject){
		.action = um_action_of(um_form_get(form, "action")),
		.id = um_form_get(form, "id"),
		.provider = um_form_get(form, "provider"),
		.reference = um_form_get(form, "reference"),
	};
	return um_fields_are(form, posted ? of_form : of_link)
		&& subject->action != NULL
		&& um_uuid_parse(subject->uuid, subject->id)
		&& (posted
			|| (subject->provider.len != 0
				&& subject->provider.len
					<= UM_CONSOLE_FILTER_MAX
				&& subject->reference.len != 0
				&& subject->reference.len <= REFERENCE_MAX));
}

/* What the token of a form is for. */
#define ABOUT(console, subject)                                                \
	(const struct um_str[])                                                \
	{                                                                      \
		um_str((console)->id), um_str((subject)->action->word),        \
			(subject)->id,                                         \
		{                                                              \
			0                                                      \
		}                                                              \
	}

/*
 * Which payment it is and how it was shown are in the token, not in fields of the
 * form: a browser changes line breaks in fields, and a page changes what turns text.
 */
static bool
seal_payment(struct um_buf *token, const struct um_context *context,
	const struct um_exchange *ex, const struct subject *subject,
	const json_t *payment)
{
	struct um_str state = um_row_text(payment, "state");
	struct um_buf text = { 0 };
	bool ok;

	um_buf_put(&text, subject->provider.ptr, subject->provider.len);
	um_buf_put(&text, "", 1);
	um_buf_put(&text, subject->reference.ptr, subject->reference.len);
	um_buf_put(&text, "", 1);
	um_buf_put(&text, state.ptr, state.len);
	ok = state.len != 0 && !text.failed
		&& um_console_seal(token, context, "act",
			ABOUT(um_console_of(ex), subject), um_buf_str(&text),
			UM_CONSOLE_ACT_S);
	um_buf_free(&text);
	return ok;
}

/* The part of `rest` before the next NUL. */
static struct um_str
take_part(struct um_str *rest)
{
	size_t len = strnlen(rest->ptr, rest->len);
	struct um_str part = { rest->ptr, len };

	len += len < rest->len;
	*rest = (struct um_str){ rest->ptr + len, rest->len - len };
	return part;
}

static void
put_elicitation(struct um_buf *url, const struct subject *subject)
{
	char text[UM_UUID_TEXT_LEN + 1];

	um_uuid_format(text, subject->uuid);
	um_buf_cat(url, UM_CONSOLE_ROUTE "elicitation?id=", text);
}

/* The refund's reference, where one is recorded, and why. */
struct words {
	struct um_str note, refund;
};

static bool
read_words(struct words *words, const struct um_exchange *ex,
	const struct subject *subject)
{
	*words = (struct words){
		.note = um_str_trim(um_form_get(&ex->form, "note")),
		.refund = um_str_trim(um_form_get(&ex->form, "refund")),
	};
	return words->note.len != 0 && words->note.len <= NOTE_MAX
		&& (!subject->action->names_refund
			|| (words->refund.len != 0
				&& words->refund.len <= REFERENCE_MAX));
}

/* Who, what and why; `payment` is the text of the token. */
static void
request_decision(struct um_exchange *ex, const struct subject *subject,
	const struct words *words, struct um_str payment)
{
	struct um_buf *args = &ex->op.args;

	um_exchange_request_call(ex, &um_console_decide_call, NULL, decided);
	um_call_put_str(args, take_part(&payment));
	um_call_put_str(args, take_part(&payment));
	um_call_put_str(args, um_str(subject->action->decision));
	um_call_put_str(args, words->refund);
	um_call_put_str(args, um_str(ex->user));
	um_call_put_str(args, words->note);
	um_call_put_str(args, payment);
}

/* The database checks everything else. */
static enum um_refusal
decide(const struct um_context *context, struct um_exchange *ex,
	const struct subject *subject)
{
	enum um_refusal refusal = UM_REFUSAL_NONE;
	struct um_buf token = { 0 };
	struct words words;

	put_elicitation(&ex->way_on, subject);
	if (!um_console_open(&token, context, "act",
		    ABOUT(um_console_of(ex), subject),
		    um_form_get(&ex->form, "token")))
		refusal = UM_REFUSAL_TOKEN_INVALID;
	else if (!read_words(&words, ex, subject))
		refusal = UM_REFUSAL_NOTE_INVALID;
	else
		request_decision(ex, subject, &words, um_buf_str(&token));
	um_buf_free(&token);
	return refusal;
}

enum um_refusal
um_console_act_plan(const struct um_context *context, struct um_exchange *ex)
{
	bool posted = ex->request.method == UM_POST;
	enum um_refusal refusal = UM_REFUSAL_NONE;
	struct subject subject;

	if (posted)
		refusal = um_console_check_site(context, ex);
	if (refusal == UM_REFUSAL_NONE)
		refusal = um_console_enter(context, ex);
	if (refusal != UM_REFUSAL_NONE || ex->own == NULL)
		return refusal;
	if (!read_subject(&subject, ex))
		return UM_REFUSAL_FILTER_INVALID;
	if (!um_console_is_fresh(context, ex, &refusal))
		return refusal;
	if (posted)
		return decide(context, ex, &subject);
	um_exchange_request_call(ex, &um_console_payment_call, NULL, shown);
	um_array_put(&ex->op.args, subject.uuid, sizeof(subject.uuid));
	um_call_put_str(&ex->op.args, subject.provider);
	um_call_put_str(&ex->op.args, subject.reference);
	return UM_REFUSAL_NONE;
}

static void
put_hidden(const struct um_view *view, const char *name, struct um_str value)
{
	um_buf_cat(view->body, "<input type=\"hidden\" name=\"", name,
		"\" value=\"");
	um_escape_html_attr(view->body, value);
	um_buf_puts(view->body, "\">\n");
}

static void
put_form(const struct um_view *view, const struct subject *subject,
	struct um_str token)
{
	struct um_buf *body = view->body;

	um_buf_puts(body,
		"<form class=\"fields\" method=\"post\" "
		"action=\"" UM_CONSOLE_ROUTE "act\">\n");
	put_hidden(view, "action", um_str(subject->action->word));
	put_hidden(view, "id", subject->id);
	put_hidden(view, "token", token);
	if (subject->action->names_refund) {
		um_buf_puts(body, "<label>");
		um_view_say(view, UM_TEXT_CONSOLE_REFUND_REFERENCE);
		um_buf_puts(body,
			"<input name=\"refund\" required maxlength=\"255\" "
			"autocomplete=\"off\"></label>\n");
	}
	um_buf_puts(body, "<label>");
	um_view_say(view, UM_TEXT_CONSOLE_WHY);
	um_buf_puts(body,
		"<textarea name=\"note\" rows=\"3\" required "
		"maxlength=\"250\"></textarea></label>\n"
		"<button class=\"main\">");
	um_view_say(view, subject->action->title);
	um_buf_puts(body, "</button>\n<a class=\"button\" href=\"");
	put_elicitation(body, subject);
	um_buf_puts(body, "\">");
	um_view_say(view, UM_TEXT_CONSOLE_BACK);
	um_buf_puts(body, "</a>\n</form>\n");
}

static void
put_payment(const struct um_view *view, const json_t *payment)
{
	um_buf_puts(view->body, "<dl>\n");
	um_view_text_row(view, UM_TEXT_CONSOLE_PROVIDER,
		um_row_text(payment, "provider"));
	um_view_text_row(view, UM_TEXT_CONSOLE_REFERENCE,
		um_row_text(payment, "reference"));
	um_view_text_row(view, UM_TEXT_CONSOLE_ITEM,
		um_row_text(payment, "item"));
	um_view_amount_row(view, UM_TEXT_CONSOLE_AMOUNT, payment, "amount");
	um_view_amount_row(view, UM_TEXT_CONSOLE_GONE_BACK, payment,
		"refunded");
	um_buf_puts(view->body, "</dl>\n");
}

/* The page before: what will follow. */
static enum um_refusal
shown(const struct um_context *context, struct um_exchange *ex)
{
	enum um_refusal refusal = um_console_read(ex, 1);
	struct um_buf token = { 0 };
	const json_t *payment;
	struct subject subject;
	struct um_view view;

	if (refusal != UM_REFUSAL_NONE)
		return refusal;
	payment = um_console_of(ex)->data[0];
	if (!read_subject(&subject, ex) || json_is_null(payment)) {
		um_buf_puts(&ex->way_on, UM_CONSOLE_ROUTE "search");
		return UM_REFUSAL_UNKNOWN_HERE;
	}
	if (!seal_payment(&token, context, ex, &subject, payment)) {
		um_buf_free(&token);
		return UM_REFUSAL_INTERNAL_ERROR;
	}
	view = um_view_begin(context, ex,
		(struct um_view_head){ .status = 200,
			.title = subject.action->title,
			.part = UM_CONSOLE_NO_PART });
	um_buf_puts(view.body, "<section>\n");
	put_payment(&view, payment);
	um_view_paragraph(&view, "note warn", subject.action->note);
	put_form(&view, &subject, um_buf_str(&token));
	um_buf_puts(view.body, "</section>\n");
	um_view_end(&view, ex);
	um_buf_free(&token);
	return UM_REFUSAL_NONE;
}

/* What the database says of what was not done. */
static enum um_refusal
refusal_of(const char *outcome)
{
	static const struct {
		const char *word;
		enum um_refusal refusal;
	} all[] = {
		{ "changed", UM_REFUSAL_PAYMENT_CHANGED },
		{ "not_held", UM_REFUSAL_NOT_HELD },
		{ "claimed", UM_REFUSAL_PAYMENT_CLAIMED },
		{ "deleted", UM_REFUSAL_ELICITATION_DELETED },
		{ "already", UM_REFUSAL_ALREADY_REFUNDED },
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (strcmp(outcome, all[i].word) == 0)
			return all[i].refusal;
	return UM_REFUSAL_UNKNOWN_HERE;
}

/* If nobody knows whether it was done, the timeline tells. */
static enum um_refusal
decided(const struct um_context *context, struct um_exchange *ex)
{
	struct subject subject;
	const char *outcome;

	(void)context;
	if (!read_subject(&subject, ex))
		return UM_REFUSAL_FILTER_INVALID;
	if (ex->op.status == UM_STORE_UNAVAILABLE && !ex->op.was_sent)
		return UM_REFUSAL_NOT_STORED;
	put_elicitation(&ex->url, &subject);
	if (ex->op.status == UM_STORE_UNAVAILABLE)
		return UM_REFUSAL_UNAVAILABLE;
	if (ex->op.status == UM_STORE_FAILED || ex->op.rows_len != 1)
		return UM_REFUSAL_INTERNAL_ERROR;
	outcome = um_call_text(&ex->op, 0, 0);
	if (outcome == NULL || strcmp(outcome, subject.action->decision) != 0)
		return refusal_of(outcome != NULL ? outcome : "");
	um_buf_cat(&ex->url, "&done=", subject.action->word);
	ex->answer = UM_ANSWER_REDIRECT;
	ex->outcome = subject.action->decision;
	return UM_REFUSAL_NONE;
}
