/* SPDX-License-Identifier: MIT */
/* What may be logged of a notice or warning of the server. */
#ifndef UM_NOTICE_H
#define UM_NOTICE_H

#include <stddef.h>

#include <libpq-fe.h>

/*
 * Writes the notice as one line, cut to fit. libpq would print its text to
 * standard error, and that text may hold the data of a row: only the SQLSTATE is
 * written. The warnings of a full queue of notifications hold none, and are
 * written whole. They name the session that holds the queue.
 */
void um_notice_text(char *out, size_t size, const PGresult *res);

#endif
