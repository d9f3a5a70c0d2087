/* SPDX-License-Identifier: MIT */
#include "app/browser.h"

#include <string.h>

#include "core/base64.h"
#include "http/cookie.h"

void
um_browser_read_cookie(char cookie[static UM_COOKIE_MAX + 1],
	struct um_str header)
{
	struct um_str value = um_cookie_get(header, UM_COOKIE_NAME);

	cookie[0] = '\0';
	if (value.len == 0 || value.len > UM_COOKIE_MAX
		|| !um_base64url_is(value))
		return;
	memcpy(cookie, value.ptr, value.len);
	cookie[value.len] = '\0';
}

void
um_browser_ensure_cookie(char cookie[static UM_COOKIE_MAX + 1],
	const struct um_context *context)
{
	uint8_t bytes[16];

	if (strlen(cookie) >= UM_COOKIE_LEN)
		return;
	context->random(bytes, sizeof(bytes));
	um_base64url_encode(cookie, bytes, sizeof(bytes));
	explicit_bzero(bytes, sizeof(bytes));
}

void
um_browser_set_cookie(struct um_response *response, const char *cookie)
{
	um_response_cookie(response, UM_COOKIE_NAME, um_str(cookie),
		UM_COOKIE_MAX_AGE, "Lax");
}
