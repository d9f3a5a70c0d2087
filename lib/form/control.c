/* SPDX-License-Identifier: MIT */
#include "form/control.h"

#include <stdio.h>

#include "form/words.h"
#include "http/escape.h"

struct um_str
um_control_problem_field(const struct um_json_node *problem)
{
	const struct um_json_node *field = um_json_member(problem,
		um_str("field"));

	return um_json_str(um_json_is(field, UM_JSON_STRING) ? field : NULL);
}

void
um_control_words(const struct um_controls *controls, const char *element,
	const char *attributes, const struct um_json_node *words)
{
	const struct um_words found = um_words_of(words,
		controls->definition->language, controls->page.language);

	if (words != NULL)
		um_words_put(controls->page.body, element, attributes, &found);
}

static void
put_mistake(const struct um_controls *controls, const struct um_input *input,
	enum um_mistake mistake)
{
	static const enum um_text texts[] = {
		[UM_MISTAKE_MISSING] = UM_TEXT_MISTAKE_MISSING,
		[UM_MISTAKE_CHARACTERS] = UM_TEXT_MISTAKE_CHARACTERS,
		[UM_MISTAKE_TOO_SHORT] = UM_TEXT_MISTAKE_TOO_SHORT,
		[UM_MISTAKE_TOO_LONG] = UM_TEXT_MISTAKE_TOO_LONG,
		[UM_MISTAKE_FORMAT] = UM_TEXT_MISTAKE_FORMAT,
		[UM_MISTAKE_EMAIL] = UM_TEXT_MISTAKE_EMAIL,
		[UM_MISTAKE_URL] = UM_TEXT_MISTAKE_URL,
		[UM_MISTAKE_NUMBER] = UM_TEXT_MISTAKE_NUMBER,
		[UM_MISTAKE_TOO_SMALL] = UM_TEXT_MISTAKE_TOO_SMALL,
		[UM_MISTAKE_TOO_GREAT] = UM_TEXT_MISTAKE_TOO_GREAT,
		[UM_MISTAKE_CHOICE] = UM_TEXT_MISTAKE_CHOICE,
		[UM_MISTAKE_TOGETHER] = UM_TEXT_MISTAKE_TOGETHER,
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
	um_text_put(controls->page.body, controls->page.language,
		texts[mistake],
		(const struct um_text_value[]){ { "count", um_str(count) },
			{ 0 } },
		"", "");
}

static const struct um_answered *
answered_of(const struct um_controls *controls, const struct um_input *input)
{
	const struct um_answers *answers = controls->answers;

	if (answers == NULL)
		return NULL;
	return input == NULL
		? &answers->comment
		: &answers->input[input - controls->definition->input];
}

/* What the field shows: what was sent, or its default. Never a secret. */
static struct um_str
shown_value(const struct um_controls *controls, const struct um_input *input)
{
	const struct um_answered *answered = answered_of(controls, input);

	if (input != NULL && input->type == UM_INPUT_SECRET)
		return (struct um_str){ 0 };
	if (answered != NULL)
		return answered->value;
	return um_json_str(input != NULL ? input->initial : NULL);
}

static bool
is_wrong(const struct um_controls *controls, const struct um_input *input)
{
	const struct um_answered *answered = answered_of(controls, input);

	return (answered != NULL && answered->mistake != UM_MISTAKE_NONE)
		|| (input != NULL && controls->problem != NULL
			&& um_str_eq(um_control_problem_field(
					     controls->problem),
				input->name));
}

/* Its name between these texts. */
static void
put_name(const struct um_controls *controls, const char *before,
	const struct um_input *input, const char *after)
{
	um_buf_puts(controls->page.body, before);
	if (input == NULL)
		um_buf_puts(controls->page.body, UM_ANSWER_COMMENT);
	else
		um_buf_put(controls->page.body, input->name.ptr,
			input->name.len);
	um_buf_puts(controls->page.body, after);
}

/* id, name, and what screen readers need. */
static void
put_attributes(struct um_controls *controls, const struct um_input *input,
	bool required)
{
	struct um_buf *body = controls->page.body;
	bool wrong = is_wrong(controls, input);
	bool helps = input != NULL && input->help != NULL;

	put_name(controls, " id=\"f-", input, "\" name=\"");
	put_name(controls, input != NULL ? UM_ANSWER_PREFIX : "", input, "\"");
	if (helps || wrong)
		um_buf_puts(body, " aria-describedby=\"");
	if (wrong)
		put_name(controls, "e-", input, helps ? " " : "\"");
	if (helps)
		put_name(controls, "h-", input, "\"");
	if (required)
		um_buf_puts(body, " required");
	if (wrong)
		um_buf_cat(body, " aria-invalid=\"true\"",
			controls->has_focus ? "" : " autofocus");
	controls->has_focus |= wrong;
}

static void
put_select(struct um_controls *controls, const struct um_input *input)
{
	struct um_buf *body = controls->page.body;
	struct um_str shown = shown_value(controls, input);
	const struct um_json_node *node = NULL;

	um_buf_puts(body, "<select");
	put_attributes(controls, input, input->required);
	um_buf_puts(body, "><option value=\"\">");
	um_document_put(&controls->page, UM_TEXT_CHOOSE);
	um_buf_puts(body, "</option>");
	while ((node = um_json_next(input->choices, node)) != NULL) {
		const struct um_json_node *value = um_json_member(node,
			um_str("value"));

		um_buf_puts(body, "\n<option value=\"");
		um_escape_html_attr(body, um_json_str(value));
		um_buf_puts(body, "\"");
		um_buf_cat(body,
			um_json_string_eq(value, shown) ? " selected>" : ">");
		um_escape_html_text(body,
			um_words_of(um_json_member(node, um_str("label")),
				controls->definition->language,
				controls->page.language)
				.text);
		um_buf_puts(body, "</option>");
	}
	um_buf_puts(body, "</select>\n");
}

/*
 * No password manager keeps a secret, unless the server wants it: browsers go by
 * autocomplete, 1Password, Bitwarden and LastPass by attributes of their own.
 */
#define SAVED                                                                  \
	"autocomplete=\"current-password\" autocapitalize=\"none\" "           \
	"spellcheck=\"false\""
#define SECRET                                                                 \
	"autocomplete=\"off\" autocapitalize=\"none\" spellcheck=\"false\" "   \
	"data-1p-ignore data-bwignore data-lpignore=\"true\""

/* A line feed that begins the text: browsers drop the first one. */
static void
put_area(struct um_controls *controls, const struct um_input *input,
	bool required)
{
	struct um_buf *body = controls->page.body;
	bool secret = input != NULL && input->type == UM_INPUT_SECRET;

	um_buf_cat(body, "<textarea rows=\"5\" dir=\"auto\"",
		!secret                ? ""
			: input->saves ? " " SAVED
				       : " " SECRET);
	put_attributes(controls, input, required);
	um_buf_puts(body, ">\n");
	um_escape_html_text(body, shown_value(controls, input));
	um_buf_puts(body, "</textarea>\n");
}

static void
put_line(struct um_controls *controls, const struct um_input *input)
{
	static const char *const kinds[] = {
		[UM_INPUT_TEXT] = "\"text\" dir=\"auto\" autocomplete=\"off\"",
		[UM_INPUT_SECRET] = "\"password\" ",
		[UM_INPUT_EMAIL] = "\"email\" inputmode=\"email\" "
				   "autocomplete=\"email\"",
		[UM_INPUT_URL] = "\"url\" inputmode=\"url\" "
				 "autocomplete=\"url\"",
		[UM_INPUT_NUMBER] = "\"number\" inputmode=\"decimal\" "
				    "step=\"any\" autocomplete=\"off\"",
	};
	struct um_buf *body = controls->page.body;

	um_buf_cat(body, "<input type=", kinds[input->type]);
	if (input->type == UM_INPUT_SECRET)
		um_buf_puts(body, input->saves ? SAVED : SECRET);
	put_attributes(controls, input, input->required);
	if (input->format == UM_FORMAT_DIGITS)
		um_buf_puts(body, " inputmode=\"numeric\"");
	if (input->type != UM_INPUT_SECRET) {
		um_buf_puts(body, " value=\"");
		um_escape_html_attr(body, shown_value(controls, input));
		um_buf_puts(body, "\"");
	}
	um_buf_puts(body, ">\n");
}

static void
put_checkbox(struct um_controls *controls, const struct um_input *input)
{
	const struct um_answered *answered = answered_of(controls, input);
	bool checked = answered != NULL
		? answered->value.len != 0
		: um_json_is(input->initial, UM_JSON_TRUE);

	um_buf_puts(controls->page.body,
		"<input type=\"checkbox\" value=\"on\"");
	put_attributes(controls, input, input->required);
	um_buf_cat(controls->page.body, checked ? " checked>\n" : ">\n");
}

/*
 * A secret of one line, with a button that shows it. The page's script shows the
 * button, and exchanges its words, of which one is in its value.
 */
static void
put_secret(struct um_controls *controls, const struct um_input *input)
{
	struct um_buf *body = controls->page.body;

	um_buf_puts(body, "<span class=\"secret\">");
	put_line(controls, input);
	put_name(controls,
		"<button type=\"button\" hidden aria-describedby=\"l-", input,
		"\" value=\"");
	um_document_put(&controls->page, UM_TEXT_HIDE);
	um_buf_puts(body, "\">");
	um_document_put(&controls->page, UM_TEXT_SHOW);
	um_buf_puts(body, "</button></span>\n");
}

static void
put_control(struct um_controls *controls, const struct um_input *input,
	bool required)
{
	if (input == NULL || input->has_lines)
		put_area(controls, input, required);
	else if (input->type == UM_INPUT_CHOICE)
		put_select(controls, input);
	else if (input->type == UM_INPUT_CHECKBOX)
		put_checkbox(controls, input);
	else if (input->type == UM_INPUT_SECRET)
		put_secret(controls, input);
	else
		put_line(controls, input);
}

/* What is wrong, under the field. */
static void
put_wrong(const struct um_controls *controls, const struct um_input *input)
{
	const struct um_answered *answered = answered_of(controls, input);
	struct um_buf *body = controls->page.body;

	if (!is_wrong(controls, input))
		return;
	put_name(controls, "<span class=\"wrong\" id=\"e-", input, "\">");
	if (answered != NULL && answered->mistake != UM_MISTAKE_NONE)
		put_mistake(controls, input, answered->mistake);
	else
		um_control_words(controls, "span", "",
			um_json_member(controls->problem, um_str("problem")));
	um_buf_puts(body, "</span>\n");
}

static void
put_help(const struct um_controls *controls, const struct um_input *input)
{
	struct um_buf *body = controls->page.body;

	if (input->help != NULL) {
		put_name(controls, "<span class=\"help\" id=\"h-", input,
			"\">");
		um_control_words(controls, "span", "", input->help);
		um_buf_puts(body, "</span>\n");
	}
	if (input->link.len == 0)
		return;
	um_buf_puts(body,
		"<a target=\"_blank\" "
		"rel=\"noopener noreferrer\" href=\"");
	um_escape_html_attr(body, input->link);
	um_buf_puts(body, "\">");
	um_control_words(controls, "span", "", input->link_label);
	um_buf_puts(body, "</a>\n");
}

void
um_control_put(struct um_controls *controls, const struct um_input *input)
{
	bool required = input != NULL
		? input->required
		: controls->definition->comment == UM_COMMENT_REQUIRED;
	struct um_buf *body = controls->page.body;
	bool ticked = input != NULL && input->type == UM_INPUT_CHECKBOX;

	um_buf_puts(body, "<div class=\"field\">\n");
	put_name(controls, "<label for=\"f-", input, "\"");
	if (ticked) {
		um_buf_puts(body, " class=\"tick\">");
		put_control(controls, input, required);
	} else {
		put_name(controls, " id=\"l-", input, "\">");
	}
	if (input != NULL)
		um_control_words(controls, "span", "", input->label);
	else
		um_document_put(&controls->page, UM_TEXT_COMMENT);
	if (!required && !ticked) {
		um_buf_puts(body, " <small>");
		um_document_put(&controls->page, UM_TEXT_OPTIONAL);
		um_buf_puts(body, "</small>");
	}
	um_buf_puts(body, "</label>\n");
	if (!ticked)
		put_control(controls, input, required);
	if (input != NULL)
		put_help(controls, input);
	put_wrong(controls, input);
	um_buf_puts(body, "</div>\n");
}
