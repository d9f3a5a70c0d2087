/* SPDX-License-Identifier: MIT */
#include "console/view.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "console/session.h"
#include "console/style.h"
#include "core/timestamp.h"
#include "core/uuid.h"
#include "http/escape.h"
#include "webhook/amount.h"

static void
put_policy(struct um_response *response, const struct um_config *config)
{
	const struct um_brand *brand = &config->brand;
	struct um_buf policy = { 0 };

	um_buf_puts(&policy,
		"default-src 'none'; style-src '" UM_CONSOLE_STYLE_HASH "'");
	if (brand->style != NULL)
		um_buf_cat(&policy, " '", brand->style_hash, "'");
	if (brand->logo_url != NULL)
		um_buf_puts(&policy, "; img-src 'self'");
	/*
	 * Browsers apply form-action to every redirect that follows a form, and
	 * where users sign in at a provider, a search may lead there.
	 */
	if (config->user_check != UM_USER_OPENID)
		um_buf_puts(&policy, "; form-action 'self'");
	um_buf_puts(&policy, "; frame-ancestors 'none'; base-uri 'none'");
	response->headers.failed |= policy.failed;
	um_response_header(response, "Content-Security-Policy",
		um_buf_str(&policy));
	um_buf_free(&policy);
}

static void
put_link(const struct um_view *view, const char *address, enum um_text text,
	bool is_current)
{
	um_buf_cat(view->body, "<a href=\"", address, "\"",
		is_current ? " aria-current=\"page\">" : ">");
	um_view_say(view, text);
	um_buf_puts(view->body, "</a>\n");
}

static void
put_header(const struct um_view *view, const struct um_brand *brand,
	struct um_view_head head)
{
	struct um_buf *body = view->body;

	um_buf_puts(body, "<header>\n<strong>");
	if (brand->name != NULL)
		um_escape_html_text(body, um_str(brand->name));
	else
		um_view_say(view, UM_TEXT_CONSOLE_TITLE);
	um_buf_puts(body, "</strong>\n<nav aria-label=\"");
	um_view_say(view, UM_TEXT_CONSOLE_TITLE);
	um_buf_puts(body, "\">\n");
	put_link(view, UM_CONSOLE_ROUTE, UM_TEXT_CONSOLE_OVERVIEW,
		head.part == UM_CONSOLE_OVERVIEW);
	put_link(view, UM_CONSOLE_ROUTE "list?what=unclaimed",
		UM_TEXT_CONSOLE_LISTS, head.part == UM_CONSOLE_LISTS);
	put_link(view, UM_CONSOLE_ROUTE "provider", UM_TEXT_CONSOLE_PROVIDERS,
		head.part == UM_CONSOLE_PROVIDERS);
	um_buf_puts(body,
		"</nav>\n<form role=\"search\" action=\"" UM_CONSOLE_ROUTE
		"search\">\n<label class=\"hidden\" for=\"q\">");
	um_view_say(view, UM_TEXT_CONSOLE_SEARCH);
	um_buf_puts(body,
		"</label>\n<input type=\"search\" id=\"q\" name=\"q\" "
		"autocomplete=\"off\" maxlength=\"800\" value=\"");
	um_escape_html_attr(body,
		head.search.len <= 800 ? head.search : um_str(""));
	um_buf_puts(body, "\">\n<button>");
	um_view_say(view, UM_TEXT_CONSOLE_SEARCH);
	um_buf_puts(body, "</button>\n</form>\n</header>\n");
}

struct um_view
um_view_begin(const struct um_context *context, struct um_exchange *ex,
	struct um_view_head head)
{
	const struct um_request *request = &ex->request;
	const struct um_brand *brand = &context->config->brand;
	struct um_view view = { .body = &ex->response.body,
		.language = um_language_of(
			um_str(request->get("HTTP_ACCEPT_LANGUAGE",
				request->get_arg))),
		.now_ms = context->now_ms };

