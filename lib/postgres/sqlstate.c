/* SPDX-License-Identifier: MIT */
#include "postgres/sqlstate.h"

#include <stddef.h>
#include <string.h>

/* The characters with which those of a class begin. */
static const struct {
	const char *prefix;
	enum um_sqlstate is;
} classes[] = {
	{ "08", UM_SQLSTATE_SERVER },
	{ "53", UM_SQLSTATE_SERVER },
	{ "57P", UM_SQLSTATE_SERVER },
	{ "58", UM_SQLSTATE_SERVER },
	{ "25006", UM_SQLSTATE_SERVER },
	{ "XX", UM_SQLSTATE_SERVER },
	{ "40", UM_SQLSTATE_TRANSIENT },
	{ "55P03", UM_SQLSTATE_LOCK },
	{ "22", UM_SQLSTATE_ROW },
	{ "23", UM_SQLSTATE_ROW },
	{ "P0", UM_SQLSTATE_ROW },
};

enum um_sqlstate
um_sqlstate_class(const char *sqlstate)
{
	for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++)
		if (strncmp(sqlstate, classes[i].prefix,
			    strlen(classes[i].prefix))
			== 0)
			return classes[i].is;
	return UM_SQLSTATE_OTHER;
}
