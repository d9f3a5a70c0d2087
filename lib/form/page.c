/* SPDX-License-Identifier: MIT */
#include "form/page.h"

#include <stdio.h>

#include "form/words.h"
#include "http/document.h"
#include "http/escape.h"

/* The page, and what it shows. */
struct view {
	struct um_document page;
	const struct um_form_page *form;
	bool has_focus; /* an element has autofocus already */
};

/* The words as an element that says its language, with attributes of ours. */
static void
put_words(const struct view *view, const char *element, const char *attributes,
	const struct um_json_node *node)
{
	struct um_buf *body = view->page.body;
	struct um_words words = um_words_of(node,
		view->form->definition->language, view->page.language);

	if (node == NULL)
		return;
	um_buf_cat(body, "<", element, attributes, " lang=\"",
		um_text(words.language, UM_TEXT_LANG), "\" dir=\"",
		um_text(words.language, UM_TEXT_DIR), "\">");
	um_escape_html_text(body, words.text);
	um_buf_cat(body, "</", element, ">");
}

static void
put_mistake(const struct view *view, const struct um_input *input,
	enum um_mistake mistake)
{
	static const enum um_text texts[] = {
		[UM_MISTAKE_MISSING] = UM_TEXT_MISTAKE_MISSING,
		[UM_MISTAKE_CHARACTERS] = UM_TEXT_MISTAKE_CHARACTERS,
		[UM_MISTAKE_TOO_SHORT] = UM_TEXT_MISTAKE_TOO_SHORT,
		[UM_MISTAKE_TOO_LONG] = UM_TEXT_MISTAKE_TOO_LONG,
		[UM_MISTAKE_PATTERN] = UM_TEXT_MISTAKE_PATTERN,
		[UM_MISTAKE_EMAIL] = UM_TEXT_MISTAKE_EMAIL,
		[UM_MISTAKE_URL] = UM_TEXT_MISTAKE_URL,
		[UM_MISTAKE_NUMBER] = UM_TEXT_MISTAKE_NUMBER,
		[UM_MISTAKE_TOO_SMALL] = UM_TEXT_MISTAKE_TOO_SMALL,
		[UM_MISTAKE_TOO_GREAT] = UM_TEXT_MISTAKE_TOO_GREAT,
		[UM_MISTAKE_CHOICE] = UM_TEXT_MISTAKE_CHOICE,
	};
	char count[32] = "";

	if (input == NULL)
		snprintf(count, sizeof(count), "%d", UM_FORM_COMMENT_MAX);
	else if (mistake == UM_MISTAKE_TOO_SHORT
		|| mistake == UM_MISTAKE_TOO_LONG)
		snprintf(count, sizeof(count), "%zu",
			mistake == UM_MISTAKE_TOO_SHORT ? input->min
							: input->max);
	else if (mistake == UM_MISTAKE_TOO_SMALL
		|| mistake == UM_MISTAKE_TOO_GREAT)
		snprintf(count, sizeof(count), "%.15g",
			mistake == UM_MISTAKE_TOO_SMALL ? input->least
							: input->greatest);
	um_text_put(view->page.body, view->page.language, texts[mistake],
		(const struct um_text_value[]){ { "count", um_str(count) },
			{ 0 } },
		"", "");
}

/* The field that the problem of the MCP server is about; nothing for none. */
static struct um_str
problem_field(const struct um_form_page *form)
{
	const struct um_json_node *field = um_json_member(form->problem,
		um_str("field"));

	if (!um_json_is(field, UM_JSON_STRING))
		return (struct um_str){ 0 };
	return (struct um_str){ field->text, field->len };
}

static const struct um_json_node *
problem_text(const struct um_form_page *form)
{
	return um_json_member(form->problem, um_str("problem"));
}

static const struct um_answered *
answered_of(const struct view *view, const struct um_input *input)
{
	const struct um_answers *answers = view->form->answers;

	if (answers == NULL)
		return NULL;
	return input == NULL
		? &answers->comment
		: &answers->input[input - view->form->definition->input];
}

/* What the field shows: what was sent, or its default. Never a secret. */
static struct um_str
shown_value(const struct view *view, const struct um_input *input)
{
	const struct um_answered *answered = answered_of(view, input);

	if (input != NULL && input->type == UM_INPUT_SECRET)
		return (struct um_str){ 0 };
	if (answered != NULL)
		return answered->value;
	if (input == NULL || input->initial == NULL)
		return (struct um_str){ 0 };
	return (struct um_str){ input->initial->text, input->initial->len };
}

