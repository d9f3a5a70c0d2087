/* SPDX-License-Identifier: MIT */
/*
 * The pattern of a field: a part of the regular expressions of JavaScript, with
 * the same meaning, that takes linear time for every text. The whole text has to
 * match.
 *
 *   pattern   sequence *( "|" sequence )
 *   sequence  1*( item [ count ] )
 *   item      a printable character of ASCII except \ . * + ? ( ) [ ] { } | ^ $,
 *             or "\" and a punctuation character, or a class
 *   class     "[" 1*( character [ "-" character ] ) "]", with \ before
 *             each of \ ] [ ^ - that belongs to it; a "-" may also stand first
 *             or last
 *   count     "?", "*", "+", "{n}", "{n,}" or "{n,m}", n <= m <= 255, m >= 1
 */
#ifndef UM_PATTERN_H
#define UM_PATTERN_H

#include <stdbool.h>

#include "core/str.h"

#define UM_PATTERN_MAX 200 /* characters of a pattern */
/*
 * Of all sequences together. An item takes as many as its greatest count says;
 * one without an end takes its least count, and at least one.
 */
#define UM_PATTERN_POSITIONS_MAX 256

struct um_pattern;

/*
 * Compiles a pattern, which the caller frees with um_pattern_free(). NULL: it is
 * not of this form, it is over a limit, or memory ran out.
 */
struct um_pattern *um_pattern_compile(struct um_str text);

/* At most UM_PATTERN_POSITIONS_MAX steps for each character of the text. */
bool um_pattern_matches(const struct um_pattern *pattern, struct um_str text);

/* NULL is fine. */
void um_pattern_free(struct um_pattern *pattern);

#endif
