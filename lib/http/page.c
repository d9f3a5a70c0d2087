/* SPDX-License-Identifier: MIT */
#include "http/page.h"

#include "http/escape.h"
#include "http/layout.h"
#include "http/text.h"

/*
 * Asks /status until the row is completed, less and less often; an answer 429
 * (too many requests) does not stop it. While another attempt can be made, the
 * page says that one has failed. A test compares it with its hash below.
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
	"document.getElementById('failed').hidden="                            \
	"!(row.status==='opened'&&row.failed_attempts>0)}"                     \
	"else if(r.status<500&&r.status!==429)return location.reload()"        \
	"}catch{}"                                                             \
	"await new Promise(f=>setTimeout(f,pause))}"                           \
	"})()"

#define SCRIPT_HASH "sha256-0jOb6e+Mks/hEXDWmGx0/pw+qzVXg9R1y9jS1oRz02E="

#define PAGE_LEN 8192 /* bytes, more than most pages take */
#define NO_FORM "; form-action 'none'"

/* A page that is being written. */
struct page {
	struct um_buf *body;
	enum um_language language;
	const struct um_brand *brand;
};

/* What differs in the head of pages. */
struct head {
	int status;
	enum um_text title;
	enum um_mark mark;
	const char *policy; /* what it has beside that of every page */
	const char *more;   /* elements, or NULL */
};

static struct page
begin(struct um_response *response, const struct um_request *request,
	struct head head)
{
	const char *languages = request->get != NULL
		? request->get("HTTP_ACCEPT_LANGUAGE", request->get_arg)
		: NULL;
	struct page page = { .body = &response->body,
		.language = um_language_of(um_str(languages)),
		.brand = request->brand };
	struct um_buf policy = { 0 }, title = { 0 };

	response->status = head.status;
	um_layout_policy(&policy, page.brand, head.policy);
	um_buf_put(&policy, "", 1);
	um_text_put(&title, page.language, head.title, NULL, "", "");
	um_buf_put(&title, "", 1);
	um_buf_reserve(page.body, PAGE_LEN);
	if (policy.failed || title.failed) {
		page.body->failed = true;
	} else {
		um_response_header(response, "Content-Security-Policy",
			policy.ptr);
		um_layout_begin(page.body,
			&(struct um_layout){
				.brand = page.brand,
				.lang = um_text(page.language, UM_TEXT_LANG),
				.dir = um_text(page.language, UM_TEXT_DIR),
				.title = title.ptr,
				.head = head.more != NULL ? head.more : "",
				.mark = um_layout_mark(head.mark),
			});
	}
	um_buf_free(&policy);
	um_buf_free(&title);
	return page;
}

static void
put(const struct page *page, enum um_text text)
{
	um_text_put(page->body, page->language, text, NULL, "", "");
}

static void
put_paragraph(const struct page *page, enum um_text text)
{
	um_buf_puts(page->body, "<p>");
	put(page, text);
	um_buf_puts(page->body, "</p>\n");
}

/* The way back to the application, where the configuration names one. */
static void
put_way_back(const struct page *page)
{
	const struct um_brand *brand = page->brand;

	if (brand == NULL || brand->return_to == NULL)
		return;
	um_buf_puts(page->body, "<p class=\"back\"><a href=\"");
	um_escape_html_attr(page->body, um_str(brand->return_to));
	um_buf_puts(page->body, "\">");
	um_text_put(page->body, page->language,
		brand->name != NULL ? UM_TEXT_BACK_TO : UM_TEXT_BACK,
		(const struct um_text_value[]){
			{ "site", um_str(brand->name) },
			{ 0 },
		},
		"<bdi>", "</bdi>");
	um_buf_puts(page->body, "</a></p>\n");
}

void
um_page_final(struct um_response *response, const struct um_request *request,
	enum um_final_page final)
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
	struct page page = begin(response, request,
		(struct head){ .status = 200,
			.title = finals[final].title,
			.mark = finals[final].mark,
			.policy = NO_FORM });

	put_paragraph(&page, finals[final].text);
	put_way_back(&page);
	um_layout_end(page.body, "");
}

