/* SPDX-License-Identifier: MIT */
#include "server/fastcgi.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <fcgiapp.h>

#define READ_LEN 8192

struct um_fastcgi {
	int fd;
	bool keep;           /* the web server keeps the connection */
	bool under_way;      /* libfcgi holds a request */
	struct um_buf bytes; /* of the request that is arriving */
	struct um_fcgi_check check;
	struct um_buf body;
	struct um_memfile *file;
	FCGX_Request request;
};

/*
 * The first members of the structure behind FCGX_Stream.data: the buffer into
 * which libfcgi reads. They have been the same since its first version.
 */
struct stream_data {
	unsigned char *buff;
	int bufflen;
};

bool
um_fastcgi_init(struct um_error *err)
{
	/* Else libfcgi waits up to two seconds for the peer to close first. */
	setenv("LIBFCGI_OS_CLOSE_POLL_TIMEOUT", "0", 1);
	if (FCGX_Init() != 0)
		return um_error(err, "FCGX_Init failed");
	return true;
}

struct um_fastcgi *
um_fastcgi_new(int fd, struct um_memfile *file)
{
	struct timeval limit = { .tv_sec = UM_FASTCGI_WRITE_MS / 1000 };
	struct um_fastcgi *fc = calloc(1, sizeof(*fc));

	if (fc == NULL || FCGX_InitRequest(&fc->request, -1, 0) != 0) {
		free(fc);
		close(fd);
		return NULL;
	}
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
	fc->fd = fd;
	fc->file = file;
	return fc;
}

void
um_fastcgi_take_large(struct um_fastcgi *fc)
{
	fc->check.is_large = true;
}

int
um_fastcgi_fd(const struct um_fastcgi *fc)
{
	return fc->fd;
}

/*
 * libfcgi frees the buffer of its stream without wiping the `len` bytes in it.
 */
static void
wipe_stream(const FCGX_Stream *stream, size_t len)
{
	const struct stream_data *data = stream->data;
	size_t size = (size_t)data->bufflen;

	explicit_bzero(data->buff, len < size ? len : size);
}

/* Hands the complete request to libfcgi, and reads its body. */
static bool
take_request(struct um_fastcgi *fc)
{
	char chunk[READ_LEN];
	bool whole;
	int n;

	fc->request.ipcFd = um_memfile_put(fc->file, um_buf_str(&fc->bytes));
	if (fc->request.ipcFd < 0)
		return false;
	fc->request.keepConnection = 1; /* else libfcgi closes it now */
	if (FCGX_Accept_r(&fc->request) < 0) {
		um_memfile_closed(fc->file);
		return false;
	}
	fc->under_way = true;
	fc->keep = fc->request.keepConnection != 0;
	fc->request.keepConnection = 1; /* we close it */
	um_buf_reserve(&fc->body, fc->check.body);
	while ((n = FCGX_GetStr(chunk, sizeof(chunk), fc->request.in)) > 0)
		um_buf_put(&fc->body, chunk, (size_t)n);
	fc->request.ipcFd = fc->fd;
	um_memfile_wipe(fc->file, fc->bytes.len);
	wipe_stream(fc->request.in, fc->bytes.len);
	explicit_bzero(chunk,
		fc->body.len < sizeof(chunk) ? fc->body.len : sizeof(chunk));

	if (fc->bytes.cap > 4 * (size_t)READ_LEN)
		um_buf_free(&fc->bytes);
	um_buf_clear(&fc->bytes);
	whole = !fc->body.failed && fc->body.len == fc->check.body;
	fc->check = (struct um_fcgi_check){ .is_large = fc->check.is_large };
	return whole;
}

enum um_fastcgi_state
um_fastcgi_read(struct um_fastcgi *fc)
{
	char chunk[READ_LEN];

	for (;;) {
		ssize_t n = recv(fc->fd, chunk, sizeof(chunk), MSG_DONTWAIT);

		if (n < 0)
			return errno == EAGAIN || errno == EINTR
				? UM_FASTCGI_MORE
				: UM_FASTCGI_CLOSED;
		if (n == 0)
			return UM_FASTCGI_CLOSED;
		um_buf_put(&fc->bytes, chunk, (size_t)n);
		explicit_bzero(chunk, (size_t)n);
		if (fc->bytes.failed)
			return UM_FASTCGI_CLOSED;
		switch (um_fcgi_check(&fc->check, um_buf_str(&fc->bytes))) {
		case UM_FCGI_CHECK_WHOLE:
			return take_request(fc) ? UM_FASTCGI_REQUEST
						: UM_FASTCGI_CLOSED;
		case UM_FCGI_CHECK_BAD:
			return UM_FASTCGI_CLOSED;
		case UM_FCGI_CHECK_MORE:
			if ((size_t)n < sizeof(chunk))
				return UM_FASTCGI_MORE;
		}
	}
}

bool
um_fastcgi_is_partial(const struct um_fastcgi *fc)
{
	return fc->bytes.len != 0;
}

/* Faster than FCGX_GetParam(): a request asks for a dozen parameters. */
const char *
um_fastcgi_param(const char *name, void *fc)
{
	struct um_fastcgi *connection = fc;
	size_t len = strlen(name);

	for (char **env = connection->request.envp; env != NULL && *env != NULL;
		env++)
		if ((*env)[0] == name[0] && strncmp(*env, name, len) == 0
			&& (*env)[len] == '=')
			return *env + len + 1;
	return NULL;
}

struct um_str
um_fastcgi_body(const struct um_fastcgi *fc)
{
	return um_buf_str(&fc->body);
}

/* Ends libfcgi's request; false: an error has closed the descriptor. */
static bool
finish(struct um_fastcgi *fc)
{
	/* libfcgi does not wipe them, and a code may be in the query. */
	for (char **env = fc->request.envp; env != NULL && *env != NULL; env++)
		explicit_bzero(*env, strlen(*env));
	FCGX_Finish_r(&fc->request);
	fc->under_way = false;
	um_buf_free(&fc->body);
	if (fc->request.ipcFd < 0)
		fc->fd = -1;
	fc->request.ipcFd = -1;
	return fc->fd >= 0;
}

bool
um_fastcgi_answer(struct um_fastcgi *fc, struct um_str bytes, bool last)
{
	if (bytes.len <= INT_MAX)
		FCGX_PutStr(bytes.ptr, (int)bytes.len, fc->request.out);
	return finish(fc) && fc->keep && !last;
}

void
um_fastcgi_free(struct um_fastcgi *fc)
{
	if (fc == NULL)
		return;
	if (fc->under_way) {
		/* No response: the web server sees the connection end. */
		fc->request.keepConnection = 1;
		shutdown(fc->fd, SHUT_RDWR);
		finish(fc);
	}
	if (fc->fd >= 0)
		close(fc->fd);
	um_buf_free(&fc->bytes);
	um_buf_free(&fc->body);
	free(fc);
}
