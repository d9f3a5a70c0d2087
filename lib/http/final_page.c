/* SPDX-License-Identifier: MIT */
#include "http/final_page.h"

#include <stddef.h>
#include <string.h>

const char *
um_final_page_code(enum um_final_page final)
{
	static const char *const codes[] = {
#define X(name, code, mark) code,
		UM_FINAL_PAGES(X)
#undef X
	};

	return codes[final];
}

enum um_final_page
um_final_page_of(const char *action, const char *reason, bool late)
{
	if (action != NULL && strcmp(action, "accept") == 0)
		return UM_FINAL_PAGE_DONE;
	if (late)
		return UM_FINAL_PAGE_LATE;
	if (action != NULL && strcmp(action, "decline") == 0)
		return UM_FINAL_PAGE_DECLINED;
	if (reason != NULL && strcmp(reason, "expired") == 0)
		return UM_FINAL_PAGE_EXPIRED;
	if (reason != NULL && strcmp(reason, "amount_mismatch") == 0)
		return UM_FINAL_PAGE_MISMATCH;
	return UM_FINAL_PAGE_FAILED;
}
