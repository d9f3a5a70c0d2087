/* SPDX-License-Identifier: MIT */
#include "postgres/sqlstate.h"

#include <stddef.h>
#include <string.h>

static bool
is_one_of(const char *sqlstate, const char *const *prefixes)
{
	for (; *prefixes != NULL; prefixes++)
		if (strncmp(sqlstate, *prefixes, strlen(*prefixes)) == 0)
			return true;
	return false;
}

bool
um_sqlstate_is_servers(const char *sqlstate)
{
	static const char *const prefixes[] = {
		"08",
		"53",
		"57P",
		"58",
		"25006",
		"XX",
		NULL,
	};

	return is_one_of(sqlstate, prefixes);
}

bool
um_sqlstate_is_transient(const char *sqlstate)
{
	static const char *const prefixes[] = { "40", NULL };

	return is_one_of(sqlstate, prefixes);
}

bool
um_sqlstate_is_lock(const char *sqlstate)
{
	return strcmp(sqlstate, "55P03") == 0;
}

bool
um_sqlstate_is_rows(const char *sqlstate)
{
	static const char *const prefixes[] = { "22", "23", "P0", NULL };

	return is_one_of(sqlstate, prefixes);
}
