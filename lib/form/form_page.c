/* SPDX-License-Identifier: MIT */
#include "form/form_page.h"

#include "form/control.h"
#include "http/escape.h"

/*
 * Facts that always stand on the page. The others are behind a summary, which is
 * closed where the user fills something in, so that a phone's first screen has
 * the first field. Of an approval it is open: nobody decides about what is not
 * to be seen.
 */
#define FACTS_OF_INPUT 1
#define FACTS_OF_APPROVAL 3

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

static void
put_all_facts(const struct view *view)
{
	const struct um_form_page *form = view->form;
	const struct um_document *page = &view->controls.page;
	size_t len = form->definition->facts_len;
	size_t most = form->is_approval ? FACTS_OF_APPROVAL : FACTS_OF_INPUT;
	size_t shown = len < most ? len : most;

	put_facts(view, 0, shown, form->subject);
	if (len <= most)
		return;
	um_buf_puts(page->body,
		form->is_approval ? "<details open><summary>"
				  : "<details><summary>");
	um_document_put(page, UM_TEXT_DETAILS);
	um_buf_puts(page->body, "</summary>\n");
	put_facts(view, shown, len, (struct um_str){ 0 });
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
	um_control_words(&view->controls, "p", " class=\"lines\"",
		form->definition->text);
	put_all_facts(view);
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
