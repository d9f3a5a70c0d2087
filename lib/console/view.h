/* SPDX-License-Identifier: MIT */
/*
 * The pages of the console, and what they are made of. What a provider, a payer or an
 * MCP server wrote is text on them: never markup, a link or a formula. A long text is
 * cut, so that a page stays under 40 KB.
 */
#ifndef UM_CONSOLE_VIEW_H
#define UM_CONSOLE_VIEW_H

#include <jansson.h>

#include "app/exchange.h"
#include "http/text.h"

/* Bytes of HTML of a text, at most: in a table, and where there is more room. */
#define UM_CONSOLE_CELL 150
#define UM_CONSOLE_LINE 900

/* The part of the console that a page belongs to. */
enum um_console_part {
	UM_CONSOLE_OVERVIEW,
	UM_CONSOLE_LISTS,
	UM_CONSOLE_PROVIDERS,
	UM_CONSOLE_NO_PART,
};

struct um_view {
	struct um_buf *body;
	enum um_language language;
	int64_t now_ms;
};

struct um_view_head {
	int status;
	enum um_text title;
	enum um_console_part part;
	struct um_str search; /* what was searched for, or nothing */
};

/* Fills the response of the exchange from the doctype to the heading. */
struct um_view um_view_begin(const struct um_context *context,
	struct um_exchange *ex, struct um_view_head head);
void um_view_end(const struct um_view *view, struct um_exchange *ex);

/* A text of the pages. */
void um_view_say(const struct um_view *view, enum um_text text);
/* A paragraph of this class, or "". */
void um_view_paragraph(const struct um_view *view, const char *class,
	enum um_text text);
/* A heading, with an id for what it names. */
void um_view_heading(const struct um_view *view, const char *id,
	enum um_text text);

/* Text from outside, of at most `max` bytes of HTML. */
void um_view_put(const struct um_view *view, struct um_str text, size_t max);
/* A code of ours or of a provider; nothing for no text. */
void um_view_code(const struct um_view *view, struct um_str text);
/* "2026-11-29 04:31", of Unix milliseconds. */
void um_view_time(const struct um_view *view, int64_t ms);
/* How long ago: "3 h". */
void um_view_age(const struct um_view *view, int64_t ms);
void um_view_amount(const struct um_view *view, int64_t amount,
	struct um_str currency);
/* A link to an elicitation; `text` NULL: its id. Nothing for what is no id. */
void um_view_id(const struct um_view *view, struct um_str id);
/* A link to a provider's page. */
void um_view_provider(const struct um_view *view, struct um_str name);

/*
 * A table: its name for who cannot see it, of two texts where it is not the only one of
 * its section (UM_TEXT_COUNT: of one); then its columns, and its body with the rows.
 */
void um_view_table(const struct um_view *view, enum um_text name,
	enum um_text more);
void um_view_column(const struct um_view *view, enum um_text title,
	bool is_number);
void um_view_table_body(const struct um_view *view);
void um_view_table_end(const struct um_view *view);

/* The name of a row of a <dl>; the value follows, and um_view_row_end(). */
void um_view_row(const struct um_view *view, enum um_text name);
void um_view_row_end(const struct um_view *view);
/* A row of it; nothing for no text. */
void um_view_text_row(const struct um_view *view, enum um_text name,
	struct um_str text);
/* Of a row of the database, an amount in its currency. */
void um_view_amount_row(const struct um_view *view, enum um_text name,
	const json_t *row, const char *key);

/* Members of a row that the database has returned. Nothing for null. */
struct um_str um_row_text(const json_t *row, const char *key);
int64_t um_row_int(const json_t *row, const char *key);
bool um_row_is(const json_t *row, const char *key);
/* A time as Unix milliseconds. False: there is none. */
bool um_row_time(const json_t *row, const char *key, int64_t *ms);

#endif
