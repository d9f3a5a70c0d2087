/* SPDX-License-Identifier: MIT */
#include "server/fcgi_check.h"

#include <string.h>

#include "http/request.h"

_Static_assert(UM_FCGI_BODY_MAX >= UM_DELIVERY_BODY_MAX
		&& UM_FCGI_BODY_MAX >= UM_BODY_MAX,
	"what a program takes must pass");

#define VERSION 1
#define HEADER_LEN 8
#define BEGIN_LEN 8
#define ROLE_RESPONDER 1

enum type { BEGIN_REQUEST = 1, PARAMS = 4, STDIN = 5 };

/* A length of a name or value: one byte, or four with the high bit set. */
static bool
take_length(const uint8_t **p, const uint8_t *end, size_t *len)
{
	const uint8_t *b = *p;

	if (b == end)
		return false;
	if (b[0] < 0x80) {
		*len = b[0];
		*p += 1;
		return true;
	}
	if (end - b < 4)
		return false;
	*len = (size_t)(b[0] & 0x7f) << 24 | (size_t)b[1] << 16
		| (size_t)b[2] << 8 | b[3];
	*p += 4;
	return true;
}

static bool
check_pairs(struct um_fcgi_check *check, const uint8_t *p, size_t len)
{
	const uint8_t *end = p + len;

	for (; p != end; check->pairs++) {
		size_t name;
		size_t value;

		if (check->pairs == UM_FCGI_PAIRS_MAX
			|| !take_length(&p, end, &name)
			|| !take_length(&p, end, &value))
			return false;
		if (name > (size_t)(end - p)
			|| value > (size_t)(end - p) - name)
			return false;
		/* libfcgi makes C strings of them, which would end at a NUL. */
		if (memchr(p, '\0', name + value) != NULL)
			return false;
		p += name + value;
	}
	return true;
}

/* Whether a complete record may come at this stage; moves on to the next. */
static bool
check_record(struct um_fcgi_check *check, const uint8_t *record, size_t len)
{
	const uint8_t *content = record + HEADER_LEN;
	uint16_t id = (uint16_t)(record[2] << 8 | record[3]);
	unsigned type = record[1];
	unsigned padding = record[6];

	if (check->stage != UM_STAGE_BEGIN && id != check->request_id)
		return false;
	switch (check->stage) {
	case UM_STAGE_BEGIN:
		if (type != BEGIN_REQUEST || len != BEGIN_LEN || id == 0
			|| content[0] != 0 || content[1] != ROLE_RESPONDER)
			return false;
		check->request_id = id;
		check->stage = UM_STAGE_PARAMS;
		return true;
	case UM_STAGE_PARAMS:
		if (type != PARAMS)
			return false;
		check->params += len;
		if (len != 0)
			return check->params <= UM_FCGI_PARAMS_MAX
				&& check_pairs(check, content, len);
		/* libfcgi would take padding here for the next header. */
		if (check->params == 0 || padding != 0)
			return false;
		check->stage = UM_STAGE_STDIN;
		return true;
	case UM_STAGE_STDIN:
		check->body += len;
		return type == STDIN
			&& check->body <= (check->is_large ? UM_FCGI_LARGE_MAX
							   : UM_FCGI_BODY_MAX);
	}
	return false;
}

enum um_fcgi_check_state
um_fcgi_check(struct um_fcgi_check *check, struct um_str bytes)
{
	if (bytes.len
		> (check->is_large ? 2 * UM_FCGI_LARGE_MAX : UM_FCGI_BYTES_MAX))
		return UM_FCGI_CHECK_BAD;
	while (bytes.len - check->at >= HEADER_LEN) {
		const uint8_t *record = (const uint8_t *)bytes.ptr + check->at;
		size_t len = (size_t)record[4] << 8 | record[5];
		size_t whole = HEADER_LEN + len + record[6];
		bool last = check->stage == UM_STAGE_STDIN && len == 0;

		/*
		 * Without waiting for its content: it can never become valid.
		 */
		if (record[0] != VERSION)
			return UM_FCGI_CHECK_BAD;
		if (bytes.len - check->at < whole)
			return UM_FCGI_CHECK_MORE;
		if (!check_record(check, record, len))
			return UM_FCGI_CHECK_BAD;
		check->at += whole;
		if (check->head == 0 && check->stage == UM_STAGE_STDIN)
			check->head = check->at;
		if (last)
			return check->at == bytes.len ? UM_FCGI_CHECK_WHOLE
						      : UM_FCGI_CHECK_BAD;
	}
	return UM_FCGI_CHECK_MORE;
}

void
um_fcgi_check_drop_body(struct um_fcgi_check *check, struct um_buf *bytes)
{
	struct um_buf kept = { 0 };

	if (check->head == 0 || check->at == check->head)
		return;
	um_buf_put(&kept, bytes->ptr, check->head);
	um_buf_put(&kept, bytes->ptr + check->at, bytes->len - check->at);
	um_buf_free(bytes);
	*bytes = kept;
	check->at = check->head;
}