	ex->answer = UM_ANSWER_WRITTEN;
	ex->response.status = head.status;
	put_policy(&ex->response, context->config);
	um_buf_cat(view.body, "<!doctype html>\n<html lang=\"",
		um_text(view.language, UM_TEXT_LANG), "\" dir=\"",
		um_text(view.language, UM_TEXT_DIR), "\">\n");
	um_buf_puts(view.body,
		"<head>\n<meta charset=\"utf-8\">\n"
		"<meta name=\"viewport\" content=\"width=device-width, "
		"initial-scale=1\">\n<title>");
	um_view_say(&view, head.title);
	um_buf_puts(view.body, " \xe2\x80\x93 ");
	um_view_say(&view, UM_TEXT_CONSOLE_TITLE);
	um_buf_puts(view.body, "</title>\n<style>" UM_STYLE_BOTH);
	um_buf_puts(view.body, UM_CONSOLE_STYLE);
	um_buf_puts(view.body, UM_CONSOLE_STYLE_MORE);
	um_buf_puts(view.body, UM_CONSOLE_STYLE_FORCED "</style>\n");
	if (brand->style != NULL)
		um_buf_cat(view.body, "<style>", brand->style, "</style>\n");
	um_buf_puts(view.body,
		"</head>\n<body>\n<a class=\"skip\" href=\"#main\">");
	um_view_say(&view, UM_TEXT_CONSOLE_SKIP);
	um_buf_puts(view.body, "</a>\n");
	put_header(&view, brand, head);
	um_buf_puts(view.body, "<main id=\"main\" tabindex=\"-1\">\n<h1>");
	um_view_say(&view, head.title);
	um_buf_puts(view.body, "</h1>\n");
	return view;
}

void
um_view_end(const struct um_view *view, struct um_exchange *ex)
{
	um_buf_puts(view->body, "</main>\n<footer>");
	um_text_put(view->body, view->language, UM_TEXT_SIGNED_IN_AS,
		(const struct um_text_value[]){
			{ "user", um_exchange_user_name(ex) }, { 0 } },
		"<strong><bdi>", "</bdi></strong>");
	um_buf_puts(view->body, "</footer>\n</body>\n</html>\n");
}

void
um_view_say(const struct um_view *view, enum um_text text)
{
	um_text_put(view->body, view->language, text, NULL, "", "");
}

void
um_view_paragraph(const struct um_view *view, const char *class,
	enum um_text text)
{
	if (class[0] != '\0')
		um_buf_cat(view->body, "<p class=\"", class, "\">");
	else
		um_buf_puts(view->body, "<p>");
	um_view_say(view, text);
	um_buf_puts(view->body, "</p>\n");
}

void
um_view_heading(const struct um_view *view, const char *id, enum um_text text)
{
	um_buf_cat(view->body, "<h2 id=\"", id, "\">");
	um_view_say(view, text);
	um_buf_puts(view->body, "</h2>\n");
}

/* Bytes of the first character; of what is no UTF-8, one. */
static size_t
char_len(struct um_str text)
{
	unsigned char c = (unsigned char)text.ptr[0];
	size_t len = c < 0xc0 ? 1 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;

	return len <= text.len ? len : 1;
}

void
um_view_put(const struct um_view *view, struct um_str text, size_t max)
{
	size_t from = view->body->len;

	um_buf_puts(view->body, "<bdi>");
	while (text.len != 0 && !view->body->failed) {
		size_t len = char_len(text);

		if (view->body->len - from >= max) {
			um_buf_puts(view->body, "\xe2\x80\xa6");
			break;
		}
		um_escape_html_text(view->body,
			(struct um_str){ text.ptr, len });
		text.ptr += len;
		text.len -= len;
	}
	um_buf_puts(view->body, "</bdi>");
}

void
um_view_code(const struct um_view *view, struct um_str text)
{
	if (text.len == 0)
		return;
	um_buf_puts(view->body, "<code>");
	um_view_put(view, text, UM_CONSOLE_CELL);
	um_buf_puts(view->body, "</code>");
}

void
um_view_time(const struct um_view *view, int64_t ms)
{
	time_t seconds = (time_t)(ms / 1000);
	char machine[32], person[32];
	struct tm tm;

	gmtime_r(&seconds, &tm);
	strftime(machine, sizeof(machine), "%Y-%m-%dT%H:%M:%SZ", &tm);
	strftime(person, sizeof(person), "%Y-%m-%d %H:%M", &tm);
	um_buf_cat(view->body, "<time datetime=\"", machine, "\">", person,
		"</time>");
}

