/* SPDX-License-Identifier: MIT */
#include "server/fastcgi.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <fcgiapp.h>

#define READ_LEN 8192

/* Records of a response (FastCGI specification 1.0, sections 3.3 and 5). */
#define RECORD_MAX 65528 /* bytes of content, which need no padding */
enum type { END_REQUEST = 3, STDOUT = 6 };

struct um_fastcgi {
	int fd;
	bool keep;           /* the web server keeps the connection */
	bool under_way;      /* libfcgi holds a request */
	bool is_dropped;     /* there is no room for the body */
	struct um_buf bytes; /* of the request that is arriving */
	struct um_fcgi_check check;
	struct um_buf body;
	struct um_buf records; /* of the response that is being sent */
	size_t sent;           /* bytes of them */
	struct um_memfile *file;
	struct um_fastcgi_room *room;
	size_t held; /* bytes that are counted there */
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
um_fastcgi_new(int fd, struct um_memfile *file, struct um_fastcgi_room *room)
{
	struct um_fastcgi *fc = calloc(1, sizeof(*fc));

	if (fc == NULL || FCGX_InitRequest(&fc->request, -1, 0) != 0) {
		free(fc);
		close(fd);
		return NULL;
	}
	fc->fd = fd;
	fc->file = file;
	fc->room = room;
	return fc;
}

void
um_fastcgi_take_large(struct um_fastcgi *fc)
{
	fc->check.is_large = true;
}

/* How many of its bytes count, if it holds `len`. */
static size_t
counted(const struct um_fastcgi *fc, size_t len)
{
	return len > fc->room->small ? len : 0;
}

/* It holds `len` bytes from now on. */
static void
hold(struct um_fastcgi *fc, size_t len)
{
	fc->room->used += counted(fc, len) - fc->held;
	fc->held = counted(fc, len);
}

/*
 * Whether it could hold `len` bytes in place of what it holds. What does not count
 * has room also when others hold more than there is.
 */
static bool
has_room(const struct um_fastcgi *fc, size_t len)
{
	return counted(fc, len) == 0
		|| fc->room->used - fc->held + len <= fc->room->max;
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
	if (!fc->is_dropped)
		um_buf_reserve(&fc->body, fc->check.body);
	while ((n = FCGX_GetStr(chunk, sizeof(chunk), fc->request.in)) > 0)
		um_buf_put(&fc->body, chunk, (size_t)n);
	fc->request.ipcFd = -1;
	um_memfile_wipe(fc->file, fc->bytes.len);
	wipe_stream(fc->request.in, fc->bytes.len);
	explicit_bzero(chunk,
		fc->body.len < sizeof(chunk) ? fc->body.len : sizeof(chunk));

	if (fc->bytes.cap > 4 * (size_t)READ_LEN)
		um_buf_free(&fc->bytes);
	um_buf_clear(&fc->bytes);
	if (fc->is_dropped)
		um_buf_free(&fc->body);
	whole = fc->is_dropped
		|| (!fc->body.failed && fc->body.len == fc->check.body);
	fc->check = (struct um_fcgi_check){ .is_large = fc->check.is_large };
	hold(fc, fc->body.len);
	return whole;
}

/* What has arrived stays, or if there is no room for that, not its body. */
static void
keep_bytes(struct um_fastcgi *fc)
{
	fc->is_dropped |= !has_room(fc, fc->bytes.len);
	if (fc->is_dropped)
		um_fcgi_check_drop_body(&fc->check, &fc->bytes);
	hold(fc, fc->bytes.len);
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
			keep_bytes(fc);
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

bool
um_fastcgi_is_dropped(const struct um_fastcgi *fc)
{
	return fc->is_dropped;
}

void
um_fastcgi_free_body(struct um_fastcgi *fc)
{
	um_buf_free(&fc->body);
}

void
um_fastcgi_forget_body(struct um_fastcgi *fc)
{
	um_fastcgi_free_body(fc);
	hold(fc, 0);
}

/* Ends libfcgi's request, which has not seen the connection. */
static void
finish(struct um_fastcgi *fc)
{
	/* libfcgi does not wipe them, and a code may be in the query. */
	for (char **env = fc->request.envp; env != NULL && *env != NULL; env++)
		explicit_bzero(*env, strlen(*env));
	FCGX_Free(&fc->request, 0);
	fc->under_way = false;
	fc->is_dropped = false;
	um_fastcgi_forget_body(fc);
}

static void
put_record(struct um_fastcgi *fc, enum type type, struct um_str content)
{
	const unsigned id = (unsigned)fc->request.requestId;
	const uint8_t header[] = { 1, (uint8_t)type, (uint8_t)(id >> 8),
		(uint8_t)id, (uint8_t)(content.len >> 8), (uint8_t)content.len,
		0, 0 };

	um_buf_put(&fc->records, header, sizeof(header));
	um_buf_put(&fc->records, content.ptr, content.len);
}

/* The response as records; its end is the status of a complete request. */
static void
put_records(struct um_fastcgi *fc, struct um_str bytes)
{
	static const char complete[8] = { 0 };
	size_t headers = 3 + bytes.len / RECORD_MAX;

	um_buf_reserve(&fc->records,
		bytes.len + headers * 8 + sizeof(complete));
	while (bytes.len != 0) {
		struct um_str part = { bytes.ptr,
			bytes.len < RECORD_MAX ? bytes.len : RECORD_MAX };

		put_record(fc, STDOUT, part);
		bytes.ptr += part.len;
		bytes.len -= part.len;
	}
	put_record(fc, STDOUT, um_str(""));
	put_record(fc, END_REQUEST,
		(struct um_str){ complete, sizeof(complete) });
}

bool
um_fastcgi_has_room(const struct um_fastcgi *fc, size_t len)
{
	return has_room(fc, len);
}

enum um_fastcgi_sent
um_fastcgi_answer(struct um_fastcgi *fc, struct um_str bytes, bool last)
{
	fc->keep &= !last;
	put_records(fc, bytes);
	finish(fc);
	if (fc->records.failed)
		return UM_FASTCGI_LAST;
	return um_fastcgi_send(fc);
}

enum um_fastcgi_sent
um_fastcgi_send(struct um_fastcgi *fc)
{
	while (fc->sent < fc->records.len) {
		ssize_t n = send(fc->fd, fc->records.ptr + fc->sent,
			fc->records.len - fc->sent,
			MSG_DONTWAIT | MSG_NOSIGNAL);

		if (n >= 0) {
			fc->sent += (size_t)n;
		} else if (errno == EAGAIN) {
			hold(fc, fc->records.len);
			return UM_FASTCGI_SENDING;
		} else if (errno != EINTR) {
			return UM_FASTCGI_LAST;
		}
	}
	um_buf_free(&fc->records);
	fc->sent = 0;
	hold(fc, 0);
	return fc->keep ? UM_FASTCGI_SENT : UM_FASTCGI_LAST;
}

void
um_fastcgi_free(struct um_fastcgi *fc)
{
	if (fc == NULL)
		return;
	if (fc->under_way)
		finish(fc);
	hold(fc, 0);
	close(fc->fd);
	um_buf_free(&fc->bytes);
	um_buf_free(&fc->body);
	um_buf_free(&fc->records);
	free(fc);
}
