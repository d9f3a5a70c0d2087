/* SPDX-License-Identifier: MIT */
/* What FastCGI and plain CGI do alike with one exchange. */
#include <stdio.h>
#include <string.h>

#include "server/loop.h"

static bool
is_id(const char *text)
{
	size_t len = 0;

	while (text != NULL
		&& ((text[len] >= '0' && text[len] <= '9')
			|| (text[len] >= 'a' && text[len] <= 'f')))
		len++;
	return len == UM_REQUEST_ID_LEN && text[len] == '\0';
}

void
um_exchange_begin(struct um_exchange *ex, struct um_buf *path,
	const char *(*get)(const char *name, void *arg), void *arg,
	const struct um_context *context)
{
	const char *id = get("URLMODE_REQUEST_ID", arg);
	uint8_t bytes[UM_REQUEST_ID_LEN / 2];

	*ex = (struct um_exchange){ 0 };
	um_request_read(&ex->request, path, get, arg);
	if (is_id(id)) {
		memcpy(ex->request.id, id, UM_REQUEST_ID_LEN);
		return;
	}
	context->random(bytes, sizeof(bytes));
	for (size_t i = 0; i < sizeof(bytes); i++)
		snprintf(ex->request.id + 2 * i, 3, "%02x", bytes[i]);
}

void
um_exchange_write(struct um_exchange *ex, struct um_buf *out)
{
	um_response_write(&ex->response, &ex->request, out);
	if (!out->failed)
		return;
	um_buf_free(out);
	um_exchange_refuse(ex, UM_REFUSAL_INTERNAL_ERROR);
	um_response_write(&ex->response, &ex->request, out);
}
