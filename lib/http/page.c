/* SPDX-License-Identifier: MIT */
#include "http/page.h"

#include <string.h>

/* Its hash stands in the policy below; a test compares the two. */
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
 * Asks /status until the row is completed, ever more rarely, and goes on when
 * it is told that it asks too often; likewise under its hash.
 */
#define SCRIPT                                                                 \
	"(async()=>{"                                                          \
	"const url='/status?provider='"                                        \
	"+encodeURIComponent(location.pathname.split('/')[2])+'&state='"       \
	"+encodeURIComponent(new "                                             \
	"URLSearchParams(location.search).get('state'));"                      \
	"for(let pause=1e3;;pause=Math.min(pause*1.2,15e3)){"                  \
	"try{const r=await fetch(url,{cache:'no-store'});"                     \
	"if(r.ok){if((await r.json()).status==='completed')"                   \
	"return location.replace('/done')}"                                    \
	"else if(r.status<500&&r.status!==429)return location.reload()"        \
	"}catch{}"                                                             \
	"await new Promise(f=>setTimeout(f,pause))}"                           \
	"})()"

#define SCRIPT_HASH "sha256-OiB9qAzBeZxoW+u5FIgVsRryby+9JbOyK9P4ytI3PMQ="

#define POLICY                                                                 \
	"default-src 'none'; style-src '" STYLE_HASH "'; "                     \
	"frame-ancestors 'none'; base-uri 'none'"

#define PAGE_LEN 4096              /* more than most of them have */
#define REPLACEMENT "\xef\xbf\xbd" /* U+FFFD */

static const struct {
	const char *code;
	const char *title;
	const char *text;
} endings[] = {
#define X(name, code, title, text) { code, title, text },
	UM_FINAL_PAGES(X)
#undef X
};

/*
 * An embedding, override or isolate (U+202A to U+202E, U+2066 to U+2069):
 * could turn the words around it, "elpmaxe.live" into another name.
 */
static bool
is_bidi_control(struct um_str rest)
{
	const unsigned char *p = (const unsigned char *)rest.ptr;

	return rest.len >= 3 && p[0] == 0xe2
		&& ((p[1] == 0x80 && p[2] >= 0xaa && p[2] <= 0xae)
			|| (p[1] == 0x81 && p[2] >= 0xa6 && p[2] <= 0xa9));
}

/* What entity() may have an answer for; most characters have none. */
static const bool is_special[256] = {
	['&'] = true,
	['<'] = true,
	['>'] = true,
	['"'] = true,
	['\''] = true,
	[0xe2] = true,
};

/* What stands for the character that `rest` begins with, or NULL: itself. */
static const char *
entity(struct um_str rest)
{
	switch (rest.ptr[0]) {
	case '&':
		return "&amp;";
	case '<':
		return "&lt;";
	case '>':
		return "&gt;";
	case '"':
		return "&quot;";
	case '\'':
		return "&#39;";
	default:
		return is_bidi_control(rest) ? REPLACEMENT : NULL;
	}
}

static void
escape(struct um_buf *out, struct um_str text)
{
	size_t from = 0; /* what is not put yet */
	size_t i = 0;

	while (i < text.len) {
		const char *instead = is_special[(unsigned char)text.ptr[i]]
			? entity((struct um_str){ text.ptr + i, text.len - i })
			: NULL;

		if (instead == NULL) {
			i++;
			continue;
		}
		um_buf_put(out, text.ptr + from, i - from);
		um_buf_puts(out, instead);
		i += text.ptr[i] == '\xe2' ? 3 : 1;
		from = i;
	}
	um_buf_put(out, text.ptr + from, text.len - from);
}

void
um_html_txt(struct um_buf *out, struct um_str text)
{
	escape(out, text);
}

void
um_html_attr(struct um_buf *out, struct um_str text)
{
	escape(out, text);
}

void
um_url_arg(struct um_buf *out, struct um_str text)
{
	static const char hex[] = "0123456789ABCDEF";
	static const char unreserved[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
		"0123456789-._~";

	for (size_t i = 0; i < text.len; i++) {
		unsigned char c = (unsigned char)text.ptr[i];
		const char escaped[3] = { '%', hex[c >> 4], hex[c & 15] };

		if (c != 0 && strchr(unreserved, c) != NULL)
			um_buf_put(out, &text.ptr[i], 1);
		else
			um_buf_put(out, escaped, sizeof(escaped));
	}
}

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
	um_html_txt(body, um_str(title));
	um_buf_puts(body, "</title>\n<style>" STYLE "</style>\n");
	um_buf_puts(body, head);
	um_buf_puts(body, "</head>\n<body>\n<main>\n<h1>");
	um_html_txt(body, um_str(title));
	um_buf_puts(body, "</h1>\n");
}

