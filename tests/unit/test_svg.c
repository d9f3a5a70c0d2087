/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "http/svg.h"
#include "support.h"

#define SVG(inside) "<svg viewBox=\"0 0 1 1\">" inside "</svg>"

static bool
put(struct um_buf *out, const char *svg, struct um_error *err)
{
	*err = (struct um_error){ "" };
	return um_svg_put(out, um_str(svg), err);
}

TEST(what_draws_is_kept)
{
	static const struct {
		const char *svg, *expected;
	} cases[] = {
		{ "<svg/>", "<svg/>" },
		{ "<?xml version=\"1.0\"?>\n<!DOCTYPE svg>\n<!-- A -->\n"
		  "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 1 1'>\n"
		  "\t<!-- < > -->\n\t<path d='M0 0h1v1z' fill=\"#1a2b3c\" />\n"
		  "</svg>\n<!-- end -->\n",
			"<svg viewBox=\"0 0 1 1\"><path d=\"M0 0h1v1z\" "
			"fill=\"#1a2b3c\"/></svg>" },
		{ SVG("<defs><linearGradient id=\"a\"><stop offset=\"0%\" "
		      "stop-color=\"red\"/></linearGradient></defs>"
		      "<g fill=\"url(#a)\"><circle r=\"1\"></circle></g>"),
			SVG("<defs><linearGradient id=\"a\"><stop "
			    "offset=\"0%\" stop-color=\"red\"/>"
			    "</linearGradient></defs><g fill=\"url(#a)\">"
			    "<circle r=\"1\"></circle></g>") },
	};

	for (size_t i = 0; i < LENGTH(cases); i++) {
		struct um_buf out = { 0 };
		struct um_error err;

		row_begin("%zu", i);
		assert_true(put(&out, cases[i].svg, &err));
		assert_str(um_buf_str(&out), cases[i].expected);
		um_buf_free(&out);
	}
}

TEST(what_does_anything_else_is_refused)
{
	static const struct {
		const char *svg, *reason;
	} cases[] = {
		{ "", "not well-formed, or has text" },
		{ "PNG", "not well-formed, or has text" },
		{ "<html></html>", "element `html`" },
		{ "<path d=\"M0 0\"/>", "element `path`" },
		{ SVG("<script>alert(1)</script>"), "element `script`" },
		{ SVG("<SCRIPT/>"), "element `SCRIPT`" },
		{ SVG("<style>*{}</style>"), "element `style`" },
		{ SVG("<foreignObject/>"), "element `foreignObject`" },
		{ SVG("<image href=\"x\"/>"), "element `image`" },
		{ SVG("<use href=\"#a\"/>"), "element `use`" },
		{ SVG("<a href=\"x\"/>"), "element `a`" },
		{ SVG("<animate/>"), "element `animate`" },
		{ SVG("<set/>"), "element `set`" },
		{ SVG("<title>x</title>"), "element `title`" },
		{ SVG("<svg:path/>"), "element `svg:path`" },
		{ SVG("<svg/>"), "element `svg`" },
		{ SVG("<g onload=\"x\"/>"), "attribute `onload`" },
		{ SVG("<g style=\"fill:red\"/>"), "attribute `style`" },
		{ SVG("<g class=\"x\"/>"), "attribute `class`" },
		{ SVG("<g href=\"#a\"/>"), "attribute `href`" },
		{ SVG("<g xlink:href=\"#a\"/>"), "attribute `xlink:href`" },
		{ SVG("<g xmlns=\"http://www.w3.org/1999/xhtml\"/>"),
			"attribute `xmlns`" },
		{ SVG("<g fill=\"url(//evil.example/#a)\"/>"),
			"attribute `fill`" },
		{ SVG("<g fill=\"URL( x)\"/>"), "attribute `fill`" },
		{ SVG("<g fill=\"url(\"/>"), "attribute `fill`" },
		{ SVG("<g fill=\"&#117;rl(x)\"/>"), "attribute `fill`" },
		{ SVG("<g fill=\"u\\rl(x)\"/>"), "attribute `fill`" },
		{ SVG("<g fill=\"><script>\"/>"), "attribute `fill`" },
		{ SVG("text"), "not well-formed, or has text" },
		{ SVG("<![CDATA[x]]>"), "element ``" },
		{ SVG("<?php ?>"), "element ``" },
		{ SVG("<g>"), "not well-formed" },
		{ SVG("</g>"), "not well-formed" },
		{ SVG("<g fill=red/>"), "not well-formed" },
		{ SVG("<g fill/>"), "not well-formed" },
		{ SVG("<g fill=\"red\"r=\"1\"/>"), "not well-formed" },
		{ SVG("<g fill=\"red/>"), "not well-formed" },
		{ SVG("<g / >"), "not well-formed" },
		{ SVG("<!-- x"), "not well-formed" },
		{ "<svg", "not well-formed" },
		{ "<svg>", "not well-formed" },
		{ "<svg></svg", "not well-formed" },
		{ "<svg/><svg/>", "more than one element" },
		{ "<svg/>text", "more than one element" },
		{ "<svg/><!-- x", "not well-formed" },
		{ "<!DOCTYPE svg [<!ENTITY a \"b\">]><svg/>",
			"not well-formed" },
		{ "<svg width=\"\xff\"/>", "not UTF-8" },
	};

	for (size_t i = 0; i < LENGTH(cases); i++) {
		struct um_buf out = { 0 };
		struct um_error err;

		row_begin("%s", cases[i].svg);
		assert_false(put(&out, cases[i].svg, &err));
		assert_error(&err, cases[i].reason);
		um_buf_free(&out);
	}
}

TEST(depth_has_a_limit)
{
	struct um_buf svg = { 0 }, out = { 0 };
	struct um_error err;

	um_buf_puts(&svg, "<svg>");
	for (int i = 0; i < 32; i++)
		um_buf_puts(&svg, "<g>");
	um_buf_put(&svg, "", 1);
	assert_false(put(&out, svg.ptr, &err));
	assert_error(&err, "nested too deeply");
	um_buf_free(&svg);
	um_buf_free(&out);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_draws_is_kept),
		cmocka_unit_test(what_does_anything_else_is_refused),
		cmocka_unit_test(depth_has_a_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
