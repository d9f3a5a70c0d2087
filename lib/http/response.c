/* SPDX-License-Identifier: MIT */
#include "http/response.h"

#include <string.h>

#define HEADERS_LEN 512 /* about what the headers of every response take */

static bool
has(struct um_str value, char byte)
{
	return value.len != 0 && memchr(value.ptr, byte, value.len) != NULL;
}

/* Whether the value would end its header line (response splitting). */
static bool
splits_header(struct um_str value)
{
	return has(value, '\r') || has(value, '\n') || has(value, '\0');
}

static void
add_header(struct um_buf *out, const char *name, struct um_str value)
{
	if (splits_header(value)) {
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
	struct um_str value)
{
	add_header(&response->headers, name, value);
}

void
um_response_redirect(struct um_response *response, struct um_str url)
{
	response->status = 303;
	add_header(&response->headers, "Location", url);
}

void
um_response_cookie(struct um_response *response, const char *name,
	struct um_str value, int64_t max_age, const char *same_site)
{
	um_response_cookie_of(response, "/", name, value, max_age, same_site);
}

void
um_response_cookie_of(struct um_response *response, const char *path,
	const char *name, struct um_str value, int64_t max_age,
	const char *same_site)
{
	if (splits_header(value) || has(value, ';')) {
		response->headers.failed = true;
		return;
	}
	um_buf_cat(&response->headers, "Set-Cookie: ", name, "=");
	um_buf_put(&response->headers, value.ptr, value.len);
	um_buf_cat(&response->headers, "; Path=", path, "; Max-Age=");
	um_buf_int(&response->headers, max_age);
	um_buf_cat(&response->headers,
		"; Secure; HttpOnly; SameSite=", same_site, "\r\n");
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