static void
page_end(struct um_response *response)
{
	um_buf_puts(&response->body, "</main>\n</body>\n</html>\n");
}

const char *
um_final_page_code(enum um_final_page ending)
{
	return endings[ending].code;
}

enum um_final_page
um_final_page_of(const char *action, const char *reason)
{
	if (action != NULL && strcmp(action, "accept") == 0)
		return UM_FINAL_PAGE_DONE;
	if (action != NULL && strcmp(action, "decline") == 0)
		return UM_FINAL_PAGE_DECLINED;
	if (reason != NULL && strcmp(reason, "expired") == 0)
		return UM_FINAL_PAGE_EXPIRED;
	if (reason != NULL && strcmp(reason, "amount_mismatch") == 0)
		return UM_FINAL_PAGE_MISMATCH;
	return UM_FINAL_PAGE_FAILED;
}

void
um_page_final(struct um_response *response, enum um_final_page ending)
{
	page_begin(response, 200, POLICY "; form-action 'none'", "",
		endings[ending].title);
	um_buf_puts(&response->body, "<p>");
	um_html_txt(&response->body, um_str(endings[ending].text));
	um_buf_puts(&response->body, "</p>\n");
	page_end(response);
}

void
um_page_redirect_to_done(struct um_response *response,
	enum um_final_page ending)
{
	um_response_cookie(response, UM_FINAL_PAGE_COOKIE,
		um_final_page_code(ending), UM_FINAL_PAGE_MAX_AGE);
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
					: "This cannot go on");
	um_buf_puts(body, "<p>");
	um_html_txt(body, um_str(um_refusal_advice(refusal)));
	um_buf_puts(body, "</p>\n<footer>Reason: <code>");
	um_html_txt(body, um_str(um_refusal_code(refusal)));
	um_buf_puts(body, "</code><br>Request: <code>");
	um_html_txt(body, um_str(request->id));
	um_buf_puts(body, "</code></footer>\n");
	page_end(response);
}

void
um_page_follow(struct um_response *response)
{
	page_begin(response, 200,
		POLICY "; form-action 'none'; "
		       "script-src '" SCRIPT_HASH "'; connect-src 'self'",
		"<noscript><meta http-equiv=\"refresh\" "
		"content=\"5\"></noscript>\n",
		"Waiting for the confirmation");
	um_buf_puts(&response->body,
		"<p role=\"status\">The provider will confirm it in a moment. "
		"This page goes on by itself.</p>\n"
		"<script>" SCRIPT "</script>\n");
	page_end(response);
}

void
um_page_confirm(struct um_response *response, const struct um_confirm *confirm)
{
	struct um_buf *body = &response->body;

	/*
	 * No form-action here: browsers hold it against every redirect that
	 * follows the form, and the provider's own are not ours to know.
	 */
	page_begin(response, 200, POLICY, "", "Do you want to go on?");
	um_buf_puts(body, "<p><strong><bdi>");
	um_html_txt(body, confirm->requester);
	um_buf_puts(body, "</bdi></strong> asks to send you to <strong><bdi>");
	um_html_txt(body, confirm->display_name);
	um_buf_puts(body,
		"</bdi></strong>. Go on only if you started this yourself just "
		"now.</p>\n"
		"<dl>\n<dt>Asked by</dt><dd>");
	um_html_txt(body, confirm->requester);
	um_buf_puts(body, "</dd>\n<dt>On behalf of</dt><dd>");
	um_html_txt(body, confirm->subject);
	um_buf_puts(body, "</dd>\n<dt>Goes to</dt><dd>");
	um_html_txt(body, confirm->display_name);
	um_buf_puts(body,
		"</dd>\n</dl>\n<form method=\"post\" action=\"/connect/");
	um_html_attr(body, confirm->provider);
	um_buf_puts(body,
		"\">\n<input type=\"hidden\" name=\"state\" value=\"");
	um_html_attr(body, confirm->state);
	um_buf_puts(body,
		"\">\n"
		"<button name=\"answer\" value=\"continue\">Continue</button>\n"
		"<button name=\"answer\" value=\"refuse\">Refuse</button>\n"
		"</form>\n");
	page_end(response);
}
