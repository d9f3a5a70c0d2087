/* SPDX-License-Identifier: MIT */
#include "http/layout.h"

#include "http/escape.h"
#include "http/style.h"

#define MARK(kind, path)                                                       \
	"<svg class=\"mark" kind "\" viewBox=\"0 0 24 24\" "                   \
	"aria-hidden=\"true\"><path d=\"" path "\"/></svg>"

const char *
um_layout_mark(enum um_mark mark)
{
	static const char *const marks[] = {
		[UM_MARK_KEY] = MARK("",
			"M12 16a4 4 0 1 1-8 0 4 4 0 0 1 8 0M10.8 13.2 "
			"20 4M16 8l3 3"),
		[UM_MARK_CARD] = MARK("", "M3 6h18v12H3zM3 10.5h18M6.5 14.5h3"),
		[UM_MARK_PEN] = MARK("",
			"m4 20 1-4.5L16 4.5 19.5 8l-11 11zM13.5 7l3.5 3.5"),
		[UM_MARK_FORM] = MARK("",
			"M5.5 3.5H14l4.5 4.5v12.5h-13zM9 12.5h6M9 16.5h6"),
		[UM_MARK_SEAL] = MARK("",
			"M17.5 9a5.5 5.5 0 1 1-11 0 5.5 5.5 0 0 1 11 0M8.5 "
			"13.5 7 21l5-2.5 5 2.5-1.5-7.5"),
		[UM_MARK_GOOD] = MARK(" good", "m5 12.5 4.5 4.5L19 7.5"),
		[UM_MARK_DECLINED] = MARK(" declined", "m7 7 10 10M17 7 7 17"),
		[UM_MARK_WAIT] = MARK(" wait", "M12 4a8 8 0 1 0 8 8"),
		[UM_MARK_PENDING] = MARK("",
			"M12 7v5l3.5 2M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18"),
		[UM_MARK_WARNING] = MARK(" warning", "M12 5v9M12 18.5v.5"),
		[UM_MARK_FAILED] = MARK(" failed", "M12 5v9M12 18.5v.5"),
	};

	return marks[mark];
}

static void
put_site(struct um_buf *out, const struct um_brand *brand)
{
	um_buf_puts(out, "<header>");
	if (brand->logo_url != NULL) {
		um_buf_puts(out, "<img src=\"");
		um_escape_html_attr(out, um_str(brand->logo_url));
		um_buf_puts(out, "\" alt=\"");
		um_escape_html_attr(out, um_str(brand->name));
		um_buf_puts(out, "\">");
	} else {
		um_escape_html_text(out, um_str(brand->name));
	}
	um_buf_puts(out, "</header>\n");
}

void
um_layout_begin(struct um_buf *out, const struct um_layout *layout)
{
	const struct um_brand *brand = layout->brand;
	bool has_name = brand != NULL && brand->name != NULL;

	um_buf_cat(out, "<!doctype html>\n<html lang=\"", layout->lang,
		"\" dir=\"", layout->dir, "\">\n");
	um_buf_puts(out,
		"<head>\n<meta charset=\"utf-8\">\n"
		"<meta name=\"viewport\" content=\"width=device-width, "
		"initial-scale=1\">\n<title>");
	um_buf_puts(out, layout->title);
	if (has_name) {
		um_buf_puts(out, " \xe2\x80\x93 ");
		um_escape_html_text(out, um_str(brand->name));
	}
	um_buf_puts(out, "</title>\n<style>");
	um_buf_puts(out, UM_STYLE_BOTH);
	um_buf_puts(out, UM_STYLE);
	um_buf_puts(out, "</style>\n");
	if (brand != NULL && brand->style != NULL)
		um_buf_cat(out, "<style>", brand->style, "</style>\n");
	um_buf_cat(out, layout->head, "</head>\n<body>\n");
	if (has_name)
		put_site(out, brand);
	um_buf_puts(out, "<main>\n");
	if (layout->mark != NULL)
		um_buf_cat(out, layout->mark, "\n<h1>", layout->title,
			"</h1>\n");
}

void
um_layout_end(struct um_buf *out, const char *footer)
{
	um_buf_puts(out, "</main>\n");
	if (footer[0] != '\0')
		um_buf_cat(out, "<footer>", footer, "</footer>\n");
	um_buf_puts(out, "</body>\n</html>\n");
}

void
um_layout_policy(struct um_buf *out, const struct um_brand *brand,
	const char *more)
{
	um_buf_puts(out, "default-src 'none'; style-src '" UM_STYLE_HASH "'");
	if (brand != NULL && brand->style != NULL)
		um_buf_cat(out, " '", brand->style_hash, "'");
	if (brand != NULL && brand->logo_url != NULL)
		um_buf_puts(out, "; img-src 'self'");
	um_buf_cat(out, "; frame-ancestors 'none'; base-uri 'none'", more);
}