void
um_page_redirect_to_done(struct um_response *response, enum um_final_page final)
{
	um_response_cookie(response, UM_FINAL_PAGE_COOKIE,
		um_final_page_code(final), UM_FINAL_PAGE_MAX_AGE);
	um_response_redirect(response, um_str("/done"));
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

void
um_page_refusal(struct um_response *response, const struct um_request *request,
	enum um_refusal refusal)
{
	int status = um_refusal_status(refusal);
	struct um_buf footer = { 0 };
	struct page page = begin(response, request,
		(struct head){ .status = status,
			.title = um_refusal_title(refusal),
			.mark = status == 503   ? UM_MARK_WAIT
				: status == 500 ? UM_MARK_FAILED
						: UM_MARK_HEED,
			.policy = NO_FORM });

	um_buf_puts(page.body, "<p>");
	um_text_put(page.body, page.language, um_refusal_text(refusal),
		(const struct um_text_value[]){
			{ "seconds", um_str(UM_RETRY_AFTER) },
			{ 0 },
		},
		"", "");
	um_buf_puts(page.body, "</p>\n");
	um_page_put_reason(&footer, page.language,
		um_refusal_shown_code(refusal), request->id);
	um_buf_put(&footer, "", 1);
	um_layout_end(page.body, footer.failed ? "" : footer.ptr);
	page.body->failed |= footer.failed;
	um_buf_free(&footer);
}

void
um_page_follow(struct um_response *response, const struct um_request *request,
	bool attempt_failed)
{
	struct page page = begin(response, request,
		(struct head){ .status = 200,
			.title = UM_TEXT_WAITING_TITLE,
			.mark = UM_MARK_WAIT,
			.policy = NO_FORM "; script-src '" SCRIPT_HASH
					  "'; connect-src 'self'",
			.more = "<noscript><meta http-equiv=\"refresh\" "
				"content=\"5\"></noscript>\n" });

	um_buf_puts(page.body, "<div role=\"status\">\n");
	put_paragraph(&page, UM_TEXT_WAITING);
	um_buf_cat(page.body, "<p id=\"failed\"",
		attempt_failed ? ">" : " hidden>");
	put(&page, UM_TEXT_WAITING_FAILED);
	um_buf_puts(page.body, "</p>\n</div>\n");
	put_paragraph(&page, UM_TEXT_WAITING_LONG);
	um_buf_puts(page.body, "<script>" SCRIPT "</script>\n");
	um_layout_end(page.body, "");
}

static void
put_row(const struct page *page, enum um_text name, struct um_str value)
{
	um_buf_puts(page->body, "<dt>");
	put(page, name);
	um_buf_puts(page->body, "</dt><dd>");
	um_escape_html_text(page->body, value);
	um_buf_puts(page->body, "</dd>\n");
}

static void
put_details(const struct page *page, const struct um_confirm *confirm)
{
	um_buf_puts(page->body, "<dl>\n");
	put_row(page, UM_TEXT_REQUESTED_BY, confirm->requester);
	put_row(page, UM_TEXT_REQUESTED_FOR, confirm->subject);
	put_row(page, UM_TEXT_DESTINATION, confirm->display_name);
	if (confirm->amount.len != 0) {
		um_buf_puts(page->body, "<dt>");
		put(page, UM_TEXT_TOTAL);
		um_buf_puts(page->body, "</dt><dd class=\"total\"><bdi>");
		um_text_put_amount(page->body, page->language, confirm->amount,
			confirm->currency);
		um_buf_puts(page->body, "</bdi></dd>\n");
	}
	um_buf_puts(page->body, "</dl>\n");
}

static void
put_answers(const struct page *page, const struct um_confirm *confirm)
{
	struct um_buf *body = page->body;

	um_buf_puts(body, "<form method=\"post\" action=\"/connect/");
	um_escape_html_attr(body, confirm->provider);
	um_buf_puts(body,
		"\">\n<input type=\"hidden\" name=\"state\" value=\"");
	um_escape_html_attr(body, confirm->state);
	um_buf_puts(body, "\">\n<button name=\"answer\" value=\"continue\">");
	put(page, UM_TEXT_CONTINUE);
	um_buf_puts(body,
		"</button>\n<button name=\"answer\" value=\"refuse\">");
	put(page, UM_TEXT_DECLINE);
	um_buf_puts(body, "</button>\n</form>\n");
}

void
um_page_confirm(struct um_response *response, const struct um_request *request,
	const struct um_confirm *confirm)
{
	static const enum um_text leads[] = {
		[UM_CONFIRM_ACCOUNT] = UM_TEXT_CONFIRM_OAUTH,
		[UM_CONFIRM_PAYMENT] = UM_TEXT_CONFIRM_PAYMENT,
		[UM_CONFIRM_SIGNATURE] = UM_TEXT_CONFIRM_SIGNATURE,
	};
	static const enum um_text notes[] = {
		[UM_CONFIRM_ACCOUNT] = UM_TEXT_CONFIRM_OAUTH_NOTE,
		[UM_CONFIRM_PAYMENT] = UM_TEXT_CONFIRM_PAYMENT_NOTE,
		[UM_CONFIRM_SIGNATURE] = UM_TEXT_CONFIRM_SIGNATURE_NOTE,
	};
	/*
	 * No form-action here: browsers apply it to every redirect that
	 * follows the form, and we do not know the provider's redirects.
	 */
	struct page page = begin(response, request,
		(struct head){ .status = 200,
			.title = UM_TEXT_CONFIRM_TITLE,
			.mark = UM_MARK_ASK,
			.policy = "" });

	um_buf_puts(page.body, "<p>");
	um_text_put(page.body, page.language, leads[confirm->what],
		(const struct um_text_value[]){
			{ "requester", confirm->requester },
			{ "provider", confirm->display_name },
			{ 0 },
		},
		"<strong><bdi>", "</bdi></strong>");
	um_buf_puts(page.body, "</p>\n");
	put_details(&page, confirm);
	put_paragraph(&page, notes[confirm->what]);
	um_buf_puts(page.body, "<p class=\"heed\">");
	put(&page, UM_TEXT_CONFIRM_WARNING);
	um_buf_puts(page.body, "</p>\n");
	put_answers(&page, confirm);
	um_layout_end(page.body, "");
}
