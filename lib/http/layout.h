/* SPDX-License-Identifier: MIT */
/*
 * What every page has around its words: the style, the head, the site's name,
 * the mark that says at a glance how it stands, and the frame that nginx's own
 * pages have as well.
 */
#ifndef UM_LAYOUT_H
#define UM_LAYOUT_H

#include "core/str.h"
#include "http/brand.h"

enum um_mark {
	UM_MARK_ASK,    /* a decision of the user */
	UM_MARK_GOOD,   /* it is done */
	UM_MARK_NO,     /* it was declined */
	UM_MARK_WAIT,   /* it goes on by itself */
	UM_MARK_LATER,  /* it goes on, but not here */
	UM_MARK_HEED,   /* the user has to do something else */
	UM_MARK_FAILED, /* it went wrong */
};

/* HTML, where nothing else is said. */
struct um_layout {
	const struct um_brand *brand; /* or NULL */
	const char *lang, *dir;       /* attribute values */
	const char *title;
	const char *head; /* more elements of the head, or "" */
	const char *mark;
};

/* The mark as an element. */
const char *um_layout_mark(enum um_mark mark);

/* From the doctype to the heading. */
void um_layout_begin(struct um_buf *out, const struct um_layout *layout);
/* The end; `footer` is HTML, or "" for none. */
void um_layout_end(struct um_buf *out, const char *footer);

/*
 * The Content-Security-Policy of such a page (`more` begins with "; "): nothing
 * but its own style by hash, and the logo where that is an image.
 */
void um_layout_policy(struct um_buf *out, const struct um_brand *brand,
	const char *more);

#endif