static bool
is_wrong(const struct view *view, const struct um_input *input)
{
	const struct um_answered *answered = answered_of(view, input);

	return (answered != NULL && answered->mistake != UM_MISTAKE_NONE)
		|| (input != NULL && view->form->problem != NULL
			&& um_str_eq(problem_field(view->form), input->name));
}

static void
put_name(const struct view *view, const struct um_input *input)
{
	if (input == NULL)
		um_buf_puts(view->page.body, UM_ANSWER_COMMENT);
	else
		um_buf_put(view->page.body, input->name.ptr, input->name.len);
}

/* id, name, and what screen readers need. */
static void
put_attributes(struct view *view, const struct um_input *input, bool required)
{
	struct um_buf *body = view->page.body;
	bool wrong = is_wrong(view, input);
	bool helps = input != NULL && input->help != NULL;

	um_buf_puts(body, " id=\"f-");
	put_name(view, input);
	um_buf_cat(body, "\" name=\"", input != NULL ? UM_ANSWER_PREFIX : "");
	put_name(view, input);
	um_buf_puts(body, "\"");
	if (helps || wrong) {
		um_buf_puts(body, " aria-describedby=\"");
		if (wrong) {
			um_buf_puts(body, "e-");
			put_name(view, input);
		}
		if (helps) {
			um_buf_cat(body, wrong ? " h-" : "h-");
			put_name(view, input);
		}
		um_buf_puts(body, "\"");
	}
	if (required)
		um_buf_puts(body, " required");
	if (wrong)
		um_buf_cat(body, " aria-invalid=\"true\"",
			view->has_focus ? "" : " autofocus");
	view->has_focus |= wrong;
}

static void
put_select(struct view *view, const struct um_input *input)
{
	struct um_buf *body = view->page.body;
	struct um_str shown = shown_value(view, input);
	const struct um_json_node *node = NULL;

	um_buf_puts(body, "<select");
	put_attributes(view, input, input->required);
	um_buf_puts(body, "><option value=\"\">");
	um_document_put(&view->page, UM_TEXT_CHOOSE);
	um_buf_puts(body, "</option>");
	while ((node = um_json_next(input->choices, node)) != NULL) {
		const struct um_json_node *value = um_json_member(node,
			um_str("value"));

		um_buf_puts(body, "\n<option value=\"");
		um_escape_html_attr(body,
			(struct um_str){ value->text, value->len });
		um_buf_puts(body, "\"");
		um_buf_cat(body,
			um_json_string_eq(value, shown) ? " selected>" : ">");
		um_escape_html_text(body,
			um_words_of(um_json_member(node, um_str("label")),
				view->form->definition->language,
				view->page.language)
				.text);
		um_buf_puts(body, "</option>");
	}
	um_buf_puts(body, "</select>\n");
}

/* A line feed that begins the text: browsers drop the first one. */
static void
put_area(struct view *view, const struct um_input *input, bool required)
{
	struct um_buf *body = view->page.body;
	bool secret = input != NULL && input->type == UM_INPUT_SECRET;

	um_buf_cat(body, "<textarea rows=\"5\" dir=\"auto\"",
		secret ? " autocomplete=\"off\" autocapitalize=\"none\" "
			 "spellcheck=\"false\""
		       : "");
	put_attributes(view, input, required);
	um_buf_puts(body, ">\n");
	um_escape_html_text(body, shown_value(view, input));
	um_buf_puts(body, "</textarea>\n");
}

static void
put_line(struct view *view, const struct um_input *input)
{
	static const char *const kinds[] = {
		[UM_INPUT_TEXT] = "\"text\" dir=\"auto\" autocomplete=\"off\"",
		[UM_INPUT_SECRET] =
			"\"password\" autocomplete=\"off\" "
			"autocapitalize=\"none\" spellcheck=\"false\"",
		[UM_INPUT_EMAIL] = "\"email\" inputmode=\"email\" "
				   "autocomplete=\"email\"",
		[UM_INPUT_URL] = "\"url\" inputmode=\"url\" "
				 "autocomplete=\"url\"",
		[UM_INPUT_NUMBER] = "\"number\" inputmode=\"decimal\" "
				    "step=\"any\" autocomplete=\"off\"",
	};
	struct um_buf *body = view->page.body;

	um_buf_cat(body, "<input type=", kinds[input->type]);
	put_attributes(view, input, input->required);
	if (input->type != UM_INPUT_SECRET) {
		um_buf_puts(body, " value=\"");
		um_escape_html_attr(body, shown_value(view, input));
		um_buf_puts(body, "\"");
	}
	um_buf_puts(body, ">\n");
}

