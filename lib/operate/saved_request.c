/* SPDX-License-Identifier: MIT */
#include "operate/saved_request.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/file.h"

void
um_saved_request_free(struct um_saved_request *request)
{
	for (size_t i = 0; i < request->len; i++) {
		free(request->header[i].name);
		free(request->header[i].value);
	}
	um_buf_free(&request->file);
	um_buf_free(&request->own_line);
	um_buf_free(&request->own_body);
	*request = (struct um_saved_request){ 0 };
}

/* The next line, without its end. */
static struct um_str
take_line(struct um_str *rest)
{
	const char *end = rest->len != 0 ? memchr(rest->ptr, '\n', rest->len)
					 : NULL;
	struct um_str line = { rest->ptr,
		end != NULL ? (size_t)(end - rest->ptr) : rest->len };
	size_t used = line.len + (end != NULL);

	rest->ptr += used;
	rest->len -= used;
	if (line.len != 0 && line.ptr[line.len - 1] == '\r')
		line.len--;
	return line;
}

static void
read_first_line(struct um_saved_request *request, struct um_str line)
{
	struct um_str rest = line;

	request->line = line;
	request->is_get = line.len > 4 && memcmp(line.ptr, "GET ", 4) == 0;
	um_str_cut(&rest, "?");
	request->query = um_str_cut(&rest, " ");
}

bool
um_saved_request_set(struct um_saved_request *request, const char *name,
	struct um_str value)
{
	size_t i = 0;
	char *copy = strndup(value.len != 0 ? value.ptr : "", value.len);

	while (i < request->len
		&& strcasecmp(request->header[i].name, name) != 0)
		i++;
	if (copy != NULL && i == request->len && i < UM_SAVED_HEADERS_MAX) {
		request->header[i].name = strdup(name);
		request->len += request->header[i].name != NULL;
	}
	if (copy == NULL || i == request->len) {
		free(copy);
		return false;
	}
	free(request->header[i].value);
	request->header[i].value = copy;
	return true;
}

/* Takes over what was made in place of what *own has. */
static bool
take(struct um_buf *own, struct um_buf *made)
{
	bool ok = !made->failed;
	struct um_buf old = ok ? *own : *made;

	if (ok)
		*own = *made;
	um_buf_free(&old);
	*made = (struct um_buf){ 0 };
	return ok;
}

bool
um_saved_request_take_body(struct um_saved_request *request,
	struct um_buf *body)
{
	bool ok = take(&request->own_body, body);

	if (ok)
		request->body = um_buf_str(&request->own_body);
	return ok;
}

/* Writes the first line again. */
bool
um_saved_request_take_query(struct um_saved_request *request,
	struct um_buf *query)
{
	struct um_str rest = request->line, method, target;
	struct um_buf line = { 0 };
	bool ok;

	if (rest.len == 0)
		rest = um_str("POST / HTTP/1.1");
	method = um_str_cut(&rest, " ");
	target = um_str_cut(&rest, " ");
	target = um_str_cut(&target, "?");
	um_buf_put(&line, method.ptr, method.len);
	um_buf_puts(&line, " ");
	um_buf_put(&line, target.ptr, target.len);
	um_buf_puts(&line, "?");
	um_buf_put(&line, query->ptr, query->len);
	um_buf_puts(&line, " ");
	um_buf_put(&line, rest.ptr, rest.len);
	um_buf_free(query);
	ok = take(&request->own_line, &line);
	if (ok)
		read_first_line(request, um_buf_str(&request->own_line));
	return ok;
}

static bool
read_header(struct um_saved_request *request, struct um_str line)
{
	struct um_str name = um_str_cut(&line, ":");
	char *text = strndup(name.ptr, name.len);
	bool ok = line.ptr != NULL && name.len != 0 && text != NULL
		&& um_saved_request_set(request, text, um_str_trim(line));

	free(text);
	return ok;
}

bool
um_saved_request_read(struct um_saved_request *request, const char *path,
	struct um_error *err)
{
	struct um_str rest;

	if (!um_file_read(&request->file, path, UM_SAVED_FILE_MAX, err))
		return false;
	rest = um_buf_str(&request->file);
	for (size_t number = 1; rest.len != 0; number++) {
		struct um_str line = take_line(&rest);

		request->has_body = line.len == 0;
		if (line.len == 0)
			break;
		if (number == 1 && memchr(line.ptr, ' ', line.len) != NULL
			&& memchr(line.ptr, '/', line.len) != NULL
			&& strcspn(line.ptr, ": ") < line.len
			&& line.ptr[strcspn(line.ptr, ": ")] == ' ')
			read_first_line(request, line);
		else if (line.ptr[0] == '{' || line.ptr[0] == '[')
			return um_error(err,
				"%s:%zu: is the body: an empty line must stand "
				"before it, and the headers before that",
				path, number);
		else if (!read_header(request, line))
			return um_error(err,
				"%s:%zu: is not `Name: value`; an empty line "
				"ends the headers",
				path, number);
	}
	request->body = rest;
	return true;
}

const char *
um_saved_request_header(const char *name, void *arg)
{
	const struct um_saved_request *request = arg;

	for (size_t i = 0; i < request->len; i++)
		if (strcasecmp(request->header[i].name, name) == 0)
			return request->header[i].value;
	return NULL;
}

void
um_saved_request_put(const struct um_saved_request *request, struct um_buf *out)
{
	if (request->line.len != 0) {
		um_buf_put(out, request->line.ptr, request->line.len);
		um_buf_puts(out, "\n");
	}
	for (size_t i = 0; i < request->len; i++)
		um_buf_cat(out, request->header[i].name, ": ",
			request->header[i].value, "\n");
	um_buf_puts(out, "\n");
	um_buf_put(out, request->body.ptr, request->body.len);
}
