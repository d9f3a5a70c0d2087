/* SPDX-License-Identifier: MIT */
/* A request as CGI hands it over (RFC 3875), and the answer to it. */
#ifndef UM_HTTP_H
#define UM_HTTP_H

#include "core/str.h"
#include "http/refusal.h"

#define UM_QUERY_MAX 8192            /* bytes of a query string */
#define UM_BODY_MAX 16384            /* bytes of a posted form */
#define UM_DELIVERY_BODY_MAX 1048576 /* bytes of a delivery to a webhook */
#define UM_HEADER_NAME_MAX 64 /* characters of a header that is asked for */
#define UM_REQUEST_ID_LEN 32  /* lower-case hexadecimal digits */
#define UM_RETRY_AFTER 3      /* seconds, with a 503 */
#define UM_COOKIE_NAME "__Host-urlmode"

enum um_method { UM_GET, UM_HEAD, UM_POST, UM_OTHER_METHOD };

/* Everything points into memory of the connection. */
struct um_request {
	enum um_method method;
	bool prefetch; /* a browser that only looks ahead: nothing may change */
	bool body_too_large; /* the body was over the limit, and not read */
	struct um_str path;  /* SCRIPT_NAME and PATH_INFO */
	struct um_str query;
	struct um_str content_type;
	struct um_str cookie; /* the whole header */
	struct um_str body;
	char id[UM_REQUEST_ID_LEN + 1];
	/* Any other meta-variable. */
	const char *(*get)(const char *name, void *arg);
	void *get_arg;
};

/*
 * Fills *request from CGI meta-variables: `get(name, arg)` answers the value
 * or NULL. The path is put together in `path`, which must outlive it. The
 * body and the id are left to the caller.
 */
void um_request_read(struct um_request *request, struct um_buf *path,
	const char *(*get)(const char *name, void *arg), void *arg);

/* A request header by its name in HTTP, or NULL; `request` is void for callbacks. */
const char *um_request_header(const char *name, void *request);

/* Whether the body says that it is application/x-www-form-urlencoded. */
bool um_request_is_form(const struct um_request *request);

/* Zeroed to begin with. */
struct um_response {
	int status;
	const char *content_type; /* NULL: text/html */
	const char *allow;        /* for 405 */
	struct um_buf headers;    /* whole lines, each with CRLF */
	struct um_buf body;
};

/* A header whose value is ours; a CR, LF or NUL in it fails the buffer. */
void um_response_header(struct um_response *response, const char *name,
	const char *value);

/* 303 See Other (RFC 9110 section 15.4.4). */
void um_response_redirect(struct um_response *response, struct um_str url);

/*
 * Sets or renews a cookie: host only, Secure, HttpOnly, SameSite=Lax. A CR,
 * LF or semicolon in its value fails the buffer.
 */
void um_response_cookie(struct um_response *response, const char *name,
	const char *value, int max_age);

/*
 * The whole answer in the form of RFC 3875 section 6, with the headers that
 * every answer has; to HEAD without the body.
 */
void um_response_write(const struct um_response *response,
	const struct um_request *request, struct um_buf *out);

void um_response_free(struct um_response *response);

#endif
