/* SPDX-License-Identifier: MIT */
/*
 * The gate before libfcgi: looks at the records of one FastCGI request
 * (FastCGI specification 1.0, sections 3 and 5) and lets through only what a
 * web server sends to a responder. libfcgi trusts lengths, answers management
 * records and caps nothing; it sees a request only when it is whole and good.
 */
#ifndef UM_FCGI_CHECK_H
#define UM_FCGI_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/str.h"

#define UM_FCGI_PARAMS_MAX 32768  /* bytes of the one PARAMS record */
#define UM_FCGI_PAIRS_MAX 128     /* name-value pairs */
#define UM_FCGI_BODY_MAX 1048576  /* bytes of STDIN, all records together */
#define UM_FCGI_BYTES_MAX 2097152 /* of a request, with what frames it */

enum um_fcgi_check_state {
	UM_FCGI_CHECK_MORE,  /* good so far, not whole yet */
	UM_FCGI_CHECK_WHOLE, /* one request, to its last byte */
	UM_FCGI_CHECK_BAD, /* never to be shown to libfcgi: close the connection */
};

/* How far a request was looked at; zeroed for each new one. */
struct um_fcgi_check {
	enum {
		UM_STAGE_BEGIN,
		UM_STAGE_PARAMS,
		UM_STAGE_PARAMS_END,
		UM_STAGE_STDIN
	} stage;
	size_t at; /* bytes of whole records */
	size_t body;
	uint16_t request_id;
};

/*
 * `bytes` is everything that has come for this request, from its first byte.
 * BAD: another version, role, type or order of records, several requests on
 * the connection, PARAMS in more than one record, padding behind their end,
 * pairs that do not fill it exactly, a NUL in one, a limit, or bytes after the
 * end.
 */
enum um_fcgi_check_state um_fcgi_check(struct um_fcgi_check *scan,
	struct um_str bytes);

#endif
