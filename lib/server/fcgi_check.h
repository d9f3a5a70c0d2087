/* SPDX-License-Identifier: MIT */
/*
 * Checks the records of one FastCGI request (FastCGI specification 1.0,
 * sections 3 and 5) before libfcgi sees them. Only complete requests pass, in
 * the form in which a web server sends them to a responder.
 *
 * libfcgi parses the same bytes again, but it trusts every length, answers
 * management records by itself, limits neither the number nor the size of
 * parameters, and blocks for missing bytes. The check costs about 1,900 of the
 * 327,000 instructions of a webhook of 4 KB.
 */
#ifndef UM_FCGI_CHECK_H
#define UM_FCGI_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/str.h"

#define UM_FCGI_PARAMS_MAX 61440   /* bytes of PARAMS, all records together */
#define UM_FCGI_PAIRS_MAX 128      /* name-value pairs, likewise */
#define UM_FCGI_BODY_MAX 4194304   /* bytes of STDIN, all records together */
#define UM_FCGI_BYTES_MAX 8388608  /* of a request, with its records */
#define UM_FCGI_LARGE_MAX 33554432 /* of STDIN, where a program takes more */

enum um_fcgi_check_state {
	UM_FCGI_CHECK_MORE,  /* valid so far, but not complete */
	UM_FCGI_CHECK_WHOLE, /* exactly one request */
	UM_FCGI_CHECK_BAD,   /* close the connection: libfcgi must not see it */
};

/* How far a request has been checked; zeroed for each new one. */
struct um_fcgi_check {
	bool is_large; /* its body may have UM_FCGI_LARGE_MAX bytes */
	enum { UM_STAGE_BEGIN, UM_STAGE_PARAMS, UM_STAGE_STDIN } stage;
	size_t at;     /* bytes of the complete records so far */
	size_t params; /* bytes of PARAMS so far */
	size_t pairs;  /* in them */
	size_t head;   /* bytes of the records before STDIN; 0: not yet known */
	size_t body;   /* bytes of STDIN so far */
	uint16_t request_id;
};

/*
 * Checks the request after more of it has arrived; `bytes` is all of it, from
 * its first byte. BAD is
 * - another version, role, type or order of records, or a second request id;
 * - no PARAMS, or padding in the record that ends them;
 * - a record that its name-value pairs do not fill exactly (Apache splits them
 *   after 16 KB, but between two pairs), or a NUL in one;
 * - more than a limit above, or bytes after the end.
 */
enum um_fcgi_check_state um_fcgi_check(struct um_fcgi_check *check,
	struct um_str bytes);

/* Takes what has arrived of the body out of `bytes`, and wipes it. */
void um_fcgi_check_drop_body(struct um_fcgi_check *check, struct um_buf *bytes);

#endif
