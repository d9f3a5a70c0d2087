/* SPDX-License-Identifier: MIT */
/* The pages, and the only ways by which text gets into one. */
#ifndef UM_PAGE_H
#define UM_PAGE_H

#include "core/str.h"
#include "http/http.h"
#include "http/refusal.h"

/*
 * Escaped for the text between tags, and for a quoted attribute; what would
 * change the direction of the text around it becomes U+FFFD.
 */
void um_html_txt(struct um_buf *out, struct um_str text);
void um_html_attr(struct um_buf *out, struct um_str text);
/* Percent-encoded for a name or value of a query (RFC 3986 section 2.3). */
void um_url_arg(struct um_buf *out, struct um_str text);

/* How it ended, as /done says it. */
#define UM_FINAL_PAGES(X)                                                      \
	X(DONE, "done", "All done",                                            \
		"You can close this tab and go back to where you started.")    \
	X(DECLINED, "declined", "Declined",                                    \
		"You did not go through with it. You can close this tab.")     \
	X(FAILED, "failed", "That did not work",                               \
		"The provider reported an error. "                             \
		"Close this tab and try again where you started.")             \
	X(MISMATCH, "mismatch", "Not what was asked for",                      \
		"The provider took another amount than was asked for. "        \
		"Do not pay again: ask where you started.")                    \
	X(PROCESSING, "processing", "Still processing",                        \
		"The provider has not confirmed it yet. "                      \
		"You can close this tab; you will hear where you started.")    \
	X(ALREADY, "already", "Already done",                                  \
		"This was completed before, and nothing has changed. "         \
		"You can close this tab.")                                     \
	X(EXPIRED, "expired", "Too late",                                      \
		"The time for this is over. Start again where you came from, " \
		"unless you have paid: then ask there.")

enum um_final_page {
#define X(name, code, title, text) UM_FINAL_PAGE_##name,
	UM_FINAL_PAGES(X)
#undef X
		UM_FINAL_PAGE_COUNT
};

const char *um_final_page_code(enum um_final_page ending);

/* A last page, 200. */
void um_page_final(struct um_response *response, enum um_final_page ending);

/* How a completed row ended, by its action and reason. */
enum um_final_page um_final_page_of(const char *action, const char *reason);

/*
 * 303 to /done; which ending it shows travels in a cookie of a minute, so
 * that the address stays clean.
 */
#define UM_FINAL_PAGE_COOKIE "__Host-urlmode-done"
#define UM_FINAL_PAGE_MAX_AGE 60 /* seconds */
void um_page_redirect_to_done(struct um_response *response,
	enum um_final_page ending);

/* A refusal with its status, reason code and the request's id. */
void um_page_refusal(struct um_response *response,
	const struct um_request *request, enum um_refusal refusal);

/* Follows a payment until it is completed, then goes on to /done. */
void um_page_follow(struct um_response *response);

/* The confirm page: who asks, for whom, and for which provider. */
struct um_confirm {
	struct um_str requester;
	struct um_str subject;
	struct um_str provider;     /* its name in the routes */
	struct um_str display_name; /* its name for people */
	struct um_str state;        /* a connect token bound to this browser */
};
void um_page_confirm(struct um_response *response,
	const struct um_confirm *confirm);

#endif
