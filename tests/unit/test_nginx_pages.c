/* SPDX-License-Identifier: MIT */
/* What comes out as a whole, nginx itself reads in tests/stack and tests/browser. */
#include <string.h>

#include "operate/nginx_pages.h"
#include "support.h"

#define PARAMETER_MAX 4095 /* bytes; nginx takes no longer one */

/* Every parameter in single quotes ends where it should, and is short enough. */
static void
assert_parameters(const char *conf)
{
	/* Before that a comment may have an apostrophe. */
	for (const char *p = strstr(conf, "\nmap ");
		(p = strchr(p, '\'')) != NULL; p++) {
		const char *begin = p++;

		while (*p != '\'') {
			assert_int_not_equal(*p, '\0');
			p += *p == '\\' ? 2 : 1;
		}
		assert_true(p[1] == ';');
		assert_true(p - begin < PARAMETER_MAX);
	}
}

TEST(each_error_has_a_page_in_each_language)
{
	static const char *const lines[] = {
		"\n\tde:not_found 'Seite nicht gefunden';\n",
		"\n\tzh zh-Hans;\n",
		"\n\tar rtl;\n",
		"\n\ten:busy 'Nothing is lost. This page will reload by itself "
		"in 3 seconds.';\n",
		"\n\ten 'Reason: <code>$urlmode_error_reason</code><br>"
		"Request: <code>$request_id</code>';\n",
		"<html lang=\"$urlmode_lang\" dir=\"$urlmode_dir\">",
		"\n<h1>$urlmode_error_title</h1>\n<p>$urlmode_error_text</p>\n",
		"default-src \\'none\\'; style-src \\'sha256-",
	};
	struct um_buf conf = { 0 };

	um_nginx_pages_put(&conf, NULL);
	um_buf_put(&conf, "", 1);
	assert_false(conf.failed);
	assert_parameters(conf.ptr);
	for (size_t i = 0; i < LENGTH(lines); i++)
		assert_row(lines[i], strstr(conf.ptr, lines[i]) != NULL);
	um_buf_free(&conf);
}

/* Whatever the site is called, nginx's pages stay what they are. */
TEST(a_brand_cannot_break_out)
{
	struct um_brand brand = {
		.name = (char[]){ "It's $request_id \\'; } \"" },
		.style = (char[]){ ":root{--accent:#123456}" },
		.style_hash = (char[]){ "sha256-AAAA" },
	};
	struct um_buf conf = { 0 };

	um_nginx_pages_put(&conf, &brand);
	um_buf_put(&conf, "", 1);
	assert_false(conf.failed);
	assert_parameters(conf.ptr);
	assert_non_null(strstr(conf.ptr,
		"It&#39;s &#36;request_id \\\\&#39;; } &quot;</title>"));
	assert_non_null(strstr(conf.ptr, "\\'sha256-AAAA\\'"));
	assert_non_null(strstr(conf.ptr, "$urlmode_page_2"));
	um_buf_free(&conf);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_error_has_a_page_in_each_language),
		cmocka_unit_test(a_brand_cannot_break_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