static void
put_checkbox(struct view *view, const struct um_input *input)
{
	const struct um_answered *answered = answered_of(view, input);
	bool checked = answered != NULL
		? answered->value.len != 0
		: um_json_is(input->initial, UM_JSON_TRUE);

	um_buf_puts(view->page.body, "<input type=\"checkbox\" value=\"on\"");
	put_attributes(view, input, input->required);
	um_buf_cat(view->page.body, checked ? " checked>\n" : ">\n");
}

static void
put_control(struct view *view, const struct um_input *input, bool required)
{
	if (input == NULL || input->has_lines)
		put_area(view, input, required);
	else if (input->type == UM_INPUT_CHOICE)
		put_select(view, input);
	else if (input->type == UM_INPUT_CHECKBOX)
		put_checkbox(view, input);
	else
		put_line(view, input);
}

/* What is wrong, beside the field. */
static void
put_wrong(const struct view *view, const struct um_input *input)
{
	const struct um_answered *answered = answered_of(view, input);
	struct um_buf *body = view->page.body;

	if (!is_wrong(view, input))
		return;
	um_buf_puts(body, "<span class=\"wrong\" id=\"e-");
	put_name(view, input);
	um_buf_puts(body, "\">");
	if (answered != NULL && answered->mistake != UM_MISTAKE_NONE)
		put_mistake(view, input, answered->mistake);
	else
		put_words(view, "span", "", problem_text(view->form));
	um_buf_puts(body, "</span>\n");
}

static void
put_help(const struct view *view, const struct um_input *input)
{
	struct um_buf *body = view->page.body;

	if (input->help != NULL) {
		um_buf_puts(body, "<span class=\"help\" id=\"h-");
		put_name(view, input);
		um_buf_puts(body, "\">");
		put_words(view, "span", "", input->help);
		um_buf_puts(body, "</span>\n");
	}
	if (input->link.len == 0)
		return;
	um_buf_puts(body,
		"<a class=\"key\" target=\"_blank\" "
		"rel=\"noopener noreferrer\" href=\"");
	um_escape_html_attr(body, input->link);
	um_buf_puts(body, "\">");
	put_words(view, "span", "", input->link_label);
	um_buf_puts(body, "</a>\n");
}

/* A field, or the comment for NULL. */
static void
put_field(struct view *view, const struct um_input *input, bool required)
{
	struct um_buf *body = view->page.body;
	bool ticked = input != NULL && input->type == UM_INPUT_CHECKBOX;

	um_buf_cat(body,
		ticked ? "<div class=\"field tick\">\n"
		       : "<div class=\"field\">\n");
	if (ticked)
		put_control(view, input, required);
	um_buf_puts(body, "<label for=\"f-");
	put_name(view, input);
	um_buf_puts(body, "\">");
	if (input != NULL)
		put_words(view, "span", "", input->label);
	else
		um_document_put(&view->page, UM_TEXT_COMMENT);
	if (!required && !ticked) {
		um_buf_puts(body, " <small>");
		um_document_put(&view->page, UM_TEXT_OPTIONAL);
		um_buf_puts(body, "</small>");
	}
	um_buf_puts(body, "</label>\n");
	if (input != NULL)
		put_help(view, input);
	put_wrong(view, input);
	if (!ticked)
		put_control(view, input, required);
	um_buf_puts(body, "</div>\n");
}

static void
put_button(const struct view *view, const char *value, enum um_text text,
	bool validates)
{
	um_buf_cat(view->page.body, "<button name=\"answer\" value=\"", value,
		validates ? "\">" : "\" formnovalidate>");
	um_document_put(&view->page, text);
	um_buf_puts(view->page.body, "</button>\n");
}

