/* SPDX-License-Identifier: MIT */
/*
 * A text of a form, in one language or in several: a string, or an object with
 * a member for each language of the pages, such as {"en": "Key", "de":
 * "Schlüssel"}.
 */
#ifndef UM_WORDS_H
#define UM_WORDS_H

#include <stdbool.h>
#include <stddef.h>

#include "core/json.h"
#include "core/str.h"
#include "http/text.h"

/* One text, and the language that it is in. */
struct um_words {
	struct um_str text;
	enum um_language language;
};

/* The language with this code. False: no page is in it. */
bool um_words_language(enum um_language *language, struct um_str code);

/*
 * The text in the language of a page; otherwise in English, otherwise the first
 * one. A string is in the language `own`. Nothing for NULL.
 */
struct um_words um_words_of(const struct um_json_node *node,
	enum um_language own, enum um_language page);

/*
 * Writes them as an element that says their language. `attributes` is HTML that
 * begins with a space, or "".
 */
void um_words_put(struct um_buf *html, const char *element,
	const char *attributes, const struct um_words *words);

#endif
