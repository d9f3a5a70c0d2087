/* SPDX-License-Identifier: MIT */
#include "operate/ask_program.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <fastcgi.h>
#include <openssl/rand.h>

#include "core/encode.h"
#include "core/file.h"
#include "operate/query.h"

#define REQUEST_MAX 65536
#define RECORD_MAX 65535
#define VARIABLE_MAX 64
#define TIMEOUT_S 10

static void
put_len(struct um_buf *out, size_t len)
{
	const char bytes[4] = { (char)(0x80 | len >> 24), (char)(len >> 16),
		(char)(len >> 8), (char)len };

	if (len < 128)
		um_buf_put(out, bytes + 3, 1);
	else
		um_buf_put(out, bytes, sizeof(bytes));
}

static void
put_param(struct um_buf *out, const char *name, struct um_str value)
{
	put_len(out, strlen(name));
	put_len(out, value.len);
	um_buf_puts(out, name);
	um_buf_put(out, value.ptr, value.len);
}

/* A header's name as RFC 3875 section 4.1.18 says. */
static void
name_variable(char variable[static VARIABLE_MAX], struct um_str name)
{
	static const char prefix[] = "HTTP_";
	size_t len = strlen(prefix);

	memcpy(variable, prefix, len);
	for (size_t i = 0; i < name.len && len < VARIABLE_MAX - 1; i++) {
		char c = (char)toupper((unsigned char)name.ptr[i]);

		variable[len++] = (char)(c == '-' ? '_' : c);
	}
	variable[len] = '\0';
}

static void
put_header(struct um_buf *out, struct um_str name, struct um_str value)
{
	char variable[VARIABLE_MAX];
	bool is_content;

	while (value.len != 0 && value.ptr[0] == ' ')
		value = (struct um_str){ value.ptr + 1, value.len - 1 };
	name_variable(variable, name);
	is_content = strcmp(variable, "HTTP_CONTENT_TYPE") == 0
		|| strcmp(variable, "HTTP_CONTENT_LENGTH") == 0;
	put_param(out, variable + (is_content ? strlen("HTTP_") : 0), value);
}

/* Cuts the lines from `request`, and leaves the body. */
static void
put_params(struct um_buf *out, struct um_str *request, const char *user)
{
	struct um_str line = um_str_cut(request, "\r\n");
	struct um_str method = um_str_cut(&line, " ");
	struct um_str target = um_str_cut(&line, " ");
	struct um_str path = um_str_cut(&target, "?");
	uint8_t id[16];
	char hex[2 * sizeof(id) + 1] = "";

	put_param(out, "GATEWAY_INTERFACE", um_str("CGI/1.1"));
	put_param(out, "SERVER_PROTOCOL", um_str("HTTP/1.0"));
	put_param(out, "REQUEST_METHOD", method);
	put_param(out, "SCRIPT_NAME", path);
	put_param(out, "QUERY_STRING",
		target.ptr != NULL ? target : um_str(""));
	put_param(out, "REMOTE_ADDR", um_str("127.0.0.1"));
	put_param(out, "REMOTE_USER", um_str(user));
	put_param(out, "HTTPS", um_str("on"));
	if (RAND_bytes(id, sizeof(id)) == 1)
		um_hex_encode(hex, id, sizeof(id));
	put_param(out, "URLMODE_REQUEST_ID", um_str(hex));
	while ((line = um_str_cut(request, "\r\n")).len != 0) {
		struct um_str name = um_str_cut(&line, ":");

		put_header(out, name, line.ptr != NULL ? line : um_str(""));
	}
}

static void
put_record(struct um_buf *out, uint8_t type, struct um_str content)
{
	const char head[FCGI_HEADER_LEN] = { FCGI_VERSION_1, (char)type, 0, 1,
		(char)(content.len >> 8), (char)content.len, 0, 0 };

	um_buf_put(out, head, sizeof(head));
	um_buf_put(out, content.ptr, content.len);
}

/* Records of this type, and the empty one that ends them. */
static void
put_stream(struct um_buf *out, uint8_t type, struct um_str bytes)
{
	while (bytes.len != 0) {
		size_t len = bytes.len < RECORD_MAX ? bytes.len : RECORD_MAX;

		put_record(out, type, (struct um_str){ bytes.ptr, len });
		bytes = (struct um_str){ bytes.ptr + len, bytes.len - len };
	}
	put_record(out, type, um_str(""));
}

static bool
put_request(struct um_buf *out, const char *user)
{
	static const char begin[] = { 0, FCGI_RESPONDER, 0, 0, 0, 0, 0, 0 };
	static char text[REQUEST_MAX];
	struct um_str request = { text, fread(text, 1, sizeof(text), stdin) };
	struct um_buf params = { 0 };

	put_params(&params, &request, user);
	put_record(out, FCGI_BEGIN_REQUEST,
		(struct um_str){ begin, sizeof(begin) });
	put_stream(out, FCGI_PARAMS, um_buf_str(&params));
	put_stream(out, FCGI_STDIN, request.ptr != NULL ? request : um_str(""));
	explicit_bzero(text, sizeof(text));
	um_buf_free(&params);
	return !out->failed;
}

static bool
read_all(int fd, char *out, size_t len)
{
	while (len != 0) {
		ssize_t n = read(fd, out, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n == 0)
			errno = ECONNRESET;
		if (n <= 0)
			return false;
		out += n;
		len -= (size_t)n;
	}
	return true;
}

/* What the program writes until it ends the request. */
static bool
read_response(int fd, struct um_buf *out)
{
	static char content[RECORD_MAX + 255];
	unsigned char head[FCGI_HEADER_LEN];

	while (read_all(fd, (char *)head, sizeof(head))) {
		size_t len = (size_t)head[4] << 8 | head[5];

		if (!read_all(fd, content, len + head[6]))
			return false;
		if (head[1] == FCGI_END_REQUEST)
			return !out->failed;
		if (head[1] == FCGI_STDOUT)
			um_buf_put(out, content, len);
	}
	return false;
}

/* `Status: 303` as the line that a web server makes of it. */
static void
print_response(struct um_str response)
{
	static const char status[] = "Status: ";
	size_t len = strlen(status);

	if (response.len > len && strncasecmp(response.ptr, status, len) == 0) {
		fputs("HTTP/1.0 ", stdout);
		response = (struct um_str){ response.ptr + len,
			response.len - len };
	} else {
		fputs("HTTP/1.0 200\n", stdout);
	}
	for (size_t i = 0; i < response.len; i++)
		if (response.ptr[i] != '\r')
			putchar(response.ptr[i]);
}

bool
um_ask_program(const char *path, const char *user, struct um_error *err)
{
	const struct timeval limit = { .tv_sec = TIMEOUT_S };
	struct um_buf request = { 0 }, response = { 0 };
	int fd = um_query_connect(path, err);
	bool ok;

	if (fd < 0)
		return false;
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
	ok = put_request(&request, user)
		&& um_file_write(fd, um_buf_str(&request))
		&& read_response(fd, &response);
	if (ok)
		print_response(um_buf_str(&response));
	else
		um_error(err, "%s: %s", path, strerror(errno));
	close(fd);
	um_buf_free(&request);
	um_buf_free(&response);
	return ok;
}
