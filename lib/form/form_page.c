/* SPDX-License-Identifier: MIT */
#include "form/form_page.h"

#include "form/control.h"
#include "http/escape.h"

/* The page, and what it shows. */
struct view {
	struct um_controls controls;
	const struct um_form_page *form;
};

static void
put_button(const struct view *view, const char *value, enum um_text text,
	bool validates)
{
	um_buf_cat(view->controls.page.body, "<button name=\"answer\" value=\"",
		value, validates ? "\">" : "\" formnovalidate>");
	um_document_put(&view->controls.page, text);
	um_buf_puts(view->controls.page.body, "</button>\n");
}

static void
put_form(struct view *view)
{
	const struct um_form_page *form = view->form;
	const struct um_definition *definition = form->definition;
	struct um_buf *body = view->controls.page.body;

	um_buf_puts(body, "<form method=\"post\" action=\"/form/");
	um_escape_html_attr(body, form->provider);
	um_buf_puts(body,
		"\">\n<input type=\"hidden\" name=\"state\" value=\"");
	um_escape_html_attr(body, form->state);
	um_buf_puts(body, "\">\n");
	if (form->reader.len != 0) {
		um_buf_puts(body,
			"<input type=\"hidden\" name=\"" UM_ANSWER_READER
			"\" value=\"");
		um_escape_html_attr(body, form->reader);
		um_buf_puts(body, "\">\n");
	}
	for (size_t i = 0; i < definition->inputs_len; i++)
		um_control_put(&view->controls, &definition->input[i]);
	if (definition->comment != UM_COMMENT_NONE)
		um_control_put(&view->controls, NULL);
	if (form->is_approval)
		put_button(view, "approve", UM_TEXT_APPROVE, true);
	else
		put_button(view, "submit", UM_TEXT_SEND, true);
	put_button(view, "decline", UM_TEXT_DECLINE,
		definition->comment == UM_COMMENT_REQUIRED);
	um_buf_puts(body, "</form>\n");
}

static void
put_facts(const struct view *view)
{
	const struct um_definition *definition = view->form->definition;
	const struct um_document *page = &view->controls.page;

	um_buf_puts(page->body, "<dl>\n");
	um_document_row(page, UM_TEXT_REQUESTED_BY, view->form->requester);
	um_document_row(page, UM_TEXT_REQUESTED_FOR, view->form->subject);
	for (size_t i = 0; i < definition->facts_len; i++) {
		um_control_words(&view->controls, "dt", "",
			definition->fact[i].label);
		um_control_words(&view->controls, "dd", " class=\"lines\"",
			definition->fact[i].value);
		um_buf_puts(page->body, "\n");
	}
	um_buf_puts(page->body, "</dl>\n");
}

static void
put_alert(const struct view *view)
{
	const struct um_form_page *form = view->form;
	struct um_buf *body = view->controls.page.body;
	bool mistakes = form->answers != NULL && form->answers->mistakes != 0;

	if (!mistakes && form->problem == NULL && !form->unchecked
		&& !form->kept)
		return;
	um_buf_puts(body, "<p class=\"wrong\" role=\"alert\">");
	if (form->kept)
		um_document_put(&view->controls.page, UM_TEXT_FORM_KEPT);
	else if (mistakes || form->problem != NULL)
		um_document_put(&view->controls.page, UM_TEXT_FORM_MISTAKES);
	else
		um_document_put(&view->controls.page, UM_TEXT_FORM_UNCHECKED);
	/* A problem of no field that the form has. */
	if (!mistakes && form->problem != NULL
		&& um_definition_input(form->definition,
			   um_control_problem_field(form->problem))
			== NULL) {
		um_buf_puts(body, " ");
		um_control_words(&view->controls, "span", "",
			um_json_member(form->problem, um_str("problem")));
	}
	um_buf_puts(body, "</p>\n");
}

void
um_form_page_put(struct um_response *response, const struct um_request *request,
	const struct um_brand *brand, const struct um_form_page *form)
{
	bool mistakes = form->answers != NULL && form->answers->mistakes != 0;
	struct view view = {
		.controls.page = um_document_begin(response, request, brand,
			(struct um_document_head){ .status = mistakes ? 422
								      : 200,
				.title = form->is_approval
					? UM_TEXT_APPROVAL_TITLE
					: UM_TEXT_FORM_TITLE,
				.mark = UM_MARK_ASK,
				.policy = "; form-action 'self'" }),
		.controls.definition = form->definition,
		.controls.answers = form->answers,
		.controls.problem = form->problem,
		.form = form,
	};

	um_buf_puts(view.controls.page.body, "<p>");
	um_text_put(view.controls.page.body, view.controls.page.language,
		form->is_approval ? UM_TEXT_APPROVAL_LEAD : UM_TEXT_FORM_LEAD,
		(const struct um_text_value[]){
			{ "requester", form->requester },
			{ 0 },
		},
		"<strong><bdi>", "</bdi></strong>");
	um_buf_puts(view.controls.page.body, "</p>\n");
	put_alert(&view);
	if (form->elsewhere)
		um_document_warning(&view.controls.page,
			UM_TEXT_OPEN_ELSEWHERE);
	um_control_words(&view.controls, "h2", "", form->definition->title);
	um_control_words(&view.controls, "p", " class=\"lines\"",
		form->definition->text);
	put_facts(&view);
	if (!form->is_approval)
		um_document_paragraph(&view.controls.page, UM_TEXT_FORM_NOTE);
	if (form->warns)
		um_document_warning(&view.controls.page,
			UM_TEXT_CONFIRM_WARNING);
	put_form(&view);
	um_layout_end(view.controls.page.body, "");
}
