/* SPDX-License-Identifier: MIT */
/* A logo that is put into pages: shapes and colours of SVG, and nothing else. */
#ifndef UM_SVG_H
#define UM_SVG_H

#include "core/str.h"

/*
 * Appends an SVG image to `out` as one element of HTML. Only elements and
 * attributes that draw are accepted: no script, no style, no link, no text, no
 * other document, and `url(#…)` as the only reference. What comes before the
 * element (the XML declaration, a doctype without a subset, comments) is left
 * out. False, with the reason: it has something else, or is not well-formed.
 */
bool um_svg_put(struct um_buf *out, struct um_str svg, struct um_error *err);

#endif
