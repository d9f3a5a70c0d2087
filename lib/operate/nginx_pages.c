/* SPDX-License-Identifier: MIT */
#include "operate/nginx_pages.h"

#include <stdio.h>

#include "http/layout.h"
#include "http/page.h"
#include "http/text.h"

/* nginx takes no parameter of 4096 bytes or more. */
#define PIECE_MAX 2048

/* Stands for the $ of a variable; any other $ is text. */
#define VAR "\001"

/* The values of $urlmode_error (http.conf), and what each page is. */
static const struct {
	const char *name;
	enum um_text title, text;
	enum um_mark mark;
} errors[] = {
	{ "busy", UM_TEXT_BUSY_TITLE, UM_TEXT_BUSY, UM_MARK_WAIT },
	{ "cookies", UM_TEXT_COOKIES_TITLE, UM_TEXT_COOKIES, UM_MARK_WARNING },
	{ "denied", UM_TEXT_DENIED_TITLE, UM_TEXT_DENIED, UM_MARK_WARNING },
	{ "error", UM_TEXT_ERROR_TITLE, UM_TEXT_ERROR, UM_MARK_FAILED },
	{ "not_accepted", UM_TEXT_NOT_ACCEPTED_TITLE, UM_TEXT_NOT_ACCEPTED,
		UM_MARK_WARNING },
	{ "not_found", UM_TEXT_NOT_FOUND_TITLE, UM_TEXT_NOT_FOUND,
		UM_MARK_WARNING },
	{ "reload", UM_TEXT_RELOAD_TITLE, UM_TEXT_RELOAD, UM_MARK_PENDING },
	{ "sign_in", UM_TEXT_SIGN_IN_TITLE, UM_TEXT_SIGN_IN, UM_MARK_WARNING },
	{ "too_large", UM_TEXT_TOO_LARGE_TITLE, UM_TEXT_TOO_LARGE,
		UM_MARK_WARNING },
	{ "too_many", UM_TEXT_TOO_MANY_TITLE, UM_TEXT_TOO_MANY,
		UM_MARK_PENDING },
};
#define ERRORS_LEN (sizeof(errors) / sizeof(errors[0]))

/* A parameter of nginx in single quotes. */
static void
put_quoted(struct um_buf *out, struct um_str text)
{
	um_buf_puts(out, "'");
	for (size_t i = 0; i < text.len; i++) {
		switch (text.ptr[i]) {
		case '\001': /* VAR */
			um_buf_puts(out, "$");
			break;
		case '$':
			um_buf_puts(out, "&#36;");
			break;
		case '\'':
		case '\\':
			um_buf_puts(out, "\\");
			/* fallthrough */
		default:
			um_buf_put(out, &text.ptr[i], 1);
		}
	}
	um_buf_puts(out, "'");
}

static void
put_entry(struct um_buf *out, const char *key, const struct um_buf *value)
{
	um_buf_cat(out, "\t", key, " ");
	put_quoted(out, um_buf_str(value));
	um_buf_puts(out, ";\n");
	out->failed |= value->failed;
}

/* A variable that is the same for every request. */
static void
put_constant(struct um_buf *out, const char *name, struct um_str value)
{
	um_buf_cat(out, "map $status $", name, " {\n\tdefault ");
	put_quoted(out, value);
	um_buf_puts(out, ";\n}\n");
}

/* The first language of the header that there is; browsers sort them. */
static void
put_language(struct um_buf *out)
{
	struct um_buf known = { 0 };

	for (int i = 0; i < UM_LANGUAGE_COUNT; i++)
		um_buf_cat(&known, i != 0 ? "|" : "",
			um_language_code((enum um_language)i));
	um_buf_put(&known, "", 1);
	if (!known.failed)
		um_buf_cat(out,
			"map $http_accept_language $urlmode_language {\n"
			"\t\"~*^(?:(?!(?:",
			known.ptr,
			")(?:[-;,\\s]|$))[^,]*+,\\s*+)*+(?<urlmode_wanted>",
			known.ptr,
			")(?:[-;,\\s]|$)\" $urlmode_wanted;\n"
			"\tdefault en;\n}\n");
	out->failed |= known.failed;
	um_buf_free(&known);
}

/* A map of the languages to one of their texts, as it is. */
static void
put_by_language(struct um_buf *out, const char *name, enum um_text text)
{
	um_buf_cat(out, "map $urlmode_language $", name, " {\n");
	for (int i = 0; i < UM_LANGUAGE_COUNT; i++)
		um_buf_cat(out, "\t", um_language_code((enum um_language)i),
			" ", um_text((enum um_language)i, text), ";\n");
	um_buf_puts(out, "}\n");
}

