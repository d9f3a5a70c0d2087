/* SPDX-License-Identifier: MIT */
#include "form/form_page.h"

#include "form/control.h"
#include "form/words.h"
#include "http/escape.h"

/*
 * The text and the facts that do not stand on the page are behind a summary. Of
 * an approval it is open: nobody decides about what is not to be seen. Where the
 * user fills something in it is closed, so that the first screen of a phone of
 * 320 by 568 px has the first field: these are the sizes of the style there, in
 * px, and ROOM what a header, the line that follows who asks, the summary and a
 * field leave.
 */
#define FACTS_OF_APPROVAL 3
#define ROOM 302
#define LINE 26
#define HEADING_LINE 29
#define GAP 13
#define BORDERS 28

/* The letters on a line, with the space that its last word leaves. */
#define LETTERS 28
#define LETTERS_OF_HEADING 20
#define LETTERS_OF_LEAD 24
#define LETTERS_OF_FACT 13

/*
 * Shows the buttons that show a secret. What is sent is not kept by the browser
 * as a text that somebody has typed. A test compares the script with its hash
 * below.
 */
#define SCRIPT                                                                 \
	"for(const b of document.querySelectorAll('.secret button')){"         \
	"const i=b.previousElementSibling,"                                    \
	"turn=()=>{i.type=i.type==='text'?'password':'text';"                  \
	"[b.textContent,b.value]=[b.value,b.textContent]};"                    \
	"b.hidden=false;b.onclick=turn;"                                       \
	"b.form.addEventListener('submit',()=>{if(i.type==='text')turn()})}"

#define SCRIPT_HASH "sha256-eqbp95Ms6EXoTVfKu19+v9ClvyUgcvaNdSIeH7xRNxg="

/* The page, and what it shows. */
struct view {
	struct um_controls controls;
	const struct um_form_page *form;
};

/* `words`: what it says instead of the text, or NULL. */
static void
put_button(const struct view *view, const char *value, enum um_text text,
	const struct um_json_node *words, bool validates)
{
	um_buf_cat(view->controls.page.body, "<button name=\"answer\" value=\"",
		value, "\"",
		/* A button of ours does not say what it is about. */
		view->form->is_approval ? " aria-describedby=\"what\"" : "",
		validates ? ">" : " formnovalidate>");
	if (words != NULL)
		um_control_words(&view->controls, "span", "", words);
	else
		um_document_put(&view->controls.page, text);
	um_buf_puts(view->controls.page.body, "</button>\n");
}

static void
put_hidden(const struct view *view, const char *name, struct um_str value)
{
	struct um_buf *body = view->controls.page.body;

	um_buf_cat(body, "<input type=\"hidden\" name=\"", name, "\" value=\"");
	um_escape_html_attr(body, value);
	um_buf_puts(body, "\">\n");
}

/* Who acts, and the two buttons. */
static void
put_end(const struct view *view)
{
	const struct um_form_page *form = view->form;
	const struct um_document *page = &view->controls.page;

	if (!form->is_approval) {
		um_buf_puts(page->body, "<p class=\"help\">");
		um_document_put(page, UM_TEXT_FORM_NOTE);
		um_buf_puts(page->body, "</p>\n");
	}
	um_document_acting(page, &form->acting);
	if (!form->acting.is_known)
		um_document_warning(page, UM_TEXT_CONFIRM_WARNING);
	/* The heading may be far above. */
	if (form->is_approval
		&& form->definition->facts_len > FACTS_OF_APPROVAL)
		um_control_words(&view->controls, "p", " class=\"what\"",
			form->definition->title);
	um_buf_puts(page->body, "<div class=\"go\">\n");
	if (form->is_approval)
		put_button(view, "approve", UM_TEXT_APPROVE, NULL, true);
	else
		put_button(view, "submit", UM_TEXT_SEND,
			form->definition->submit_label, true);
	put_button(view, "decline", UM_TEXT_DECLINE, NULL,
		form->definition->comment == UM_COMMENT_REQUIRED);
	um_buf_puts(page->body, "</div>\n");
}

static void
put_form(struct view *view)
{
	const struct um_form_page *form = view->form;
	const struct um_definition *definition = form->definition;
	struct um_buf *body = view->controls.page.body;

	um_buf_puts(body, "<form method=\"post\" action=\"/form/");
	um_escape_html_attr(body, form->provider);
	um_buf_puts(body, "\">\n");
	put_hidden(view, "state", form->state);
	if (form->reader.len != 0)
		put_hidden(view, UM_ANSWER_READER, form->reader);
	for (size_t i = 0; i < definition->inputs_len; i++)
		um_control_put(&view->controls, &definition->input[i]);
	if (definition->comment != UM_COMMENT_NONE)
		um_control_put(&view->controls, NULL);
	put_end(view);
	um_buf_puts(body, "</form>\n");
}

static void
put_text(const struct view *view)
{
	um_control_words(&view->controls, "p", " class=\"lines\"",
		view->form->definition->text);
}

/* The facts from one to before another, and for whom it is if that is said. */
static void
put_facts(const struct view *view, size_t from, size_t to, struct um_str whom)
{
	const struct um_definition *definition = view->form->definition;
	const struct um_document *page = &view->controls.page;

	if (from == to && whom.len == 0)
		return;
	um_buf_puts(page->body, "<dl>\n");
	if (whom.len != 0)
		um_document_row(page, UM_TEXT_REQUESTED_FOR, whom);
	for (size_t i = from; i < to; i++) {
		um_control_words(&view->controls, "dt", "",
			definition->fact[i].label);
		um_control_words(&view->controls, "dd", " class=\"lines\"",
			definition->fact[i].value);
		um_buf_puts(page->body, "\n");
	}
	um_buf_puts(page->body, "</dl>\n");
}

