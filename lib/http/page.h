/* SPDX-License-Identifier: MIT */
/*
 * The pages: HTML without third parties, under a Content-Security-Policy that
 * names its styles and script by their hashes, in the language that the request
 * prefers and with the name, logo and colours of `brand`, which may be NULL.
 * Each function fills an empty response.
 */
#ifndef UM_PAGE_H
#define UM_PAGE_H

#include <stdbool.h>

#include "core/str.h"
#include "http/document.h"
#include "http/final_page.h"
#include "http/layout.h"
#include "http/refusal.h"
#include "http/request.h"
#include "http/response.h"
#include "http/text.h"

/* The page /done, with status 200. `way_on`: where its link leads, or nothing. */
void um_page_final(struct um_response *response,
	const struct um_request *request, const struct um_brand *brand,
	enum um_final_page final, struct um_str way_on);

/* Who reads a refusal: for some of them it has other words. */
enum um_reader {
	UM_READER_ANYBODY,
	UM_READER_OF_FORM,
	UM_READER_OF_APPROVAL, /* who may not have started anything */
};

/* How the user can go on after a refusal; empty where there is no such thing. */
struct um_way_on {
	enum um_reader reader;
	bool kept; /* what was typed will be there again, but for secrets */
	struct um_str try_again; /* the address for another attempt */
	/* Whom it refuses: where that is known, and may be somebody else. */
	struct um_acting acting;
	struct um_str sign_out; /* the provider's address for that */
};

/*
 * A refusal, with its status; shows its reason code and the request's id. `way`
 * may be NULL.
 */
void um_page_refusal(struct um_response *response,
	const struct um_request *request, const struct um_brand *brand,
	enum um_refusal refusal, const struct um_way_on *way);

/* The footer of a refusal. `code` and `id` need no escape. */
void um_page_put_reason(struct um_buf *out, enum um_language language,
	const char *code, const char *id);

/*
 * The page that waits until the payment is completed, and then goes to /done.
 * It says when the last attempt to pay has failed, as it already may have.
 */
void um_page_follow(struct um_response *response,
	const struct um_request *request, const struct um_brand *brand,
	bool attempt_failed);

/*
 * The page that waits while the MCP server checks what the user has sent. It is
 * loaded again after that.
 */
void um_page_checking(struct um_response *response,
	const struct um_request *request, const struct um_brand *brand);

/* Who has decided an approval, and how. */
void um_page_decided(struct um_response *response,
	const struct um_request *request, const struct um_brand *brand,
	bool approved, struct um_str user);

/* The values on the confirm page; the page escapes them. */
struct um_confirm {
	enum um_confirm_what {
		UM_CONFIRM_ACCOUNT,
		UM_CONFIRM_PAYMENT,
		UM_CONFIRM_SIGNATURE,
	} what;
	struct um_str requester;
	struct um_str subject;
	struct um_str provider;     /* its name in the routes */
	struct um_str display_name; /* as people know it */
	struct um_str state;        /* a connect token bound to this browser */
	struct um_str amount;       /* "10.50"; empty if it is not known */
	struct um_str currency;     /* "EUR" */
	bool opened_before; /* in this browser, perhaps in another tab */
};
void um_page_confirm(struct um_response *response,
	const struct um_request *request, const struct um_brand *brand,
	const struct um_confirm *confirm);

#endif
