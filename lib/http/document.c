/* SPDX-License-Identifier: MIT */
#include "http/document.h"

#include "http/escape.h"

#define PAGE_LEN 8192 /* bytes, more than most pages take */

struct um_document
um_document_begin(struct um_response *response,
	const struct um_request *request, const struct um_brand *brand,
	struct um_document_head head)
{
	const char *languages = request->get != NULL
		? request->get("HTTP_ACCEPT_LANGUAGE", request->get_arg)
		: NULL;
	struct um_document page = { .body = &response->body,
		.language = um_language_of(um_str(languages)),
		.brand = brand };
	struct um_buf policy = { 0 }, title = { 0 };

	response->status = head.status;
	um_layout_policy(&policy, page.brand, head.policy);
	um_text_put(&title, page.language, head.title, NULL, "", "");
	um_buf_put(&title, "", 1);
	um_buf_reserve(page.body, PAGE_LEN);
	if (policy.failed || title.failed) {
		page.body->failed = true;
	} else {
		um_response_header(response, "Content-Security-Policy",
			um_buf_str(&policy));
		um_layout_begin(page.body,
			&(struct um_layout){
				.brand = page.brand,
				.lang = um_text(page.language, UM_TEXT_LANG),
				.dir = um_text(page.language, UM_TEXT_DIR),
				.title = title.ptr,
				.head = head.more != NULL ? head.more : "",
				.mark = head.has_lead
					? NULL
					: um_layout_mark(head.mark),
			});
	}
	um_buf_free(&policy);
	um_buf_free(&title);
	return page;
}

void
um_document_put(const struct um_document *page, enum um_text text)
{
	um_text_put(page->body, page->language, text, NULL, "", "");
}

void
um_document_paragraph(const struct um_document *page, enum um_text text)
{
	um_buf_puts(page->body, "<p>");
	um_document_put(page, text);
	um_buf_puts(page->body, "</p>\n");
}

void
um_document_lead(const struct um_document *page, enum um_mark mark,
	enum um_text text, const struct um_text_value *values)
{
	um_buf_cat(page->body, "<p class=\"lead\">", um_layout_mark(mark),
		"<span>");
	um_text_put(page->body, page->language, text, values, "<strong><bdi>",
		"</bdi></strong>");
	um_buf_puts(page->body, "</span></p>\n");
}

void
um_document_warning(const struct um_document *page, enum um_text text)
{
	um_buf_puts(page->body, "<p class=\"warning\">");
	um_document_put(page, text);
	um_buf_puts(page->body, "</p>\n");
}

void
um_document_row(const struct um_document *page, enum um_text name,
	struct um_str value)
{
	um_buf_puts(page->body, "<dt>");
	um_document_put(page, name);
	um_buf_puts(page->body, "</dt><dd><bdi>");
	um_escape_html_text(page->body, value);
	um_buf_puts(page->body, "</bdi></dd>\n");
}

void
um_document_acting(const struct um_document *page,
	const struct um_acting *acting)
{
	struct um_str other_account = acting->other_account;

	if (other_account.len == 0 && acting->is_known && page->brand != NULL)
		other_account = um_str(page->brand->switch_user);
	um_buf_puts(page->body, "<p>");
	um_text_put(page->body, page->language,
		acting->is_known ? UM_TEXT_SIGNED_IN_AS : UM_TEXT_ACTING_AS,
		(const struct um_text_value[]){ { "user", acting->user },
			{ 0 } },
		"<strong><bdi>", "</bdi></strong>");
	if (other_account.len != 0) {
		um_buf_puts(page->body, " <a href=\"");
		um_escape_html_attr(page->body, other_account);
		um_buf_puts(page->body, "\">");
		um_document_put(page, UM_TEXT_OTHER_ACCOUNT);
		um_buf_puts(page->body, "</a>");
	} else if (acting->is_known) {
		um_buf_puts(page->body, " ");
		um_document_put(page, UM_TEXT_NOT_YOU);
	}
	um_buf_puts(page->body, "</p>\n");
}
