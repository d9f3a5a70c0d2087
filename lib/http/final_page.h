/* SPDX-License-Identifier: MIT */
/* The last pages, one for each way in which an elicitation can end. */
#ifndef UM_FINAL_PAGE_H
#define UM_FINAL_PAGE_H

#include <stdbool.h>

#include "core/str.h"
#include "http/response.h"

/*
 * name, code in the cookie and the log, mark. The title and what to do now are
 * the texts NAME_TITLE and NAME.
 */
#define UM_FINAL_PAGES(X)                                                      \
	X(DONE, "done", GOOD)                                                  \
	X(RETURNED, "returned", PENDING)                                       \
	X(CONNECTED, "connected", GOOD)                                        \
	X(NOT_CONNECTED, "not_connected", FAILED)                              \
	X(DECLINED, "declined", DECLINED)                                      \
	X(FAILED, "failed", FAILED)                                            \
	X(MISMATCH, "mismatch", WARNING)                                       \
	X(PROCESSING, "processing", PENDING)                                   \
	X(CONFIRMING, "confirming", PENDING)                                   \
	X(REQUESTED, "requested", PENDING)                                     \
	X(CONSENTED, "consented", GOOD)                                        \
	X(ALREADY, "already", GOOD)                                            \
	X(ENDED, "ended", WARNING)                                             \
	X(LATE, "late", GOOD)                                                  \
	X(EXPIRED, "expired", WARNING)                                         \
	X(REFUSED, "refused", FAILED)                                          \
	X(RECORDED, "recorded", GOOD)                                          \
	X(FORM_DECLINED, "form_declined", DECLINED)                            \
	X(FORM_ENDED, "form_ended", WARNING)

enum um_final_page {
#define X(name, code, mark) UM_FINAL_PAGE_##name,
	UM_FINAL_PAGES(X)
#undef X
		UM_FINAL_PAGE_COUNT
};

/* A constant. */
const char *um_final_page_code(enum um_final_page final);

/*
 * A cookie that lives for a minute says which page /done shows, so that its
 * address says nothing. Sets it with the response.
 */
#define UM_FINAL_PAGE_COOKIE "__Host-urlmode-done"
#define UM_FINAL_PAGE_MAX_AGE 60 /* seconds */
void um_final_page_set_cookie(struct um_response *response,
	enum um_final_page final);

/* The page that a Cookie header names; RETURNED if it names none. */
enum um_final_page um_final_page_of_cookie(struct um_str header);

/*
 * The page for a completed row with this action and reason; either may be
 * NULL. With `late`, the row was paid after it had ended otherwise.
 */
enum um_final_page um_final_page_of(const char *action, const char *reason,
	bool late);

/*
 * The same for a form. Who decides an approval may not have started anything, and
 * nothing was paid.
 */
enum um_final_page um_final_page_of_form(const char *action, const char *reason,
	bool is_approval);

/*
 * The page for an account that was granted: RETURNED until it is known whether it
 * is connected. `reason` is that of the row, and may be NULL.
 */
enum um_final_page um_final_page_of_account(const char *reason);

/* The same for a row that was completed before the user came. */
enum um_final_page um_final_page_of_earlier(const char *action, bool late);

#endif
