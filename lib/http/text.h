/* SPDX-License-Identifier: MIT */
/*
 * The texts of the pages in each language. They are compiled in: the Makefile
 * makes http/texts.inc and http/names.inc from lib/pages/, which has a file for
 * each language.
 */
#ifndef UM_TEXT_H
#define UM_TEXT_H

#include "core/str.h"
#include "http/names.inc"

/* In alphabetical order of their codes. */
enum um_language {
#define X(name, code) UM_LANGUAGE_##name,
	UM_LANGUAGES(X)
#undef X
		UM_LANGUAGE_COUNT
};

/* In the order in which en.json has them. */
enum um_text {
#define X(name) UM_TEXT_##name,
	UM_TEXTS(X)
#undef X
		UM_TEXT_COUNT
};

/* The name of the language's file, such as "de". */
const char *um_language_code(enum um_language language);

/*
 * The language that the header Accept-Language prefers (RFC 9110 section
 * 12.5.4): the available one with the greatest weight, or the first of several
 * with the same weight. Only the first subtag counts: `de-CH` is German.
 * English if the header is empty, malformed, or names no available language.
 */
enum um_language um_language_of(struct um_str accept_language);

/* The text as the file has it; a constant. */
const char *um_text(enum um_language language, enum um_text text);

/* The value for {NAME} in a text. */
struct um_text_value {
	const char *name;
	struct um_str value;
};

/*
 * Appends a text, escaped for HTML, with each {NAME} replaced by its value. A
 * value is escaped and put between `before` and `after`, which are HTML.
 * `values` ends with an empty one; NULL stands for no values.
 */
void um_text_put(struct um_buf *out, enum um_language language,
	enum um_text text, const struct um_text_value *values,
	const char *before, const char *after);

/*
 * Appends an amount of money as people write it in this language: "1050.00" and
 * "EUR" are "1.050,00 EUR" in German. `decimal` has digits, and perhaps a point
 * and digits.
 */
void um_text_put_amount(struct um_buf *out, enum um_language language,
	struct um_str decimal, struct um_str currency);

#endif
