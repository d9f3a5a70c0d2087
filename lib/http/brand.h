/* SPDX-License-Identifier: MIT */
/* Whose pages these are. The configuration fills it, and has checked all of it. */
#ifndef UM_BRAND_H
#define UM_BRAND_H

/* Each may be NULL. */
struct um_brand {
	char *name;     /* of the site, for people */
	char *logo_url; /* the path of an image on this host; shown with name */
	char *style;    /* CSS with its colours */
	char *style_hash; /* of that, for the policy: "sha256-…" */
	char *return_to;  /* the URL of the application */
};

#endif
