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
				.mark = um_layout_mark(head.mark),
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
	um_buf_puts(page->body, "</dt><dd>");
	um_escape_html_text(page->body, value);
	um_buf_puts(page->body, "</dd>\n");
}
