/* SPDX-License-Identifier: MIT */
#include "http/page.h"

#include "http/document.h"
#include "http/escape.h"
#include "http/layout.h"
#include "http/text.h"

/*
 * Asks /status until the row is completed, at growing intervals, also after 429
 * (too many requests). While another attempt is possible, the page says that
 * one has failed. The page of a check has no such text, and is loaded again when
 * the check has ended. A test compares the script with its hash below.
 */
#define SCRIPT                                                                 \
	"(async()=>{"                                                          \
	"const url='/status?provider='"                                        \
	"+encodeURIComponent(location.pathname.split('/')[2])+'&state='"       \
	"+encodeURIComponent(new "                                             \
	"URLSearchParams(location.search).get('state'));"                      \
	"for(let pause=1e3;;pause=Math.min(pause*1.2,15e3)){"                  \
	"try{const r=await fetch(url,{cache:'no-store'});"                     \
	"if(r.ok){const row=await r.json();"                                   \
	"if(row.status==='completed')return location.replace('/done');"        \
	"const failed=document.getElementById('failed');"                      \
	"if(failed)failed.hidden="                                             \
	"!(row.status==='opened'&&row.failed_attempts>0);"                     \
	"else if(row.status!=='processing')return location.reload()}"          \
	"else if(r.status<500&&r.status!==429)return location.reload()"        \
	"}catch{}"                                                             \
	"await new Promise(f=>setTimeout(f,pause))}"                           \
	"})()"

#define SCRIPT_HASH "sha256-JHCjuWEsjuqW/yvSTOMfvNpSJ7T3hlasB1tqZTIlRyY="

#define NO_FORM "; form-action 'none'"

/* A link; `site` is the name in its text, or NULL. */
static void
put_link(const struct um_document *page, struct um_str url, enum um_text text,
	const char *site)
{
	if (url.len == 0)
		return;
	um_buf_puts(page->body, "<p class=\"go\"><a href=\"");
	um_escape_html_attr(page->body, url);
	um_buf_puts(page->body, "\">");
	um_text_put(page->body, page->language, text,
		(const struct um_text_value[]){
			{ "site", um_str(site) },
			{ 0 },
		},
		"<bdi>", "</bdi>");
	um_buf_puts(page->body, "</a></p>\n");
}

/* The link back to the application, if the configuration has one. */
static void
put_way_back(const struct um_document *page)
{
	const struct um_brand *brand = page->brand;

	if (brand != NULL)
		put_link(page, um_str(brand->return_to),
			brand->name != NULL ? UM_TEXT_BACK_TO : UM_TEXT_BACK,
			brand->name);
}

/* A paragraph in which the values stand out. */
static void
put_values(const struct um_document *page, enum um_text text,
	const struct um_text_value *values)
{
	um_buf_puts(page->body, "<p>");
	um_text_put(page->body, page->language, text, values, "<strong><bdi>",
		"</bdi></strong>");
	um_buf_puts(page->body, "</p>\n");
}

