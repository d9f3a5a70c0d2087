/* SPDX-License-Identifier: MIT */
#include "form/words.h"

#include "http/escape.h"

bool
um_words_language(enum um_language *language, struct um_str code)
{
	for (int i = 0; i < UM_LANGUAGE_COUNT; i++) {
		if (!um_str_is(code, um_language_code((enum um_language)i)))
			continue;
		*language = (enum um_language)i;
		return true;
	}
	return false;
}

struct um_words
um_words_of(const struct um_json_node *node, enum um_language own,
	enum um_language page)
{
	const struct um_json_node *found;
	struct um_words words = { .language = own };

	if (node == NULL)
		return words;
	if (!um_json_is(node, UM_JSON_OBJECT)) {
		words.text = um_json_str(node);
		return words;
	}
	words.language = page;
	found = um_json_member(node, um_str(um_language_code(page)));
	if (found == NULL) {
		words.language = UM_LANGUAGE_EN;
		found = um_json_member(node, um_str("en"));
	}
	if (found == NULL) {
		um_words_language(&words.language, um_json_str(node + 1));
		found = node + 2;
	}
	words.text = um_json_str(found);
	return words;
}

void
um_words_put(struct um_buf *html, const char *element, const char *attributes,
	const struct um_words *words)
{
	um_buf_cat(html, "<", element, attributes, " lang=\"",
		um_text(words->language, UM_TEXT_LANG), "\" dir=\"",
		um_text(words->language, UM_TEXT_DIR), "\">");
	um_escape_html_text(html, words->text);
	um_buf_cat(html, "</", element, ">");
}
