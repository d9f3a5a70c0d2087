/* SPDX-License-Identifier: MIT */
/* The page of a form. */
#ifndef UM_FORM_PAGE_H
#define UM_FORM_PAGE_H

#include <stdbool.h>

#include "core/str.h"
#include "form/answers.h"
#include "form/definition.h"
#include "http/document.h"
#include "http/layout.h"
#include "http/request.h"
#include "http/response.h"

/* The page escapes all texts. */
struct um_form_page {
	const struct um_definition *definition;
	bool is_approval;
	/*
	 * What was sent, with its mistakes; NULL for a new form. No secret of it
	 * is shown.
	 */
	const struct um_answers *answers;
	/* What the MCP server says of the last value: {"field", "problem"}. */
	const struct um_json_node *problem; /* or NULL */
	bool unchecked; /* it could not check the last value */
	bool kept;      /* `answers` are of before the session ended */
	bool elsewhere; /* this browser has shown it before, in another tab */
	struct um_str requester;
	struct um_str subject; /* for whom it is, unless the user acts for it */
	struct um_acting acting; /* not known: the page warns */
	struct um_str provider;  /* its name in the routes */
	struct um_str state;     /* a form token */
	struct um_str reader;    /* sealed (app/kept.h), or nothing */
};

/*
 * Fills an empty response: 422 if the answers have mistakes, otherwise 200. Its
 * form is sent to this site only, and its one script shows what was typed as a
 * secret: without it the page does all the rest.
 */
void um_form_page_put(struct um_response *response,
	const struct um_request *request, const struct um_brand *brand,
	const struct um_form_page *form);

#endif
