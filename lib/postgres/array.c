/* SPDX-License-Identifier: MIT */
#include "postgres/array.h"

#include <arpa/inet.h>
#include <endian.h>
#include <string.h>

static void
put_int(struct um_buf *out, int32_t value)
{
	uint32_t network = htonl((uint32_t)value);

	um_buf_put(out, &network, sizeof(network));
}

void
um_array_begin(struct um_buf *out, int32_t type, size_t len)
{
	const uint32_t head[] = {
		htonl(1), /* dimensions */
		htonl(1), /* there may be NULLs */
		htonl((uint32_t)type), htonl((uint32_t)len),
		htonl(1), /* lower bound */
	};

	um_buf_put(out, head, sizeof(head));
}

void
um_array_put(struct um_buf *out, const void *bytes, size_t len)
{
	put_int(out, bytes == NULL ? -1 : (int32_t)len);
	if (bytes != NULL)
		um_buf_put(out, bytes, len);
}

void
um_array_put_text(struct um_buf *out, const char *text)
{
	um_array_put(out, text, text != NULL ? strlen(text) : 0);
}

void
um_array_put_known(struct um_buf *out, const char *text)
{
	struct um_str known = um_str(text);

	um_array_put(out, known.len != 0 ? known.ptr : NULL, known.len);
}

/* Before the text comes the version of the form (jsonb_recv in jsonb.c). */
void
um_array_put_json(struct um_buf *out, struct um_str json)
{
	if (json.len == 0) {
		um_array_put(out, NULL, 0);
		return;
	}
	put_int(out, (int32_t)json.len + 1);
	um_buf_put(out, "\1", 1);
	um_buf_put(out, json.ptr, json.len);
}

void
um_array_put_int64(struct um_buf *out, int64_t value, bool known)
{
	uint64_t network = htobe64((uint64_t)value);

	um_array_put(out, known ? &network : NULL, sizeof(network));
}