/* The lines of a text. A letter of three bytes is taken for two. */
static int
lines_of(struct um_str text, int letters)
{
	int lines = 1, used = 0;

	for (size_t i = 0; i < text.len; i++) {
		const unsigned char byte = (unsigned char)text.ptr[i];
		const int width = byte >= 0xE0                  ? 2
			: (byte & 0xC0) == 0x80 || byte == '\n' ? 0
								: 1;

		if (byte == '\n' || used + width > letters) {
			lines++;
			used = 0;
		}
		used += width;
	}
	return lines;
}

static int
lines_of_words(const struct view *view, const struct um_json_node *words,
	int letters)
{
	return lines_of(um_words_of(words, view->form->definition->language,
				view->controls.page.language)
				.text,
		letters);
}

static int
height_of_fact(const struct view *view, const struct um_fact *fact)
{
	const int label = lines_of_words(view, fact->label, LETTERS_OF_FACT),
		  value = lines_of_words(view, fact->value, LETTERS_OF_FACT);

	return LINE * (label > value ? label : value);
}

/* What stands on the page at once. */
struct shown {
	bool text;
	size_t facts;
};

static struct shown
shown_of_input(const struct view *view)
{
	const struct um_definition *definition = view->form->definition;
	struct shown shown = { 0 };
	int room = ROOM;

	room -= LINE * lines_of(view->form->requester, LETTERS_OF_LEAD);
	room -= HEADING_LINE
		* lines_of_words(view, definition->title, LETTERS_OF_HEADING);
	room -= LINE
		* lines_of_words(view, definition->input[0].label, LETTERS);
	if (definition->text != NULL)
		room -= GAP
			+ LINE
				* lines_of_words(view, definition->text,
					LETTERS);
	shown.text = definition->text == NULL || room >= 0;
	room -= GAP + BORDERS;
	while (shown.facts < definition->facts_len) {
		room -= height_of_fact(view, &definition->fact[shown.facts]);
		if (room < 0)
			break;
		shown.facts++;
		room -= GAP;
	}
	return shown;
}

static struct shown
shown_of_approval(const struct um_definition *definition)
{
	return (struct shown){ .text = true,
		.facts = definition->facts_len < FACTS_OF_APPROVAL
			? definition->facts_len
			: FACTS_OF_APPROVAL };
}

/* The text and the facts. */
static void
put_matter(const struct view *view)
{
	const struct um_form_page *form = view->form;
	const struct um_definition *definition = form->definition;
	const struct um_document *page = &view->controls.page;
	const struct shown shown = form->is_approval
		? shown_of_approval(definition)
		: shown_of_input(view);

	if (shown.text)
		put_text(view);
	put_facts(view, 0, shown.facts, form->subject);
	if (shown.text && shown.facts == definition->facts_len)
		return;
	um_buf_puts(page->body,
		form->is_approval ? "<details open><summary>"
				  : "<details><summary>");
	um_document_put(page, UM_TEXT_DETAILS);
	um_buf_puts(page->body, "</summary>\n");
	if (!shown.text)
		put_text(view);
	put_facts(view, shown.facts, definition->facts_len,
		(struct um_str){ 0 });
	um_buf_puts(page->body, "</details>\n");
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

/* Who asks, and what: in the server's words. */
static void
put_question(const struct view *view, enum um_mark mark)
{
	const struct um_form_page *form = view->form;
	const struct um_document *page = &view->controls.page;

	um_document_lead(page, mark,
		form->is_approval ? UM_TEXT_APPROVAL_LEAD : UM_TEXT_FORM_LEAD,
		(const struct um_text_value[]){
			{ "requester", form->requester },
			{ 0 },
		});
	um_control_words(&view->controls, "h1", " id=\"what\"",
		form->definition->title);
	put_alert(view);
	if (form->elsewhere)
		um_document_warning(page, UM_TEXT_OPEN_ELSEWHERE);
	put_matter(view);
}

/* A secret of several lines cannot be hidden, so that nothing shows it. */
static bool
has_secret(const struct um_definition *definition, bool of_one_line)
{
	for (size_t i = 0; i < definition->inputs_len; i++)
		if (definition->input[i].type == UM_INPUT_SECRET
			&& !(of_one_line && definition->input[i].has_lines))
			return true;
	return false;
}

void
um_form_page_put(struct um_response *response, const struct um_request *request,
	const struct um_brand *brand, const struct um_form_page *form)
{
	bool mistakes = form->answers != NULL && form->answers->mistakes != 0;
	bool script = has_secret(form->definition, true);
	struct view view = {
		.controls.page = um_document_begin(response, request, brand,
			(struct um_document_head){ .status = mistakes ? 422
								      : 200,
				.title = form->is_approval
					? UM_TEXT_APPROVAL_TITLE
					: UM_TEXT_FORM_TITLE,
				.has_lead = true,
				.policy = script ? "; form-action 'self'; "
						   "script-src '" SCRIPT_HASH
						   "'"
						 : "; form-action 'self'" }),
		.controls.definition = form->definition,
		.controls.answers = form->answers,
		.controls.problem = form->problem,
		.form = form,
	};

	put_question(&view,
		form->is_approval                             ? UM_MARK_SEAL
			: has_secret(form->definition, false) ? UM_MARK_KEY
							      : UM_MARK_FORM);
	put_form(&view);
	if (script)
		um_buf_puts(view.controls.page.body,
			"<script>" SCRIPT "</script>\n");
	um_layout_end(view.controls.page.body, "");
}
