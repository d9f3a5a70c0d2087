/* SPDX-License-Identifier: MIT */
#include "records.h"

#include <string.h>

void
put_record(struct um_buf *out, int type, int id, struct um_str content,
	int padding)
{
	const char head[8] = { 1, (char)type, (char)(id >> 8), (char)id,
		(char)(content.len >> 8), (char)content.len, (char)padding };
	const char zeros[256] = { 0 };

	um_buf_put(out, head, sizeof(head));
	um_buf_put(out, content.ptr, content.len);
	um_buf_put(out, zeros, (size_t)padding);
}

void
put_begin(struct um_buf *out, int id)
{
	put_record(out, BEGIN, id, BEGIN_CONTENT, 0);
}

static void
put_length(struct um_buf *out, size_t len)
{
	const char bytes[4] = { (char)(0x80 | len >> 24), (char)(len >> 16),
		(char)(len >> 8), (char)len };
	const char byte = (char)len;

	if (len > 127)
		um_buf_put(out, bytes, sizeof(bytes));
	else
		um_buf_put(out, &byte, 1);
}

void
put_pair(struct um_buf *out, struct um_str name, struct um_str value)
{
	put_length(out, name.len);
	put_length(out, value.len);
	um_buf_put(out, name.ptr, name.len);
	um_buf_put(out, value.ptr, value.len);
}

/* A request as nginx sends it: padded to eight, its end in two empty records. */
void
put_request(struct um_buf *out, int id, struct um_str body)
{
	struct um_buf pairs = { 0 };
	char query[200];

	memset(query, 'q', sizeof(query));
	put_pair(&pairs, STR("GATEWAY_INTERFACE"), STR("CGI/1.1"));
	put_pair(&pairs, STR("QUERY_STRING"),
		(struct um_str){ query, sizeof(query) });
	put_pair(&pairs, STR("HTTP_PROXY"), STR(""));
	put_begin(out, id);
	put_record(out, PARAMS, id, um_buf_str(&pairs), (int)(-pairs.len & 7));
	put_record(out, PARAMS, id, STR(""), 0);
	if (body.len != 0)
		put_record(out, IN, id, body, (int)(-body.len & 7));
	put_record(out, IN, id, STR(""), 0);
	um_buf_free(&pairs);
}

/* The pairs as the only PARAMS record of an otherwise good request. */
void
put_request_of(struct um_buf *out, struct um_str pairs)
{
	put_begin(out, 1);
	put_record(out, PARAMS, 1, pairs, 0);
	put_record(out, PARAMS, 1, STR(""), 0);
	put_record(out, IN, 1, STR(""), 0);
}

bool
read_answer(struct um_buf *content, struct um_str bytes, int id)
{
	static const uint8_t well[5] = { 0 }; /* of both statuses */
	size_t at = 0;

	while (bytes.len - at >= 8) {
		const uint8_t *record = (const uint8_t *)bytes.ptr + at;
		size_t len = (size_t)record[4] << 8 | record[5];

		if (bytes.len - at < 8 + len + record[6])
			return false;
		at += 8 + len + record[6];
		assert_int_equal(record[0], 1);
		assert_int_equal(record[2] << 8 | record[3], id);
		if (record[1] == END) {
			assert_int_equal(len, 8);
			assert_memory_equal(record + 8, well, sizeof(well));
			assert_int_equal(at, bytes.len);
			return true;
		}
		assert_int_equal(record[1], OUT);
		um_buf_put(content, record + 8, len);
	}
	return false;
}

enum um_fcgi_check_state
scan_all(struct um_buf *bytes)
{
	struct um_fcgi_check scan = { 0 };
	enum um_fcgi_check_state state;

	assert_false(bytes->failed);
	state = um_fcgi_check(&scan, um_buf_str(bytes));
	um_buf_free(bytes);
	return state;
}
