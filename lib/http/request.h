/* SPDX-License-Identifier: MIT */
/* A request as CGI hands it over (RFC 3875 section 4). */
#ifndef UM_REQUEST_H
#define UM_REQUEST_H

#include "contract/limits.h"
#include "core/str.h"

#define UM_QUERY_MAX 16384    /* bytes of a query string: of a form, at times */
#define UM_BODY_MAX 16384     /* bytes of a posted form */
#define UM_HEADER_NAME_MAX 64 /* characters of a header that is asked for */
#define UM_REQUEST_ID_LEN 32  /* lower-case hexadecimal digits */
#define UM_TRACEPARENT_LEN 55 /* W3C Trace Context section 3.2 */

enum um_method { UM_GET, UM_HEAD, UM_POST, UM_OTHER_METHOD };

/* Every pointer is into memory of the connection. */
struct um_request {
	enum um_method method;
	bool prefetch;       /* the browser loads a page in advance */
	bool body_too_large; /* the body was over the limit and was not read */
	bool body_dropped;   /* there was no room for it */
	struct um_str path;  /* as the client sent it, without the query */
	struct um_str query;
	struct um_str content_type;
	struct um_str cookie; /* the whole header */
	struct um_str body;
	char id[UM_REQUEST_ID_LEN + 1];
	char traceparent[UM_TRACEPARENT_LEN + 1]; /* or "" */
	/* Returns any other meta-variable, or NULL. */
	const char *(*get)(const char *name, void *arg);
	void *get_arg;
};

/*
 * Fills *request from CGI meta-variables: `get(name, arg)` returns the value
 * or NULL. The path is that of REQUEST_URI where there is one, neither decoded
 * nor resolved, and otherwise SCRIPT_NAME and PATH_INFO. It is put into `path`,
 * which must live as long as the request. A traceparent that is not exactly of
 * version 00 (W3C Trace Context section 3.2) is left out. The caller sets the
 * body and the id.
 */
void um_request_read(struct um_request *request, struct um_buf *path,
	const char *(*get)(const char *name, void *arg), void *arg);

/* Whether it is of version 00 (W3C Trace Context section 3.2). */
bool um_request_is_traceparent(struct um_str text);

enum um_content_length {
	UM_CONTENT_LENGTH_UNKNOWN, /* chunked, or no body */
	UM_CONTENT_LENGTH_KNOWN,
	UM_CONTENT_LENGTH_MALFORMED, /* Caddy says -1 for a chunked body */
};

/*
 * Reads CONTENT_LENGTH. KNOWN: sets *len, to ULLONG_MAX if the number is
 * larger.
 */
enum um_content_length
um_request_content_length(const struct um_request *request,
	unsigned long long *len);

/*
 * The value of a request header, by its name in HTTP, or NULL. `request` is a
 * struct um_request; it is void so that this function can be a callback.
 */
const char *um_request_header(const char *name, void *request);

/*
 * Whether the environment of this process is that of a CGI request. Its
 * arguments may then come from a browser: a web server passes a query without
 * `=` as arguments (RFC 3875 section 4.4).
 */
bool um_request_in_environment(void);

/* Whether the body is declared as application/x-www-form-urlencoded. */
bool um_request_is_form(const struct um_request *request);

#endif
