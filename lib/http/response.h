/* SPDX-License-Identifier: MIT */
/* A response as CGI takes it back (RFC 3875 section 6). */
#ifndef UM_RESPONSE_H
#define UM_RESPONSE_H

#include "core/str.h"
#include "http/request.h"

#define UM_RETRY_AFTER "3" /* seconds, with a 503 */
#define UM_COOKIE_NAME "__Host-urlmode"

/* Zeroed to begin with. */
struct um_response {
	int status;
	const char *content_type; /* NULL: text/html */
	const char *allow;        /* the header Allow of a 405, or NULL */
	struct um_buf headers;    /* complete lines, each with CRLF */
	struct um_buf body;
};

/*
 * Appends a header. A CR, LF or NUL in its value fails response->headers, and
 * with it um_response_write().
 */
void um_response_header(struct um_response *response, const char *name,
	const char *value);

/* 303 See Other (RFC 9110 section 15.4.4). */
void um_response_redirect(struct um_response *response, struct um_str url);

/*
 * Sets or renews a cookie: host-only, Secure, HttpOnly, SameSite=Lax, for
 * `max_age` seconds. A CR, LF, NUL or semicolon in its value fails
 * response->headers.
 */
void um_response_cookie(struct um_response *response, const char *name,
	const char *value, int max_age);

/*
 * Appends the complete response, with the headers that every response has;
 * without the body if the method is HEAD. out->failed is set when a part of
 * the response has failed.
 */
void um_response_write(const struct um_response *response,
	const struct um_request *request, struct um_buf *out);

/* Frees the buffers; the response is zeroed and usable again. */
void um_response_free(struct um_response *response);

#endif
