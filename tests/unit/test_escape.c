/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "http/escape.h"
#include "support.h"

#define REPLACEMENT "\xef\xbf\xbd" /* U+FFFD */

typedef void escaper(struct um_buf *out, struct um_str text);

static void
assert_escaped(escaper *escape, const char *text, const char *expected)
{
	struct um_buf out = { 0 };

	escape(&out, um_str(text));
	assert_str(um_buf_str(&out), expected);
	um_buf_free(&out);
}

static bool
is_unreserved(int c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')
		|| (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_'
		|| c == '~';
}

TEST(markup_in_text_is_escaped)
{
	assert_escaped(um_escape_html_text,
		"<a href='x' b=\"y\">&amp;&#39;</a>\n\xc3\xab",
		"&lt;a href=&#39;x&#39; b=&quot;y&quot;&gt;&amp;amp;&amp;#39;"
		"&lt;/a&gt;\n\xc3\xab");
}

/* It cannot end an attribute in any quotes, nor one without. */
TEST(separators_in_an_attribute_are_escaped)
{
	assert_escaped(um_escape_html_attr, "AQ_-state.1~", "AQ_-state.1~");
	assert_escaped(um_escape_html_attr, "x\" onclick='a`b'/>&\t\r\n",
		"x&quot;&#32;onclick&#61;&#39;a&#96;b&#39;&#47;&gt;&amp;"
		"&#9;&#13;&#10;");
	assert_escaped(um_escape_html_attr, "zo\xc3\xab", "zo\xc3\xab");
}

TEST(each_byte_is_escaped_where_it_has_a_meaning)
{
	static const struct {
		escaper *escape;
		bool is_attr;
	} cases[] = {
		{ um_escape_html_text, false },
		{ um_escape_html_attr, true },
	};

	for (size_t i = 0; i < LENGTH(cases); i++) {
		for (int c = 0; c < 256; c++) {
			const char byte = (char)c;
			struct um_buf out = { 0 };
			char label[32];
			bool special = cases[i].is_attr
				? c < 0x80 && !is_unreserved(c)
				: c != 0 && strchr("&<>\"'", c) != NULL;

			snprintf(label, sizeof(label), "%s %02x",
				cases[i].is_attr ? "attribute" : "text",
				(unsigned)c);
			cases[i].escape(&out, (struct um_str){ &byte, 1 });
			if (special)
				assert_row(label,
					out.len > 3 && out.ptr[0] == '&'
						&& out.ptr[out.len - 1] == ';');
			else
				assert_row(label,
					out.len == 1 && out.ptr[0] == byte);
			um_buf_free(&out);
		}
	}
}

/* The first and last of both ranges, and their neighbours. */
TEST(direction_controls_are_replaced)
{
	static const struct {
		const char *text;
		bool replaced;
	} cases[] = {
		/* NOLINTBEGIN(misc-misleading-bidirectional): the point of it */
		{ "\xe2\x80\xa9", false }, /* U+2029 */
		{ "\xe2\x80\xaa", true },  /* U+202A */
		{ "\xe2\x80\xae", true },  /* U+202E */
		{ "\xe2\x80\xaf", false }, /* U+202F */
		{ "\xe2\x81\xa5", false }, /* U+2065 */
		{ "\xe2\x81\xa6", true },  /* U+2066 */
		{ "\xe2\x81\xa9", true },  /* U+2069 */
		{ "\xe2\x81\xaa", false }, /* U+206A */
		/* NOLINTEND(misc-misleading-bidirectional) */
		{ "\xe2\x80", false }, /* cut off */
	};

	for (size_t i = 0; i < LENGTH(cases); i++) {
		const char *expected = cases[i].replaced ? REPLACEMENT
							 : cases[i].text;

		row_begin("%s", cases[i].text);
		assert_escaped(um_escape_html_text, cases[i].text, expected);
		assert_escaped(um_escape_html_attr, cases[i].text, expected);
	}
}

/* RFC 3986 section 2.3 */
TEST(each_byte_of_a_query_is_encoded_unless_unreserved)
{
	for (int c = 0; c < 256; c++) {
		const char byte = (char)c;
		char encoded[4];
		struct um_buf out = { 0 };

		snprintf(encoded, sizeof(encoded), "%%%02X", (unsigned)c);
		um_escape_url_arg(&out, (struct um_str){ &byte, 1 });
		assert_int_equal(out.len, is_unreserved(c) ? 1 : 3);
		assert_memory_equal(out.ptr, is_unreserved(c) ? &byte : encoded,
			out.len);
		um_buf_free(&out);
	}
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(markup_in_text_is_escaped),
		cmocka_unit_test(separators_in_an_attribute_are_escaped),
		cmocka_unit_test(each_byte_is_escaped_where_it_has_a_meaning),
		cmocka_unit_test(direction_controls_are_replaced),
		cmocka_unit_test(
			each_byte_of_a_query_is_encoded_unless_unreserved),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