void
um_view_age(const struct um_view *view, int64_t ms)
{
	int64_t minutes = (view->now_ms - ms) / 60000;
	enum um_text unit = UM_TEXT_CONSOLE_MINUTES;
	char count[24];

	if (minutes < 0)
		minutes = 0;
	if (minutes >= INT64_C(2880)) {
		unit = UM_TEXT_CONSOLE_DAYS;
		minutes /= 1440;
	} else if (minutes >= 120) {
		unit = UM_TEXT_CONSOLE_HOURS;
		minutes /= 60;
	}
	snprintf(count, sizeof(count), "%" PRId64, minutes);
	um_text_put(view->body, view->language, unit,
		(const struct um_text_value[]){ { "count", um_str(count) },
			{ 0 } },
		"", "");
}

void
um_view_amount(const struct um_view *view, int64_t amount,
	struct um_str currency)
{
	char code[4];

	um_buf_puts(view->body, "<bdi>");
	if (amount >= 0 && um_amount_parse_currency(code, currency)) {
		char text[UM_AMOUNT_LEN + 1];

		um_amount_format(text, amount, code);
		um_text_put_amount(view->body, view->language, um_str(text),
			um_str(code));
	} else {
		um_buf_int(view->body, amount);
	}
	um_buf_puts(view->body, "</bdi>");
}

void
um_view_id(const struct um_view *view, struct um_str id)
{
	uint8_t bytes[UM_UUID_LEN];
	char text[UM_UUID_TEXT_LEN + 1];

	if (!um_uuid_parse(bytes, id))
		return;
	um_uuid_format(text, bytes);
	um_buf_cat(view->body, "<a href=\"", UM_CONSOLE_ROUTE,
		"elicitation?id=", text, "\"><code>", text, "</code></a>");
}

void
um_view_provider(const struct um_view *view, struct um_str name)
{
	if (name.len == 0)
		return;
	um_buf_puts(view->body, "<a href=\"" UM_CONSOLE_ROUTE "provider?name=");
	um_escape_url_arg(view->body, name);
	um_buf_puts(view->body, "\">");
	um_view_put(view, name, UM_CONSOLE_CELL);
	um_buf_puts(view->body, "</a>");
}

void
um_view_table(const struct um_view *view, enum um_text name, enum um_text more)
{
	um_buf_puts(view->body,
		"<div class=\"table\" role=\"region\" tabindex=\"0\" "
		"aria-label=\"");
	um_view_say(view, name);
	if (more != UM_TEXT_COUNT) {
		um_buf_puts(view->body, ": ");
		um_view_say(view, more);
	}
	um_buf_puts(view->body, "\">\n<table>\n<thead><tr>");
}

void
um_view_column(const struct um_view *view, enum um_text title, bool is_number)
{
	um_buf_puts(view->body,
		is_number ? "<th class=\"n\" scope=\"col\">"
			  : "<th scope=\"col\">");
	um_view_say(view, title);
	um_buf_puts(view->body, "</th>");
}

void
um_view_table_body(const struct um_view *view)
{
	um_buf_puts(view->body, "</tr></thead>\n<tbody>\n");
}

void
um_view_table_end(const struct um_view *view)
{
	um_buf_puts(view->body, "</tbody>\n</table>\n</div>\n");
}

void
um_view_row(const struct um_view *view, enum um_text name)
{
	um_buf_puts(view->body, "<dt>");
	um_view_say(view, name);
	um_buf_puts(view->body, "</dt><dd>");
}

void
um_view_row_end(const struct um_view *view)
{
	um_buf_puts(view->body, "</dd>\n");
}

void
um_view_text_row(const struct um_view *view, enum um_text name,
	struct um_str text)
{
	if (text.len == 0)
		return;
	um_view_row(view, name);
	um_view_put(view, text, UM_CONSOLE_LINE);
	um_view_row_end(view);
}

void
um_view_amount_row(const struct um_view *view, enum um_text name,
	const json_t *row, const char *key)
{
	um_view_row(view, name);
	um_view_amount(view, um_row_int(row, key),
		um_row_text(row, "currency"));
	um_view_row_end(view);
}

struct um_str
um_row_text(const json_t *row, const char *key)
{
	const json_t *value = json_object_get(row, key);

	return (struct um_str){ json_string_value(value),
		json_string_length(value) };
}

int64_t
um_row_int(const json_t *row, const char *key)
{
	return json_integer_value(json_object_get(row, key));
}

bool
um_row_is(const json_t *row, const char *key)
{
	return json_is_true(json_object_get(row, key));
}

bool
um_row_time(const json_t *row, const char *key, int64_t *ms)
{
	return um_timestamp_parse(ms, um_row_text(row, key),
		UM_TIMESTAMP_RFC3339);
}
