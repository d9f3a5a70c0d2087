/* SPDX-License-Identifier: MIT */
#include "operate/readings.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#define BYTE_ORDER_MARK "\xef\xbb\xbf"

/* Writes the body again; false where this reading is not one of it. */
typedef bool rewrite(struct um_buf *out, struct um_str body);

static bool
without_end(struct um_buf *out, struct um_str body)
{
	while (body.len != 0
		&& (body.ptr[body.len - 1] == '\n'
			|| body.ptr[body.len - 1] == '\r'))
		body.len--;
	um_buf_put(out, body.ptr, body.len);
	return true;
}

static bool
with_end(struct um_buf *out, struct um_str body)
{
	um_buf_put(out, body.ptr, body.len);
	um_buf_puts(out, "\n");
	return true;
}

static bool
without_returns(struct um_buf *out, struct um_str body)
{
	for (size_t i = 0; i < body.len; i++)
		if (body.ptr[i] != '\r')
			um_buf_put(out, body.ptr + i, 1);
	return true;
}

static bool
with_returns(struct um_buf *out, struct um_str body)
{
	for (size_t i = 0; i < body.len; i++) {
		if (body.ptr[i] == '\n')
			um_buf_puts(out, "\r");
		um_buf_put(out, body.ptr + i, 1);
	}
	return true;
}

static bool
without_mark(struct um_buf *out, struct um_str body)
{
	if (!um_str_take_prefix(&body, BYTE_ORDER_MARK))
		return false;
	um_buf_put(out, body.ptr, body.len);
	return true;
}

/* ISO 8859-1 to UTF-8. */
static bool
as_utf8(struct um_buf *out, struct um_str body)
{
	if (um_str_is_text(body))
		return false;
	for (size_t i = 0; i < body.len; i++) {
		unsigned char c = (unsigned char)body.ptr[i];
		const char two[2] = { (char)(0xc0 | c >> 6),
			(char)(0x80 | (c & 0x3f)) };

		if (c < 0x80)
			um_buf_put(out, body.ptr + i, 1);
		else
			um_buf_put(out, two, sizeof(two));
	}
	return true;
}

/* Most libraries write the digits of an escape in lower case. */
static void
lower_escapes(char *text)
{
	for (char *c = text; (c = strchr(c, '\\')) != NULL; c += 2)
		for (size_t i = 2; c[1] == 'u' && i < 6; i++)
			c[i] = (char)tolower((unsigned char)c[i]);
}

static bool
as_json(struct um_buf *out, struct um_str body, size_t flags)
{
	json_t *json = json_loadb(body.ptr, body.len, 0, NULL);
	char *text = json_dumps(json, flags);
	bool ok = text != NULL;

	if (ok)
		lower_escapes(text);
	um_buf_puts(out, ok ? text : "");
	json_decref(json);
	free(text);
	return ok;
}

static const struct {
	const char *name;
	rewrite *rewrite; /* or NULL: as JSON, with these flags of jansson */
	size_t flags;
} rewrites[] = {
	{ "without the line end at its end", without_end, 0 },
	{ "with a line end at its end", with_end, 0 },
	{ "without carriage returns", without_returns, 0 },
	{ "with a carriage return before each line end", with_returns, 0 },
	{ "without the byte order mark at its beginning", without_mark, 0 },
	{ "in UTF-8, where the file is in Latin-1", as_utf8, 0 },
	{ "as JSON without blanks and line ends", NULL, JSON_COMPACT },
	{ "as JSON without blanks, with \\/ for each slash", NULL,
		JSON_COMPACT | JSON_ESCAPE_SLASH },
	{ "as JSON without blanks, with \\u for what is not ASCII", NULL,
		JSON_COMPACT | JSON_ENSURE_ASCII },
	{ "as JSON without blanks, with \\/ and \\u", NULL,
		JSON_COMPACT | JSON_ENSURE_ASCII | JSON_ESCAPE_SLASH },
	{ "as JSON with a blank after each comma and colon", NULL, 0 },
	{ "as JSON with such blanks, and \\u for what is not ASCII", NULL,
		JSON_ENSURE_ASCII },
};

static size_t
first_difference(struct um_str a, struct um_str b)
{
	size_t i = 0;

	while (i < a.len && i < b.len && a.ptr[i] == b.ptr[i])
		i++;
	return i;
}

static bool
is_signed(const struct um_spec_part *part, const struct um_delivery *delivery)
{
	struct um_event *events = calloc(UM_EVENTS_MAX, sizeof(events[0]));
	enum um_verdict verdict = UM_DELIVERY_FORGED;
	size_t len;

	if (events != NULL)
		verdict = um_spec_read(part, delivery, events, &len);
	free(events);
	return verdict == UM_DELIVERY_GOOD || verdict == UM_DELIVERY_STALE
		|| verdict == UM_DELIVERY_MALFORMED;
}

/* The first that is right: what comes later is more of a change. */
static void
put_bodies(const struct um_spec_part *part, const struct um_delivery *delivery,
	struct um_buf *out)
{
	bool found = false;

	for (size_t i = 0; i < sizeof(rewrites) / sizeof(rewrites[0]) && !found;
		i++) {
		struct um_delivery other = *delivery;
		struct um_buf body = { 0 };
		bool ok = rewrites[i].rewrite != NULL
			? rewrites[i].rewrite(&body, delivery->body)
			: as_json(&body, delivery->body, rewrites[i].flags);

		other.body = um_buf_str(&body);
		found = ok && !um_str_eq(other.body, delivery->body)
			&& is_signed(part, &other);
		if (found)
			um_buf_printf(out,
				"!! The signature is right for the body %s: "
				"the file differs from what was signed, first "
				"at byte %zu of the body.\n",
				rewrites[i].name,
				first_difference(delivery->body, other.body));
		um_buf_free(&body);
	}
}

/* The address with a slash at its end, or without the one that it has. */
static char *
with_other_slash(const char *text)
{
	size_t len = strlen(text);
	char *other;

	if (strncmp(text, "http://", 7) != 0
		&& strncmp(text, "https://", 8) != 0)
		return NULL;
	other = calloc(len + 2, 1);
	if (other == NULL)
		return NULL;
	memcpy(other, text, len);
	other[text[len - 1] == '/' ? len - 1 : len] = text[len - 1] == '/'
		? '\0'
		: '/';
	return other;
}

static void
put_address(struct um_spec_part *part, struct um_expr *literal,
	const struct um_delivery *delivery, struct um_buf *out)
{
	char *text = literal->text, *other = with_other_slash(text);

	if (other == NULL)
		return;
	literal->text = other;
	if (is_signed(part, delivery))
		um_buf_cat(out, "!! The signature is right for the address ",
			other,
			", which the provider has: the constant here is ", text,
			".\n");
	literal->text = text;
	free(other);
}

void
um_readings_put(struct um_spec_part *part, const struct um_delivery *delivery,
	struct um_buf *out)
{
	put_bodies(part, delivery, out);
	for (size_t i = 0; i < part->schemes_len; i++)
		for (size_t j = 0; j < part->schemes[i].parts_len; j++)
			if (part->schemes[i].parts[j].kind == UM_EXPR_LITERAL)
				put_address(part, &part->schemes[i].parts[j],
					delivery, out);
}
