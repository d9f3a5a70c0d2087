/* SPDX-License-Identifier: MIT */
#include "http/final_page.h"

#include <stddef.h>
#include <string.h>

#include "http/header.h"

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

void
um_final_page_set_cookie(struct um_response *response, enum um_final_page final)
{
	um_response_cookie(response, UM_FINAL_PAGE_COOKIE,
		um_str(um_final_page_code(final)), UM_FINAL_PAGE_MAX_AGE,
		"Lax");
}

enum um_final_page
um_final_page_of_cookie(struct um_str header)
{
	enum um_final_page found = UM_FINAL_PAGE_RETURNED;
	struct um_str code = um_cookie_get(header, UM_FINAL_PAGE_COOKIE);

	for (int i = 0; i < UM_FINAL_PAGE_COUNT; i++)
		if (um_str_is(code, um_final_page_code((enum um_final_page)i)))
			found = (enum um_final_page)i;
	return found;
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
	if (reason != NULL && strcmp(reason, "refused_input") == 0)
		return UM_FINAL_PAGE_REFUSED;
	/* Without a reason nobody knows who has ended it. */
	if (reason == NULL || reason[0] == '\0'
		|| strcmp(reason, "provider_error") == 0
		|| strcmp(reason, "payment_failed") == 0)
		return UM_FINAL_PAGE_FAILED;
	return UM_FINAL_PAGE_ENDED;
}

enum um_final_page
um_final_page_of_form(const char *action, const char *reason, bool is_approval)
{
	enum um_final_page final = um_final_page_of(action, reason, false);

	switch (final) {
	case UM_FINAL_PAGE_DONE:
		return is_approval ? UM_FINAL_PAGE_RECORDED : final;
	case UM_FINAL_PAGE_DECLINED:
		return UM_FINAL_PAGE_FORM_DECLINED;
	case UM_FINAL_PAGE_REFUSED:
		return final;
	default:
		return UM_FINAL_PAGE_FORM_ENDED;
	}
}

enum um_final_page
um_final_page_of_account(const char *reason)
{
	if (reason == NULL || strcmp(reason, "exchanging") == 0)
		return UM_FINAL_PAGE_RETURNED;
	return reason[0] == '\0' ? UM_FINAL_PAGE_CONNECTED
				 : UM_FINAL_PAGE_NOT_CONNECTED;
}

enum um_final_page
um_final_page_of_earlier(const char *action, bool late)
{
	if (late)
		return UM_FINAL_PAGE_LATE;
	return action != NULL && strcmp(action, "cancel") == 0
		? UM_FINAL_PAGE_ENDED
		: UM_FINAL_PAGE_ALREADY;
}
