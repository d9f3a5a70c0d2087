/* SPDX-License-Identifier: MIT */
/* A response in CGI's form (RFC 3875 section 6). */
#ifndef UM_RESPONSE_H
#define UM_RESPONSE_H

#include "core/str.h"
#include "http/request.h"

#define UM_RETRY_AFTER "3" /* seconds, with a 503 */

/* Zeroed to begin with. */
struct um_response {
	int status;
	const char *content_type; /* NULL: text/html */
	struct um_buf headers;    /* complete lines, each with CRLF */
	struct um_buf body;
};

/*
 * Appends a header. A CR, LF or NUL in its value fails response->headers, and
 * with it um_response_write().
 */
void um_response_header(struct um_response *response, const char *name,
	struct um_str value);

/* 303 See Other (RFC 9110 section 15.4.4). */
void um_response_redirect(struct um_response *response, struct um_str url);

/*
 * Sets or renews a cookie: host-only, Secure, HttpOnly, for `max_age` seconds;
 * 0 deletes it. `same_site` is "Lax", or "None" for a cookie that another
 * site's form brings along. A CR, LF, NUL or semicolon in its value fails
 * response->headers.
 */
void um_response_cookie(struct um_response *response, const char *name,
	struct um_str value, int64_t max_age, const char *same_site);

/* The same for the addresses that begin with a path; the others have "/". */
void um_response_cookie_of(struct um_response *response, const char *path,
	const char *name, struct um_str value, int64_t max_age,
	const char *same_site);

/*
 * Appends the complete response, with the headers that every response has, and
 * without the body if the method is HEAD. Sets out->failed if a part of the
 * response has failed.
 */
void um_response_write(const struct um_response *response,
	const struct um_request *request, struct um_buf *out);

/* Frees the buffers; the response is zeroed and usable again. */
void um_response_free(struct um_response *response);

#endif
