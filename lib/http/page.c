/* SPDX-License-Identifier: MIT */
#include "http/page.h"

#include "http/escape.h"

/* The style of every page. A test compares it with its hash below. */
#define STYLE                                                                  \
	":root{color-scheme:light dark;font:1rem/1.5 system-ui,sans-serif}"    \
	"body{margin:0;display:grid;min-height:100vh;place-items:center}"      \
	"main{box-sizing:border-box;width:100%;max-width:32rem;padding:1."     \
	"5rem;overflow-wrap:anywhere}"                                         \
	"h1{font-size:1.5rem;line-height:1.25}"                                \
	"dl{display:grid;grid-template-columns:auto 1fr;gap:.25rem 1rem}"      \
	"dt{font-weight:600}dd{margin:0}"                                      \
	"form{display:flex;flex-wrap:wrap;gap:.75rem;margin-top:1.5rem}"       \
	"button{font:inherit;padding:.5rem 1.25rem;border-radius:.5rem;"       \
	"border:1px solid currentcolor;cursor:pointer;"                        \
	"background:canvas;color:canvastext}"                                  \
	"button:first-of-type{background:#1a56b0;color:#fff;border-color:#"    \
	"1a56b0}"                                                              \
	"footer{margin-top:2rem;font-size:.875rem}"

#define STYLE_HASH "sha256-06PWTd9ea6+v9a7fL1EUnYXQwzfPk1nYwwaJdcymZRw="

/*
 * Asks /status until the row is completed, less and less often; an answer 429
 * (too many requests) does not stop it. While another attempt can be made, the
 * page says that one has failed. A test compares it with its hash, too.
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

#define POLICY                                                                 \
	"default-src 'none'; style-src '" STYLE_HASH "'; "                     \
	"frame-ancestors 'none'; base-uri 'none'"

#define PAGE_LEN 4096 /* bytes, more than most pages take */

static void
page_begin(struct um_response *response, int status, const char *policy,
	const char *head, const char *title)
{
	struct um_buf *body = &response->body;

	response->status = status;
	um_buf_reserve(body, PAGE_LEN);
	um_response_header(response, "Content-Security-Policy", policy);
	um_buf_puts(body,
		"<!doctype html>\n<html lang=\"en\">\n<head>\n"
		"<meta charset=\"utf-8\">\n"
		"<meta name=\"viewport\" content=\"width=device-width\">\n"
		"<title>");
	um_escape_html_text(body, um_str(title));
	um_buf_puts(body, "</title>\n<style>" STYLE "</style>\n");
	um_buf_puts(body, head);
	um_buf_puts(body, "</head>\n<body>\n<main>\n<h1>");
	um_escape_html_text(body, um_str(title));
	um_buf_puts(body, "</h1>\n");
}

static void
page_end(struct um_response *response)
{
	um_buf_puts(&response->body, "</main>\n</body>\n</html>\n");
}

void
um_page_final(struct um_response *response, enum um_final_page final)
{
	page_begin(response, 200, POLICY "; form-action 'none'", "",
		um_final_page_title(final));
	um_buf_puts(&response->body, "<p>");
	um_escape_html_text(&response->body,
		um_str(um_final_page_advice(final)));
	um_buf_puts(&response->body, "</p>\n");
	page_end(response);
}

void
um_page_redirect_to_done(struct um_response *response, enum um_final_page final)
{
	um_response_cookie(response, UM_FINAL_PAGE_COOKIE,
		um_final_page_code(final), UM_FINAL_PAGE_MAX_AGE);
	um_response_redirect(response, um_str("/done"));
}

void
um_page_refusal(struct um_response *response, const struct um_request *request,
	enum um_refusal refusal)
{
	int status = um_refusal_status(refusal);
	struct um_buf *body = &response->body;

	page_begin(response, status, POLICY "; form-action 'none'", "",
		status == 503           ? "One moment, please"
			: status == 500 ? "Something went wrong"
					: "We can't continue");
	um_buf_puts(body, "<p>");
	um_escape_html_text(body, um_str(um_refusal_advice(refusal)));
	um_buf_puts(body, "</p>\n<footer>Reason: <code>");
	um_escape_html_text(body, um_str(um_refusal_shown_code(refusal)));
	um_buf_puts(body, "</code><br>Request: <code>");
	um_escape_html_text(body, um_str(request->id));
	um_buf_puts(body, "</code></footer>\n");
	page_end(response);
}

void
um_page_follow(struct um_response *response, bool attempt_failed)
{
	page_begin(response, 200,
		POLICY "; form-action 'none'; "
		       "script-src '" SCRIPT_HASH "'; connect-src 'self'",
		"<noscript><meta http-equiv=\"refresh\" "
		"content=\"5\"></noscript>\n",
		"Waiting for confirmation");
	um_buf_puts(&response->body,
		"<div role=\"status\">\n<p>The provider has not confirmed this "
		"yet. This page continues by itself as soon as it has.</p>\n"
		"<p id=\"failed\"");
	um_buf_puts(&response->body, attempt_failed ? ">" : " hidden>");
	um_buf_puts(&response->body,
		"The last attempt did not go through. You can try again on the "
		"provider's page.</p>\n</div>\n"
		"<script>" SCRIPT "</script>\n");
	page_end(response);
}

void
um_page_confirm(struct um_response *response, const struct um_confirm *confirm)
{
	struct um_buf *body = &response->body;

	/*
	 * No form-action here: browsers apply it to every redirect that
	 * follows the form, and we do not know the provider's redirects.
	 */
	page_begin(response, 200, POLICY, "", "Do you want to continue?");
	um_buf_puts(body, "<p><strong><bdi>");
	um_escape_html_text(body, confirm->requester);
	um_buf_puts(body, "</bdi></strong> wants to send you to <strong><bdi>");
	um_escape_html_text(body, confirm->display_name);
	um_buf_puts(body,
		"</bdi></strong>. Continue only if you started this yourself "
		"just now.</p>\n"
		"<dl>\n<dt>Requested by</dt><dd>");
	um_escape_html_text(body, confirm->requester);
	um_buf_puts(body, "</dd>\n<dt>For</dt><dd>");
	um_escape_html_text(body, confirm->subject);
	um_buf_puts(body, "</dd>\n<dt>Destination</dt><dd>");
	um_escape_html_text(body, confirm->display_name);
	um_buf_puts(body,
		"</dd>\n</dl>\n<form method=\"post\" action=\"/connect/");
	um_escape_html_attr(body, confirm->provider);
	um_buf_puts(body,
		"\">\n<input type=\"hidden\" name=\"state\" value=\"");
	um_escape_html_attr(body, confirm->state);
	um_buf_puts(body,
		"\">\n"
		"<button name=\"answer\" value=\"continue\">Continue</button>\n"
		"<button name=\"answer\" value=\"refuse\">Decline</button>\n"
		"</form>\n");
	page_end(response);
}
