/* SPDX-License-Identifier: MIT */
#include "http/http.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "http/form.h"

#define HEADERS_LEN 512 /* of those that every response has, roughly */

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

/* Sec-Purpose (Fetch section 2.2.6), and what browsers sent before it. */
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

void
um_request_read(struct um_request *request, struct um_buf *path,
	const char *(*get)(const char *name, void *arg), void *arg)
{
	struct um_str script = um_str(get("SCRIPT_NAME", arg));
	struct um_str info = um_str(get("PATH_INFO", arg));

	*request = (struct um_request){
		.method = method_of(get("REQUEST_METHOD", arg)),
		.prefetch = is_prefetch(get, arg),
		.query = um_str(get("QUERY_STRING", arg)),
		.content_type = um_str(get("CONTENT_TYPE", arg)),
		.cookie = um_str(get("HTTP_COOKIE", arg)),
		.get = get,
		.get_arg = arg,
	};
	um_buf_put(path, script.ptr, script.len);
	um_buf_put(path, info.ptr, info.len);
	request->path = um_buf_str(path);
}

/* RFC 3875 section 4.1.18: HTTP_, upper case, `_` for `-`. */
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

bool
um_request_is_form(const struct um_request *request)
{
	return um_form_media_type_is(request->content_type, UM_FORM_TYPE);
}

static bool
has(struct um_str value, char byte)
{
	return value.len != 0 && memchr(value.ptr, byte, value.len) != NULL;
}

/* It would end the header, or the header would end it. */
static bool
breaks_out(struct um_str value)
{
	return has(value, '\r') || has(value, '\n') || has(value, '\0');
}

static void
add_header(struct um_buf *out, const char *name, struct um_str value)
{
	if (breaks_out(value)) {
		out->failed = true;
		return;
	}
	um_buf_puts(out, name);
	um_buf_puts(out, ": ");
	um_buf_put(out, value.ptr, value.len);
	um_buf_puts(out, "\r\n");
}

void
um_response_header(struct um_response *response, const char *name,
	const char *value)
{
	add_header(&response->headers, name, um_str(value));
}

void
um_response_redirect(struct um_response *response, struct um_str url)
{
	response->status = 303;
	add_header(&response->headers, "Location", url);
}

void
um_response_cookie(struct um_response *response, const char *name,
	const char *value, int max_age)
{
	if (breaks_out(um_str(value)) || has(um_str(value), ';')) {
		response->headers.failed = true;
		return;
	}
	um_buf_cat(&response->headers, "Set-Cookie: ", name, "=", value,
		"; Path=/; Max-Age=");
	um_buf_int(&response->headers, max_age);
	um_buf_puts(&response->headers, "; Secure; HttpOnly; SameSite=Lax\r\n");
}

void
um_response_write(const struct um_response *response,
	const struct um_request *request, struct um_buf *out)
{
	struct um_str body = um_buf_str(&response->body);

	um_buf_reserve(out, HEADERS_LEN + response->headers.len + body.len);
	um_buf_puts(out, "Status: ");
	um_buf_int(out, response->status);
	um_buf_cat(out, "\r\nX-Request-Id: ", request->id,
		"\r\n"
		"Cache-Control: no-store\r\n"
		"Referrer-Policy: no-referrer\r\n"
		"X-Content-Type-Options: nosniff\r\n"
		"Cross-Origin-Opener-Policy: same-origin\r\n"
		"Cross-Origin-Resource-Policy: same-origin\r\n");
	if (response->allow != NULL)
		add_header(out, "Allow", um_str(response->allow));
	um_buf_put(out, response->headers.ptr, response->headers.len);
	if (body.len != 0)
		add_header(out, "Content-Type",
			um_str(response->content_type != NULL
					? response->content_type
					: "text/html; charset=utf-8"));
	um_buf_puts(out, "Content-Length: ");
	um_buf_int(out, (int64_t)body.len);
	um_buf_puts(out, "\r\n\r\n");
	if (request->method != UM_HEAD)
		um_buf_put(out, body.ptr, body.len);
	out->failed |= response->headers.failed || response->body.failed;
}

void
um_response_free(struct um_response *response)
{
	um_buf_free(&response->headers);
	um_buf_free(&response->body);
	*response = (struct um_response){ 0 };
}