void
um_page_final(struct um_response *response, const struct um_request *request,
	const struct um_brand *brand, enum um_final_page final,
	struct um_str way_on)
{
	static const struct {
		enum um_text title, text;
		enum um_mark mark;
	} finals[] = {
#define X(name, code, mark)                                                    \
	{ UM_TEXT_##name##_TITLE, UM_TEXT_##name, UM_MARK_##mark },
		UM_FINAL_PAGES(X)
#undef X
	};
	struct um_document page = um_document_begin(response, request, brand,
		(struct um_document_head){ .status = 200,
			.title = finals[final].title,
			.mark = finals[final].mark,
			.policy = NO_FORM });

	um_document_paragraph(&page, finals[final].text);
	put_link(&page, way_on, UM_TEXT_CONTINUE, NULL);
	put_way_back(&page);
	um_layout_end(page.body, "");
}

void
um_page_put_reason(struct um_buf *out, enum um_language language,
	const char *code, const char *id)
{
	um_text_put(out, language, UM_TEXT_REASON, NULL, "", "");
	um_buf_cat(out, " <code>", code, "</code><br>");
	um_text_put(out, language, UM_TEXT_REQUEST, NULL, "", "");
	um_buf_cat(out, " <code>", id, "</code>");
}

static void
put_way_on(const struct um_document *page, const struct um_way_on *way)
{
	if (way->kept)
		um_document_paragraph(page, UM_TEXT_SESSION_KEPT);
	if (way->acting.is_known)
		um_document_acting(page, &way->acting);
	put_link(page, way->try_again, UM_TEXT_TRY_AGAIN, NULL);
	put_link(page, way->sign_out, UM_TEXT_SIGN_OUT, NULL);
}

struct texts {
	enum um_text title, text;
};

/* What a refusal says to somebody with a form, where that differs. */
static void
put_form_texts(struct texts *texts, enum um_refusal refusal,
	enum um_reader reader, bool posted)
{
	if (refusal == UM_REFUSAL_EXPIRED
		|| (refusal == UM_REFUSAL_STATE_EXPIRED && posted))
		texts->text = UM_TEXT_FORM_ENDED;
	/* Nobody has looked whether an answer was stored earlier. */
	else if (refusal == UM_REFUSAL_UNKNOWN_ELICITATION)
		texts->text = UM_TEXT_LINK_EXPIRED;
	else if (refusal == UM_REFUSAL_WRONG_BROWSER)
		*texts = (struct texts){ UM_TEXT_FORM_BROWSER_TITLE,
			UM_TEXT_FORM_BROWSER };
	else if (refusal == UM_REFUSAL_WRONG_USER
		&& reader == UM_READER_OF_APPROVAL)
		*texts = (struct texts){ UM_TEXT_OWN_REQUEST_TITLE,
			UM_TEXT_WRONG_APPROVER };
}

static struct texts
texts_of(enum um_refusal refusal, enum um_reader reader, bool posted)
{
	static const struct texts all[] = {
#define X(name, status, code, page, advice)                                    \
	[UM_REFUSAL_##name] = { UM_TEXT_##page##_TITLE, UM_TEXT_##page },
		UM_REFUSALS(X)
#undef X
	};
	struct texts texts = all[refusal];

	if (reader != UM_READER_ANYBODY)
		put_form_texts(&texts, refusal, reader, posted);
	return texts;
}

void
um_page_refusal(struct um_response *response, const struct um_request *request,
	const struct um_brand *brand, enum um_refusal refusal,
	const struct um_way_on *way)
{
	const struct texts texts = texts_of(refusal,
		way != NULL ? way->reader : UM_READER_ANYBODY,
		request->method == UM_POST);
	int status = um_refusal_status(refusal);
	struct um_buf footer = { 0 };
	struct um_document page = um_document_begin(response, request, brand,
		(struct um_document_head){ .status = status,
			.title = texts.title,
			.mark = status == 503   ? UM_MARK_WAIT
				: status == 500 ? UM_MARK_FAILED
						: UM_MARK_WARNING,
			.policy = NO_FORM });

	um_buf_puts(page.body, "<p>");
	um_text_put(page.body, page.language, texts.text,
		(const struct um_text_value[]){
			{ "seconds", um_str(UM_RETRY_AFTER) },
			{ 0 },
		},
		"", "");
	um_buf_puts(page.body, "</p>\n");
	if (way != NULL)
		put_way_on(&page, way);
	um_page_put_reason(&footer, page.language,
		um_refusal_shown_code(refusal), request->id);
	um_buf_put(&footer, "", 1);
	um_layout_end(page.body, footer.failed ? "" : footer.ptr);
	page.body->failed |= footer.failed;
	um_buf_free(&footer);
}

static struct um_document
begin_following(struct um_response *response, const struct um_request *request,
	const struct um_brand *brand, enum um_text title)
{
	return um_document_begin(response, request, brand,
		(struct um_document_head){ .status = 200,
			.title = title,
			.mark = UM_MARK_WAIT,
			.policy = NO_FORM "; script-src '" SCRIPT_HASH
					  "'; connect-src 'self'",
			.more = "<noscript><meta http-equiv=\"refresh\" "
				"content=\"5\"></noscript>\n" });
}

void
um_page_follow(struct um_response *response, const struct um_request *request,
	const struct um_brand *brand, bool attempt_failed)
{
	struct um_document page = begin_following(response, request, brand,
		UM_TEXT_WAITING_TITLE);

	um_buf_puts(page.body, "<div role=\"status\">\n");
	um_document_paragraph(&page, UM_TEXT_WAITING);
	um_buf_cat(page.body, "<p id=\"failed\"",
		attempt_failed ? ">" : " hidden>");
	um_document_put(&page, UM_TEXT_WAITING_FAILED);
	um_buf_puts(page.body, "</p>\n</div>\n");
	um_document_paragraph(&page, UM_TEXT_WAITING_LONG);
	um_buf_puts(page.body, "<script>" SCRIPT "</script>\n");
	um_layout_end(page.body, "");
}

void
um_page_checking(struct um_response *response, const struct um_request *request,
	const struct um_brand *brand)
{
	struct um_document page = begin_following(response, request, brand,
		UM_TEXT_CHECKING_TITLE);

	um_buf_puts(page.body, "<div role=\"status\">\n");
	um_document_paragraph(&page, UM_TEXT_CHECKING);
	um_buf_puts(page.body, "</div>\n<script>" SCRIPT "</script>\n");
	um_layout_end(page.body, "");
}

void
um_page_decided(struct um_response *response, const struct um_request *request,
	const struct um_brand *brand, bool approved, struct um_str user)
{
	struct um_document page = um_document_begin(response, request, brand,
		(struct um_document_head){ .status = 200,
			.title = UM_TEXT_DECIDED_TITLE,
			.mark = approved ? UM_MARK_GOOD : UM_MARK_DECLINED,
			.policy = NO_FORM });

	put_values(&page,
		approved ? UM_TEXT_DECIDED_APPROVED : UM_TEXT_DECIDED_DECLINED,
		(const struct um_text_value[]){ { "user", user }, { 0 } });
	put_way_back(&page);
	um_layout_end(page.body, "");
}

static void
put_amount(const struct um_document *page, const struct um_confirm *confirm)
{
	if (confirm->amount.len == 0)
		return;
	um_buf_puts(page->body, "<dl>\n<dt>");
	um_document_put(page, UM_TEXT_TOTAL);
	um_buf_puts(page->body, "</dt><dd class=\"total\"><bdi>");
	um_text_put_amount(page->body, page->language, confirm->amount,
		confirm->currency);
	um_buf_puts(page->body, "</bdi></dd>\n</dl>\n");
}

static void
put_answers(const struct um_document *page, const struct um_confirm *confirm)
{
	struct um_buf *body = page->body;

	um_buf_puts(body, "<form method=\"post\" action=\"/connect/");
	um_escape_html_attr(body, confirm->provider);
	um_buf_puts(body,
		"\">\n<input type=\"hidden\" name=\"state\" value=\"");
	um_escape_html_attr(body, confirm->state);
	um_buf_puts(body,
		"\">\n<div class=\"go\">\n"
		"<button name=\"answer\" value=\"continue\">");
	um_document_put(page, UM_TEXT_CONTINUE);
	um_buf_puts(body,
		"</button>\n<button name=\"answer\" value=\"refuse\">");
	um_document_put(page, UM_TEXT_DECLINE);
	um_buf_puts(body, "</button>\n</div>\n</form>\n");
}

void
um_page_confirm(struct um_response *response, const struct um_request *request,
	const struct um_brand *brand, const struct um_confirm *confirm)
{
	static const struct {
		enum um_mark mark;
		enum um_text lead, note;
	} all[] = {
		[UM_CONFIRM_ACCOUNT] = { UM_MARK_KEY, UM_TEXT_CONFIRM_OAUTH,
			UM_TEXT_CONFIRM_OAUTH_NOTE },
		[UM_CONFIRM_PAYMENT] = { UM_MARK_CARD, UM_TEXT_CONFIRM_PAYMENT,
			UM_TEXT_CONFIRM_PAYMENT_NOTE },
		[UM_CONFIRM_SIGNATURE] = { UM_MARK_PEN,
			UM_TEXT_CONFIRM_SIGNATURE,
			UM_TEXT_CONFIRM_SIGNATURE_NOTE },
	};
	/*
	 * No form-action here: browsers apply it to every redirect that
	 * follows the form, and we do not know the provider's redirects.
	 */
	struct um_document page = um_document_begin(response, request, brand,
		(struct um_document_head){ .status = 200,
			.title = UM_TEXT_CONFIRM_TITLE,
			.has_lead = true,
			.policy = "" });

	um_document_lead(&page, all[confirm->what].mark,
		all[confirm->what].lead,
		(const struct um_text_value[]){
			{ "requester", confirm->requester },
			{ "provider", confirm->display_name },
			{ 0 },
		});
	um_buf_puts(page.body, "<h1>");
	um_document_put(&page, UM_TEXT_CONFIRM_TITLE);
	um_buf_puts(page.body, "</h1>\n");
	if (confirm->opened_before)
		um_document_warning(&page, UM_TEXT_OPEN_ELSEWHERE);
	put_amount(&page, confirm);
	um_document_paragraph(&page, all[confirm->what].note);
	um_document_acting(&page,
		&(const struct um_acting){ .user = confirm->subject });
	um_document_warning(&page, UM_TEXT_CONFIRM_WARNING);
	put_answers(&page, confirm);
	um_layout_end(page.body, "");
}
