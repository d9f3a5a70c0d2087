/* SPDX-License-Identifier: MIT */
#include "server/fastcgi.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <fcgiapp.h>

#include "server/fcgi_check.h"

#define READ_LEN 8192
#define FEED_LEN UM_FCGI_BYTES_MAX
#define FEED_KEPT 65536 /* of it, memory that stays after a request */

struct um_fastcgi {
	int fd;
	bool keep;           /* the web server keeps the connection */
	bool under_way;      /* libfcgi holds a request */
	struct um_buf bytes; /* of the request that is coming */
	struct um_fcgi_check scan;
	struct um_buf body;
	FCGX_Request request;
};

/*
 * libfcgi reads a request by blocking on its descriptor. It gets a file in
 * memory that ends with the whole request, and the connection only to answer
 * on: so it never waits, and never sees what the gate has not let through.
 */
static struct {
	int fd;
	char *end; /* of the file as it is mapped */
} feeder = { .fd = -1 };

static bool
feeder_open(void)
{
	char *map;

	feeder.fd = memfd_create("urlmode request", MFD_CLOEXEC);
	if (feeder.fd < 0)
		return false;
	map = ftruncate(feeder.fd, FEED_LEN) == 0 ? mmap(NULL, FEED_LEN,
		      PROT_READ | PROT_WRITE, MAP_SHARED, feeder.fd, 0)
						  : MAP_FAILED;
	if (map == MAP_FAILED) {
		close(feeder.fd);
		feeder.fd = -1;
		return false;
	}
	feeder.end = map + FEED_LEN;
	return true;
}

/* libfcgi closes the descriptor when it cannot read the request. */
static void
feeder_lost(void)
{
	munmap(feeder.end - FEED_LEN, FEED_LEN);
	feeder.fd = -1;
}

static bool
feed(const struct um_buf *bytes)
{
	if (feeder.fd < 0 && !feeder_open())
		return false;
	memcpy(feeder.end - bytes->len, bytes->ptr, bytes->len);
	return lseek(feeder.fd, FEED_LEN - (off_t)bytes->len, SEEK_SET) >= 0;
}

/* A code does not stay behind in it, nor the memory of a large body. */
static void
feeder_wipe(size_t len)
{
	explicit_bzero(feeder.end - len, len);
	if (len > FEED_KEPT)
		madvise(feeder.end - FEED_LEN, FEED_LEN - FEED_KEPT,
			MADV_REMOVE);
}

bool
um_fastcgi_init(struct um_error *err)
{
	/* Its close would wait up to two seconds for the peer's. */
	setenv("LIBFCGI_OS_CLOSE_POLL_TIMEOUT", "0", 1);
	if (FCGX_Init() != 0)
		return um_error(err, "FCGX_Init failed");
	if (!feeder_open())
		return um_error(err, "memfd_create: %s", strerror(errno));
	return true;
}

struct um_fastcgi *
um_fastcgi_new(int fd)
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
	return fc;
}

int
um_fastcgi_fd(const struct um_fastcgi *fc)
{
	return fc->fd;
}

/* Hands the whole request to libfcgi, and reads its body. */
static bool
take_request(struct um_fastcgi *fc)
{
	char chunk[READ_LEN];
	bool whole;
	int n;

	if (!feed(&fc->bytes))
		return false;
	fc->request.ipcFd = feeder.fd;
	fc->request.keepConnection = 1; /* or it would close it now */
	if (FCGX_Accept_r(&fc->request) < 0) {
		feeder_lost();
		return false;
	}
	fc->under_way = true;
	fc->keep = fc->request.keepConnection != 0;
	fc->request.keepConnection = 1; /* closing is done here */
	um_buf_reserve(&fc->body, fc->scan.body);
	while ((n = FCGX_GetStr(chunk, sizeof(chunk), fc->request.in)) > 0)
		um_buf_put(&fc->body, chunk, (size_t)n);
	fc->request.ipcFd = fc->fd;
	feeder_wipe(fc->bytes.len);
	explicit_bzero(chunk,
		fc->body.len < sizeof(chunk) ? fc->body.len : sizeof(chunk));

	if (fc->bytes.cap > 4 * (size_t)READ_LEN)
		um_buf_free(&fc->bytes);
	um_buf_clear(&fc->bytes);
	whole = !fc->body.failed && fc->body.len == fc->scan.body;
	fc->scan = (struct um_fcgi_check){ 0 };
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
		switch (um_fcgi_check(&fc->scan, um_buf_str(&fc->bytes))) {
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

/* FCGX_GetParam() compares far more of each: this is asked a dozen times. */
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

/* Ends libfcgi's request; false: it has closed the descriptor on an error. */
static bool
finish(struct um_fastcgi *fc)
{
	/* libfcgi frees them as they are, the query with its code among them. */
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
		/* Nothing is answered: the web server sees the connection end. */
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
