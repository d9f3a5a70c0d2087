/* SPDX-License-Identifier: MIT */
#include "http/final_page.h"

#include <stddef.h>
#include <string.h>

static const struct {
	const char *code;
	const char *title;
	const char *advice;
} table[] = {
#define X(name, code, title, advice) { code, title, advice },
	UM_FINAL_PAGES(X)
#undef X
};

const char *
um_final_page_code(enum um_final_page final)
{
	return table[final].code;
}

const char *
um_final_page_title(enum um_final_page final)
{
	return table[final].title;
}

const char *
um_final_page_advice(enum um_final_page final)
{
	return table[final].advice;
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
