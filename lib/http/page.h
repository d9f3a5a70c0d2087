/* SPDX-License-Identifier: MIT */
/*
 * The pages: HTML without third parties, under a Content-Security-Policy that
 * names its styles and script by their hashes, in the language that the request
 * prefers and the colours of its brand. Each function fills an empty response.
 */
#ifndef UM_PAGE_H
#define UM_PAGE_H

#include <stdbool.h>

#include "core/str.h"
#include "http/final_page.h"
#include "http/refusal.h"
#include "http/request.h"
#include "http/response.h"

/* The page /done, with status 200. */
void um_page_final(struct um_response *response,
	const struct um_request *request, enum um_final_page final);

/*
 * 303 to /done. A cookie that lives for a minute says which page to show
 * there, so that the address holds nothing.
 */
#define UM_FINAL_PAGE_COOKIE "__Host-urlmode-done"
#define UM_FINAL_PAGE_MAX_AGE 60 /* seconds */
void um_page_redirect_to_done(struct um_response *response,
	enum um_final_page final);

/* A refusal, with its status; shows its reason code and the request's id. */
void um_page_refusal(struct um_response *response,
	const struct um_request *request, enum um_refusal refusal);

/* The small print of a refusal. `code` and `id` are words, not text. */
void um_page_put_reason(struct um_buf *out, enum um_language language,
	const char *code, const char *id);

/*
 * Waits until the payment is completed, then goes to /done. It says meanwhile
 * whether the last attempt to pay has failed, which can be known already.
 */
void um_page_follow(struct um_response *response,
	const struct um_request *request, bool attempt_failed);

/* What the confirm page shows; the texts may hold anything. */
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
	struct um_str amount;       /* "10.50", or empty: it is not known */
	struct um_str currency;     /* of that: "EUR" */
};
void um_page_confirm(struct um_response *response,
	const struct um_request *request, const struct um_confirm *confirm);

#endif
