/* SPDX-License-Identifier: MIT */
#include "config/tenants.h"

#include <string.h>

#include "contract/limits.h"

#define TENANTS_MAX 64

/* A tenant's name, or - for the rows without one. */
static bool
is_tenant(const char *text)
{
	return strlen(text) <= UM_TENANT_MAX
		&& text[strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789-_")]
		== '\0';
}

bool
um_tenants_read(char **out, const struct um_conf_loc *at, json_t *entry,
	bool is_payment)
{
	const char *names[TENANTS_MAX] = { NULL };
	struct um_buf joined = { 0 };
	size_t len = 0;

	if (!um_conf_get_texts(at, entry, "tenants", names, TENANTS_MAX, &len))
		return false;
	if (is_payment && len > 1)
		return um_conf_member_error(at, "tenants",
			"is one tenant at most for the kind `payment`");
	for (size_t i = 0; i < len; i++) {
		if (names[i] == NULL || !is_tenant(names[i]))
			return um_conf_member_error(at, "tenants",
				"is not a list of tenants, each of 1 to 64 "
				"characters of [a-z0-9_-]");
	}
	for (size_t i = 0; i < len; i++)
		um_buf_cat(&joined, i != 0 ? "," : "",
			strcmp(names[i], "-") != 0 ? names[i] : "");
	if (len != 0)
		um_buf_put(&joined, "", 1);
	*out = joined.ptr;
	return !joined.failed || um_conf_error(at, "out of memory");
}
