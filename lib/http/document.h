/* SPDX-License-Identifier: MIT */
/*
 * A page that is being written. It is in the language that the request prefers;
 * its policy and head are written with the beginning, and um_layout_end() ends
 * it.
 */
#ifndef UM_DOCUMENT_H
#define UM_DOCUMENT_H

#include "http/layout.h"
#include "http/request.h"
#include "http/response.h"
#include "http/text.h"

struct um_document {
	struct um_buf *body;
	enum um_language language;
	const struct um_brand *brand;
};

/* The parts of the head in which pages differ. */
struct um_document_head {
	int status;
	enum um_text title;
	bool has_lead;      /* um_document_lead() and a heading follow */
	enum um_mark mark;  /* of a page that has none */
	const char *policy; /* added to the policy of every page */
	const char *more;   /* elements, or NULL */
};

/* Fills an empty response. `brand` may be NULL. */
struct um_document um_document_begin(struct um_response *response,
	const struct um_request *request, const struct um_brand *brand,
	struct um_document_head head);

/* A text of the pages, alone or as a paragraph. */
void um_document_put(const struct um_document *page, enum um_text text);
void um_document_paragraph(const struct um_document *page, enum um_text text);

/*
 * What stands above the heading: the mark, and who asks. In the text the values
 * stand out.
 */
void um_document_lead(const struct um_document *page, enum um_mark mark,
	enum um_text text, const struct um_text_value *values);

/* A text that stands out, as a paragraph. */
void um_document_warning(const struct um_document *page, enum um_text text);

/* A row of a <dl>. */
void um_document_row(const struct um_document *page, enum um_text name,
	struct um_str value);

/* Who acts on a page. */
struct um_acting {
	struct um_str user;
	bool is_known; /* otherwise nobody knows who reads the page */
	/* The address for another user, or nothing: the brand may have one. */
	struct um_str other_account;
};

/* A paragraph that says who acts, with the way to be somebody else. */
void um_document_acting(const struct um_document *page,
	const struct um_acting *acting);

#endif
