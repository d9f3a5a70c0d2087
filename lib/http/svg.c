/* SPDX-License-Identifier: MIT */
#include "http/svg.h"

#include <ctype.h>

#define DEPTH_MAX 32

static const char *const elements[] = { "circle", "clipPath", "defs", "ellipse",
	"g", "line", "linearGradient", "path", "polygon", "polyline",
	"radialGradient", "rect", "stop", "svg", NULL };

static const char *const attributes[] = { "clip-path", "clip-rule",
	"clipPathUnits", "cx", "cy", "d", "fill", "fill-opacity", "fill-rule",
	"fx", "fy", "gradientTransform", "gradientUnits", "height", "id",
	"offset", "opacity", "points", "preserveAspectRatio", "r", "rx", "ry",
	"spreadMethod", "stop-color", "stop-opacity", "stroke",
	"stroke-dasharray", "stroke-dashoffset", "stroke-linecap",
	"stroke-linejoin", "stroke-miterlimit", "stroke-opacity",
	"stroke-width", "transform", "version", "viewBox", "width", "x", "x1",
	"x2", "y", "y1", "y2", NULL };

struct reader {
	struct um_str rest;
	struct um_buf *out;
	struct um_error *err;
	struct um_str open[DEPTH_MAX];
	size_t depth;
};

static bool
is_in(struct um_str name, const char *const *names)
{
	while (*names != NULL && !um_str_is(name, *names))
		names++;
	return *names != NULL;
}

static bool
starts(const struct reader *r, const char *text)
{
	size_t len = strlen(text);

	return r->rest.len >= len && memcmp(r->rest.ptr, text, len) == 0;
}

static void
skip(struct reader *r, size_t len)
{
	r->rest.ptr += len;
	r->rest.len -= len;
}

static void
skip_space(struct reader *r)
{
	while (r->rest.len != 0 && isspace((unsigned char)*r->rest.ptr))
		skip(r, 1);
}

static bool
refuse_malformed(struct reader *r)
{
	return um_error(r->err, "is not well-formed");
}

/* Spaces, comments, the XML declaration and a doctype. */
static bool
skip_what_draws_nothing(struct reader *r)
{
	for (;;) {
		skip_space(r);
		if (starts(r, "<!--")) {
			um_str_cut(&r->rest, "-->");
			if (r->rest.ptr == NULL)
				return refuse_malformed(r);
		} else if (r->depth == 0
			&& (starts(r, "<?xml ") || starts(r, "<!DOCTYPE "))) {
			struct um_str skipped = um_str_cut(&r->rest, ">");

			if (r->rest.ptr == NULL
				|| memchr(skipped.ptr, '[', skipped.len)
					!= NULL)
				return refuse_malformed(r);
		} else {
			return true;
		}
	}
}

/* Empty where there is none. */
static struct um_str
read_name(struct reader *r)
{
	struct um_str name = { r->rest.ptr, 0 };

	while (name.len < r->rest.len
		&& (isalnum((unsigned char)name.ptr[name.len])
			|| name.ptr[name.len] == '-'
			|| name.ptr[name.len] == ':'))
		name.len++;
	skip(r, name.len);
	return name;
}

/* A name has only letters, digits, `-` and `:`, so the message can show it. */
static bool
refuse(struct reader *r, const char *what, struct um_str name)
{
	return um_error(r->err, "has the %s `%.*s`, which a logo may not have",
		what, (int)(name.len < 40 ? name.len : 40), name.ptr);
}

/* Numbers, colours, names, and references within the image. */
static bool
is_harmless(struct um_str value)
{
	for (size_t i = 0; i < value.len; i++)
		if (!isalnum((unsigned char)value.ptr[i])
			&& strchr(" \t\r\n.,-+#%()_", value.ptr[i]) == NULL)
			return false;
	while (value.len >= 4) {
		if (strncasecmp(value.ptr, "url(", 4) == 0
			&& (value.len == 4 || value.ptr[4] != '#'))
			return false;
		value.ptr++;
		value.len--;
	}
	return true;
}

static bool
read_attribute(struct reader *r)
{
	struct um_str name = read_name(r);
	struct um_str value;
	char quote[2] = "";

	if (name.len == 0 || !starts(r, "=") || r->rest.len < 2)
		return refuse_malformed(r);
	quote[0] = r->rest.ptr[1];
	if (quote[0] != '"' && quote[0] != '\'')
		return refuse_malformed(r);
	skip(r, 2);
	value = um_str_cut(&r->rest, quote);
	if (r->rest.ptr == NULL)
		return refuse_malformed(r);
	/* HTML knows the name space by itself. */
	if (um_str_is(name, "xmlns")
		&& um_str_is(value, "http://www.w3.org/2000/svg"))
		return true;
	if (!is_in(name, attributes) || !is_harmless(value))
		return refuse(r, "attribute", name);
	um_buf_puts(r->out, " ");
	um_buf_put(r->out, name.ptr, name.len);
	um_buf_puts(r->out, "=\"");
	um_buf_put(r->out, value.ptr, value.len);
	um_buf_puts(r->out, "\"");
	return true;
}

static bool
read_start(struct reader *r)
{
	struct um_str name;

	skip(r, 1);
	name = read_name(r);
	if (!is_in(name, elements) || (r->depth == 0) != um_str_is(name, "svg"))
		return refuse(r, "element", name);
	if (r->depth == DEPTH_MAX)
		return um_error(r->err, "is nested too deeply");
	um_buf_puts(r->out, "<");
	um_buf_put(r->out, name.ptr, name.len);
	for (;;) {
		bool spaced = r->rest.len != 0
			&& isspace((unsigned char)*r->rest.ptr);

		skip_space(r);
		if (starts(r, "/>") || starts(r, ">"))
			break;
		if (!spaced)
			return refuse_malformed(r);
		if (!read_attribute(r))
			return false;
	}
	if (starts(r, "/>")) {
		um_buf_puts(r->out, "/>");
		skip(r, 2);
	} else {
		um_buf_puts(r->out, ">");
		skip(r, 1);
		r->open[r->depth++] = name;
	}
	return true;
}

static bool
read_end(struct reader *r)
{
	struct um_str name;

	skip(r, 2);
	name = read_name(r);
	skip_space(r);
	if (r->depth == 0 || !um_str_eq(name, r->open[r->depth - 1])
		|| !starts(r, ">"))
		return refuse_malformed(r);
	skip(r, 1);
	r->depth--;
	um_buf_puts(r->out, "</");
	um_buf_put(r->out, name.ptr, name.len);
	um_buf_puts(r->out, ">");
	return true;
}

bool
um_svg_put(struct um_buf *out, struct um_str svg, struct um_error *err)
{
	struct reader r = { .rest = svg, .out = out, .err = err };

	if (!um_str_is_text(svg))
		return um_error(err, "is not UTF-8");
	do {
		if (!skip_what_draws_nothing(&r))
			return false;
		if (!starts(&r, "<"))
			return um_error(err, "is not well-formed, or has text");
		if (!(starts(&r, "</") ? read_end(&r) : read_start(&r)))
			return false;
	} while (r.depth != 0);
	if (!skip_what_draws_nothing(&r))
		return false;
	return r.rest.len == 0 || um_error(err, "has more than one element");
}
