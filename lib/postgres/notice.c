/* SPDX-License-Identifier: MIT */
#include "postgres/notice.h"

#include <stdio.h>
#include <string.h>

static const char *
field_of(const PGresult *res, int code)
{
	const char *text = PQresultErrorField(res, code);

	return text != NULL ? text : "";
}

void
um_notice_text(char *out, size_t size, const PGresult *res)
{
	if (strcmp(field_of(res, PG_DIAG_SOURCE_FILE), "async.c") == 0)
		snprintf(out, size, "%s. %s %s",
			field_of(res, PG_DIAG_MESSAGE_PRIMARY),
			field_of(res, PG_DIAG_MESSAGE_DETAIL),
			field_of(res, PG_DIAG_MESSAGE_HINT));
	else
		snprintf(out, size, "a notice, SQLSTATE: %s",
			field_of(res, PG_DIAG_SQLSTATE));
}
