/* SPDX-License-Identifier: MIT */
/* The last pages, one for each way in which an elicitation can end. */
#ifndef UM_FINAL_PAGE_H
#define UM_FINAL_PAGE_H

#include <stdbool.h>

/*
 * name, code in the cookie and the log, mark. The title and what to do now are
 * the texts NAME_TITLE and NAME.
 */
#define UM_FINAL_PAGES(X)                                                      \
	X(DONE, "done", GOOD)                                                  \
	X(DECLINED, "declined", NO)                                            \
	X(FAILED, "failed", FAILED)                                            \
	X(MISMATCH, "mismatch", HEED)                                          \
	X(PROCESSING, "processing", LATER)                                     \
	X(ALREADY, "already", GOOD)                                            \
	X(LATE, "late", GOOD)                                                  \
	X(EXPIRED, "expired", HEED)

enum um_final_page {
#define X(name, code, mark) UM_FINAL_PAGE_##name,
	UM_FINAL_PAGES(X)
#undef X
		UM_FINAL_PAGE_COUNT
};

/* A constant. */
const char *um_final_page_code(enum um_final_page final);

/*
 * The page for a completed row with this action and reason; either may be
 * NULL. With `late`, the row was paid after it had ended otherwise.
 */
enum um_final_page um_final_page_of(const char *action, const char *reason,
	bool late);

#endif
