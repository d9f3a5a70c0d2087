/* SPDX-License-Identifier: MIT */
/*
 * FastCGI records: the gate says the same however the bytes come, and what it
 * lets through libfcgi reads.
 */
#include "fuzz.h"

#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <fcgios.h>

#include "server/fastcgi.h"
#include "server/fcgi_check.h"

/* How the gate takes the bytes one by one, until it has made up its mind. */
static enum um_fcgi_check_state
byte_by_byte(struct um_str bytes, size_t *taken)
{
	struct um_fcgi_check scan = { 0 };
	enum um_fcgi_check_state state = UM_FCGI_CHECK_MORE;

	for (*taken = 0; *taken < bytes.len && state == UM_FCGI_CHECK_MORE;) {
		++*taken;
		state = um_fcgi_check(&scan,
			(struct um_str){ bytes.ptr, *taken });
	}
	return state;
}

static struct um_memfile *file;

static void
at_exit(void)
{
	OS_LibShutdown();
	um_memfile_free(file);
}

/* As a peer sends them: read whole, asked for things, and closed. */
static void
to_libfcgi(struct um_str bytes, bool whole)
{
	struct um_error err;
	struct um_fastcgi_room room = { .small = bytes.len % 2 != 0 ? SIZE_MAX
								    : 0 };
	struct um_fastcgi *fc;
	int pair[2];

	if (file == NULL) {
		file = um_memfile_new(UM_FASTCGI_FILE_LEN, &err);
		HOLDS(file != NULL && um_fastcgi_init(&err));
		atexit(at_exit);
	}
	HOLDS(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
	HOLDS(write(pair[0], bytes.ptr, bytes.len) == (ssize_t)bytes.len);
	fc = um_fastcgi_new(pair[1], file, &room);
	HOLDS(fc != NULL);
	HOLDS((um_fastcgi_read(fc) == UM_FASTCGI_REQUEST) == whole);
	if (whole) {
		um_fastcgi_param("QUERY_STRING", fc);
		HOLDS(um_fastcgi_body(fc).len <= bytes.len);
	}
	um_fastcgi_free(fc);
	close(pair[0]);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct um_str rest = { (const char *)data, size };
	struct um_str bytes = fuzz_rest(&rest);
	struct um_fcgi_check scan = { 0 };
	enum um_fcgi_check_state all = um_fcgi_check(&scan, bytes);
	size_t taken;
	enum um_fcgi_check_state slowly = byte_by_byte(bytes, &taken);

	/* Whole before the end is bytes after the end. */
	HOLDS(all
		== (slowly == UM_FCGI_CHECK_WHOLE && taken < bytes.len
				? UM_FCGI_CHECK_BAD
				: slowly));
	to_libfcgi(bytes, all == UM_FCGI_CHECK_WHOLE);
	fuzz_free(bytes);
	return 0;
}
