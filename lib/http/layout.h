/* SPDX-License-Identifier: MIT */
/*
 * The parts that all pages share, nginx's own pages too: the head with the
 * style, the site's name or logo, and the mark, which shows the state at a
 * glance, or what is asked for.
 */
#ifndef UM_LAYOUT_H
#define UM_LAYOUT_H

#include "core/str.h"

enum um_mark {
	/* What the user is asked for */
	UM_MARK_KEY,
	UM_MARK_CARD,
	UM_MARK_PEN,
	UM_MARK_FORM,
	UM_MARK_SEAL,
	UM_MARK_GOOD, /* it is done */
	UM_MARK_DECLINED,
	UM_MARK_WAIT,    /* it goes on by itself */
	UM_MARK_PENDING, /* it goes on, but not here */
	UM_MARK_WARNING, /* the user has to do something else */
	UM_MARK_FAILED,  /* it went wrong */
};

/*
 * Whose pages these are. The configuration fills it, and has checked all of it.
 * Each may be NULL.
 */
struct um_brand {
	char *name;     /* of the site, for people */
	char *logo_url; /* the path of an image on this host; shown with name */
	char *style;    /* CSS with its colours */
	char *style_hash;  /* of that, for the policy: "sha256-…" */
	char *return_to;   /* the URL of the application */
	char *switch_user; /* where users become somebody else: URL or path */
};

/* HTML, unless noted. */
struct um_layout {
	const struct um_brand *brand; /* or NULL */
	const char *lang, *dir;       /* attribute values */
	const char *title;
	const char *head; /* more elements of the head, or "" */
	const char *mark; /* NULL: a page that begins otherwise */
};

/* The mark as an element. */
const char *um_layout_mark(enum um_mark mark);

/* From the doctype to the heading, or to where it will be. */
void um_layout_begin(struct um_buf *out, const struct um_layout *layout);
/* The end; `footer` is HTML, or "" for none. */
void um_layout_end(struct um_buf *out, const char *footer);

/*
 * The Content-Security-Policy of such a page (`more` begins with "; "): nothing
 * but its own style by hash, and the logo.
 */
void um_layout_policy(struct um_buf *out, const struct um_brand *brand,
	const char *more);

#endif