static void
put_form(struct view *view)
{
	const struct um_form_page *form = view->form;
	const struct um_definition *definition = form->definition;
	bool needs_comment = definition->comment == UM_COMMENT_REQUIRED;
	struct um_buf *body = view->page.body;

	um_buf_puts(body, "<form method=\"post\" action=\"/form/");
	um_escape_html_attr(body, form->provider);
	um_buf_puts(body,
		"\">\n<input type=\"hidden\" name=\"state\" value=\"");
	um_escape_html_attr(body, form->state);
	um_buf_puts(body, "\">\n");
	for (size_t i = 0; i < definition->inputs_len; i++)
		put_field(view, &definition->input[i],
			definition->input[i].required);
	if (definition->comment != UM_COMMENT_NONE)
		put_field(view, NULL, needs_comment);
	if (form->is_approval)
		put_button(view, "approve", UM_TEXT_APPROVE, true);
	else
		put_button(view, "submit", UM_TEXT_SEND, true);
	put_button(view, "decline", UM_TEXT_DECLINE, needs_comment);
	um_buf_puts(body, "</form>\n");
}

static void
put_row(const struct view *view, enum um_text name, struct um_str value)
{
	um_buf_puts(view->page.body, "<dt>");
	um_document_put(&view->page, name);
	um_buf_puts(view->page.body, "</dt><dd>");
	um_escape_html_text(view->page.body, value);
	um_buf_puts(view->page.body, "</dd>\n");
}

static void
put_facts(const struct view *view)
{
	const struct um_definition *definition = view->form->definition;

	um_buf_puts(view->page.body, "<dl>\n");
	put_row(view, UM_TEXT_REQUESTED_BY, view->form->requester);
	put_row(view, UM_TEXT_REQUESTED_FOR, view->form->subject);
	for (size_t i = 0; i < definition->facts_len; i++) {
		put_words(view, "dt", "", definition->fact[i].label);
		put_words(view, "dd", " class=\"lines\"",
			definition->fact[i].value);
		um_buf_puts(view->page.body, "\n");
	}
	um_buf_puts(view->page.body, "</dl>\n");
}

static void
put_alert(const struct view *view)
{
	const struct um_form_page *form = view->form;
	struct um_buf *body = view->page.body;
	bool mistakes = form->answers != NULL && form->answers->mistakes != 0;

	if (!mistakes && form->problem == NULL && !form->unchecked)
		return;
	um_buf_puts(body, "<p class=\"wrong\" role=\"alert\">");
	if (mistakes || form->problem != NULL)
		um_document_put(&view->page, UM_TEXT_FORM_MISTAKES);
	else
		um_document_put(&view->page, UM_TEXT_FORM_UNCHECKED);
	/* A problem of no field that the form has. */
	if (!mistakes && form->problem != NULL
		&& um_definition_input(form->definition, problem_field(form))
			== NULL) {
		um_buf_puts(body, " ");
		put_words(view, "span", "", problem_text(form));
	}
	um_buf_puts(body, "</p>\n");
}

void
um_form_page_put(struct um_response *response, const struct um_request *request,
	const struct um_brand *brand, const struct um_form_page *form)
{
	bool mistakes = form->answers != NULL && form->answers->mistakes != 0;
	struct view view = {
		.page = um_document_begin(response, request, brand,
			(struct um_document_head){ .status = mistakes ? 422
								      : 200,
				.title = form->is_approval
					? UM_TEXT_APPROVAL_TITLE
					: UM_TEXT_FORM_TITLE,
				.mark = UM_MARK_ASK,
				.policy = "; form-action 'self'" }),
		.form = form,
	};

	um_buf_puts(view.page.body, "<p>");
	um_text_put(view.page.body, view.page.language,
		form->is_approval ? UM_TEXT_APPROVAL_LEAD : UM_TEXT_FORM_LEAD,
		(const struct um_text_value[]){
			{ "requester", form->requester },
			{ 0 },
		},
		"<strong><bdi>", "</bdi></strong>");
	um_buf_puts(view.page.body, "</p>\n");
	put_alert(&view);
	put_words(&view, "h2", "", form->definition->title);
	put_words(&view, "p", " class=\"lines\"", form->definition->text);
	put_facts(&view);
	if (!form->is_approval)
		um_document_paragraph(&view.page, UM_TEXT_FORM_NOTE);
	if (form->warns) {
		um_buf_puts(view.page.body, "<p class=\"warning\">");
		um_document_put(&view.page, UM_TEXT_CONFIRM_WARNING);
		um_buf_puts(view.page.body, "</p>\n");
	}
	put_form(&view);
	um_layout_end(view.page.body, "");
}