static void
put_footers(struct um_buf *out)
{
	um_buf_puts(out, "map $urlmode_language $urlmode_error_footer {\n");
	for (int i = 0; i < UM_LANGUAGE_COUNT; i++) {
		enum um_language language = (enum um_language)i;
		struct um_buf footer = { 0 };

		um_page_put_reason(&footer, language,
			VAR "urlmode_error_reason", VAR "request_id");
		put_entry(out, um_language_code(language), &footer);
		um_buf_free(&footer);
	}
	um_buf_puts(out, "}\n");
}

/* A map of each language and error to the title, or to what to do now. */
static void
put_texts(struct um_buf *out, const char *name, bool is_title)
{
	um_buf_cat(out, "map $urlmode_language:$urlmode_error $", name, " {\n");
	for (size_t i = 0; i < UM_LANGUAGE_COUNT * ERRORS_LEN; i++) {
		enum um_language language = (enum um_language)(i / ERRORS_LEN);
		size_t e = i % ERRORS_LEN;
		struct um_buf key = { 0 }, text = { 0 };

		um_buf_cat(&key, um_language_code(language), ":",
			errors[e].name);
		um_buf_put(&key, "", 1);
		um_text_put(&text, language,
			is_title ? errors[e].title : errors[e].text,
			(const struct um_text_value[]){
				{ "seconds", um_str(UM_RETRY_AFTER) },
				{ 0 },
			},
			"", "");
		put_entry(out, key.failed ? "" : key.ptr, &text);
		out->failed |= key.failed;
		um_buf_free(&key);
		um_buf_free(&text);
	}
	um_buf_puts(out, "}\n");
}

static void
put_marks(struct um_buf *out)
{
	um_buf_puts(out, "map $urlmode_error $urlmode_error_mark {\n");
	for (size_t e = 0; e < ERRORS_LEN; e++) {
		um_buf_cat(out, "\t", errors[e].name, " ");
		put_quoted(out, um_str(um_layout_mark(errors[e].mark)));
		um_buf_puts(out, ";\n");
	}
	um_buf_puts(out, "}\n");
}

/* As many bytes as nginx takes, up to where an element or a rule ends. */
static size_t
piece_len(struct um_str text)
{
	size_t len = PIECE_MAX;

	if (text.len <= len)
		return text.len;
	while (len > 1 && strchr("}> \n", text.ptr[len - 1]) == NULL)
		len--;
	return len;
}

/* The page in pieces, and the variable that joins them. */
static void
put_page(struct um_buf *out, struct um_str page)
{
	struct um_buf joined = { 0 };

	for (int n = 1; page.len != 0; n++) {
		struct um_str piece = { page.ptr, piece_len(page) };
		char name[32];

		snprintf(name, sizeof(name), "urlmode_page_%d", n);
		put_constant(out, name, piece);
		um_buf_cat(&joined, VAR, name);
		page.ptr += piece.len;
		page.len -= piece.len;
	}
	put_constant(out, "urlmode_error_page", um_buf_str(&joined));
	out->failed |= joined.failed;
	um_buf_free(&joined);
}

void
um_nginx_pages_put(struct um_buf *out, const struct um_brand *brand)
{
	struct um_buf policy = { 0 }, page = { 0 };

	um_buf_puts(out,
		"# For the level `http`: what nginx's own pages say and look "
		"like. "
		"Made by\n# `urlmode pages` of the configuration and the "
		"texts of the programs.\n\n");
	put_language(out);
	put_by_language(out, "urlmode_lang", UM_TEXT_LANG);
	put_by_language(out, "urlmode_dir", UM_TEXT_DIR);
	put_texts(out, "urlmode_error_title", true);
	put_texts(out, "urlmode_error_text", false);
	put_footers(out);
	put_marks(out);
	um_layout_policy(&policy, brand, "; form-action 'none'");
	put_constant(out, "urlmode_error_policy", um_buf_str(&policy));
	um_layout_begin(&page,
		&(struct um_layout){
			.brand = brand,
			.lang = VAR "urlmode_lang",
			.dir = VAR "urlmode_dir",
			.title = VAR "urlmode_error_title",
			.head = "",
			.mark = VAR "urlmode_error_mark",
		});
	um_buf_puts(&page, "<p>" VAR "urlmode_error_text</p>\n");
	um_layout_end(&page, VAR "urlmode_error_footer");
	put_page(out, um_buf_str(&page));
	out->failed |= policy.failed || page.failed;
	um_buf_free(&policy);
	um_buf_free(&page);
}
