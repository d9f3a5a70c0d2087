/* SPDX-License-Identifier: MIT */
/*
 * Escapes text for HTML and URLs, with one function for each context, as the
 * OWASP Cross Site Scripting Prevention Cheat Sheet demands. All of them
 * append; the text should be UTF-8.
 *
 * In HTML, a character that changes the direction of the text around it (U+202A
 * to U+202E, U+2066 to U+2069) becomes U+FFFD.
 */
#ifndef UM_ESCAPE_H
#define UM_ESCAPE_H

#include "core/str.h"

/* Between two tags: & < > " and ' become character references. */
void um_escape_html_text(struct um_buf *out, struct um_str text);

/*
 * The value of an attribute: every character of ASCII except letters, digits
 * and - . _ ~ becomes a character reference, so that no value ends its
 * attribute, even if the quotes around it are missing.
 */
void um_escape_html_attr(struct um_buf *out, struct um_str text);

/*
 * A name or a value in a query: everything except the unreserved characters
 * of RFC 3986 section 2.3 is percent-encoded.
 */
void um_escape_url_arg(struct um_buf *out, struct um_str text);

#endif
