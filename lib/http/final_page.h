/* SPDX-License-Identifier: MIT */
/* The last pages, one for each way in which an elicitation can end. */
#ifndef UM_FINAL_PAGE_H
#define UM_FINAL_PAGE_H

#include <stdbool.h>

/* name, code in the cookie and the log, title, what to do now */
#define UM_FINAL_PAGES(X)                                                      \
	X(DONE, "done", "All done",                                            \
		"You can close this tab and return to where you started.")     \
	X(DECLINED, "declined", "Declined",                                    \
		"You declined this request. You can close this tab and "       \
		"return to where you started.")                                \
	X(FAILED, "failed", "That did not work",                               \
		"The provider reported an error. "                             \
		"Close this tab, return to where you started and try again.")  \
	X(MISMATCH, "mismatch", "The amount does not match",                   \
		"The provider reported a different amount from the one that "  \
		"was requested. Do not pay again. Return to where you "        \
		"started and ask for help there.")                             \
	X(PROCESSING, "processing", "Still processing",                        \
		"The provider has not confirmed this yet. You can close this " \
		"tab. The result will appear where you started.")              \
	X(ALREADY, "already", "Already done",                                  \
		"This request was completed earlier, and nothing has "         \
		"changed. You can close this tab.")                            \
	X(LATE, "late", "Your payment has arrived",                            \
		"It arrived after this request had ended, but nothing is "     \
		"lost. Return to where you started and ask again: you will "   \
		"not be asked to pay again.")                                  \
	X(EXPIRED, "expired", "This request has expired",                      \
		"If you have paid, do not pay again: return to where you "     \
		"started and ask for help there. Otherwise, start again "      \
		"there.")

enum um_final_page {
#define X(name, code, title, advice) UM_FINAL_PAGE_##name,
	UM_FINAL_PAGES(X)
#undef X
		UM_FINAL_PAGE_COUNT
};

/* These are constants. */
const char *um_final_page_code(enum um_final_page final);
const char *um_final_page_title(enum um_final_page final);
const char *um_final_page_advice(enum um_final_page final);

/*
 * The page for a completed row with this action and reason; either may be
 * NULL. With `late`, the row was paid after it had ended otherwise.
 */
enum um_final_page um_final_page_of(const char *action, const char *reason,
	bool late);

#endif
