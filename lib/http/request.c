/* SPDX-License-Identifier: MIT */
#include "http/request.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "http/form.h"
#include "http/header.h"

static enum um_method
method_of(const char *name)
{
	if (name == NULL)
		return UM_OTHER_METHOD;
	if (strcmp(name, "GET") == 0)
		return UM_GET;
	if (strcmp(name, "HEAD") == 0)
		return UM_HEAD;
	if (strcmp(name, "POST") == 0)
		return UM_POST;
	return UM_OTHER_METHOD;
}

/* Sec-Purpose (Fetch section 2.2.6) and the headers that preceded it. */
static bool
is_prefetch(const char *(*get)(const char *name, void *arg), void *arg)
{
	static const char *const names[] = {
		"HTTP_SEC_PURPOSE",
		"HTTP_PURPOSE",
		"HTTP_X_PURPOSE",
		"HTTP_X_MOZ",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const char *value = get(names[i], arg);

		if (value != NULL
			&& (strcasestr(value, "prefetch") != NULL
				|| strcasestr(value, "prerender") != NULL
				|| strcasestr(value, "preview") != NULL))
			return true;
	}
	return false;
}

/* The path of a request target, in its origin or absolute form (RFC 9112). */
static struct um_str
path_of_target(const char *target)
{
	if (strncasecmp(target, "http://", 7) == 0)
		target += 7 + strcspn(target + 7, "/?#");
	else if (strncasecmp(target, "https://", 8) == 0)
		target += 8 + strcspn(target + 8, "/?#");
	return (struct um_str){ target, strcspn(target, "?#") };
}

/*
 * The path as the client sent it. Web servers differ in how they decode and
 * resolve SCRIPT_NAME and PATH_INFO. REQUEST_URI is in no standard, but where
 * it exists it is the target as it was sent.
 */
static void
read_path(struct um_buf *path, const char *(*get)(const char *name, void *arg),
	void *arg)
{
	const char *target = get("REQUEST_URI", arg);
	struct um_str part;

	if (target != NULL && target[0] != '\0') {
		part = path_of_target(target);
		um_buf_put(path, part.ptr, part.len);
		return;
	}
	part = um_str(get("SCRIPT_NAME", arg));
	um_buf_put(path, part.ptr, part.len);
	part = um_str(get("PATH_INFO", arg));
	um_buf_put(path, part.ptr, part.len);
}

/* Lower-case hexadecimal digits, not all of them zero unless `zero`. */
static bool
is_hex(const char *text, size_t len, bool zero)
{
	return strspn(text, "0123456789abcdef") >= len
		&& (zero || strspn(text, "0") < len);
}

/* Its version, trace-id, parent-id and trace-flags. */
bool
um_request_is_traceparent(struct um_str s)
{
	char text[UM_TRACEPARENT_LEN + 1] = "";

	if (s.len != UM_TRACEPARENT_LEN)
		return false;
	memcpy(text, s.ptr, s.len);
	return memcmp(text, "00-", 3) == 0 && is_hex(text + 3, 32, false)
		&& text[35] == '-' && is_hex(text + 36, 16, false)
		&& text[52] == '-' && is_hex(text + 53, 2, true);
}

/* A header of any other form is ignored. */
static void
read_traceparent(char out[static UM_TRACEPARENT_LEN + 1], const char *text)
{
	if (um_request_is_traceparent(um_str(text)))
		memcpy(out, text, UM_TRACEPARENT_LEN + 1);
}

void
um_request_read(struct um_request *request, struct um_buf *path,
	const char *(*get)(const char *name, void *arg), void *arg)
{
	*request = (struct um_request){
		.method = method_of(get("REQUEST_METHOD", arg)),
		.prefetch = is_prefetch(get, arg),
		.query = um_str(get("QUERY_STRING", arg)),
		.content_type = um_str(get("CONTENT_TYPE", arg)),
		.cookie = um_str(get("HTTP_COOKIE", arg)),
		.get = get,
		.get_arg = arg,
	};
	read_traceparent(request->traceparent, get("HTTP_TRACEPARENT", arg));
	read_path(path, get, arg);
	request->path = um_buf_str(path);
}

enum um_content_length
um_request_content_length(const struct um_request *request,
	unsigned long long *len)
{
	const char *text = request->get("CONTENT_LENGTH", request->get_arg);

	if (text == NULL || text[0] == '\0')
		return UM_CONTENT_LENGTH_UNKNOWN;
	if (text[strspn(text, "0123456789")] != '\0')
		return UM_CONTENT_LENGTH_MALFORMED;
	*len = strtoull(text, NULL, 10);
	return UM_CONTENT_LENGTH_KNOWN;
}

/* RFC 3875 section 4.1.18: HTTP_, then upper case with `_` for `-`. */
const char *
um_request_header(const char *name, void *request)
{
	const struct um_request *r = request;
	char variable[sizeof("HTTP_") + UM_HEADER_NAME_MAX] = "HTTP_";
	char *p = variable + sizeof("HTTP_") - 1;

	if (strcasecmp(name, "Content-Type") == 0)
		return r->get("CONTENT_TYPE", r->get_arg);
	if (strlen(name) > UM_HEADER_NAME_MAX)
		return NULL;
	for (; *name != '\0'; name++) {
		int upper = toupper((unsigned char)*name);

		*p++ = (char)(upper == '-' ? '_' : upper);
	}
	*p = '\0';
	return r->get(variable, r->get_arg);
}

/* REQUEST_METHOD is in every request; fcgiwrap passes on what it was given. */
bool
um_request_in_environment(void)
{
	return getenv("REQUEST_METHOD") != NULL
		|| getenv("GATEWAY_INTERFACE") != NULL;
}

bool
um_request_is_form(const struct um_request *request)
{
	return um_media_type_is(request->content_type, UM_FORM_TYPE);
}
