/* SPDX-License-Identifier: MIT */
#include "http/api_error.h"

#include "core/json_put.h"

static const struct {
	int status;
	const char *code;
	const char *message;
} table[] = {
#define X(name, status, code, message)                                         \
	[UM_API_ERROR_##name] = { status, code, message },
	UM_API_ERRORS(X)
#undef X
};

const char *
um_api_error_code(enum um_api_error error)
{
	return table[error].code;
}

/* When the same call can be made again, and with which authorization. */
static void
put_headers(struct um_response *response, enum um_api_error error)
{
	if (error == UM_API_ERROR_UNAUTHORIZED)
		um_response_header(response, "WWW-Authenticate",
			um_str("Bearer"));
	if (error == UM_API_ERROR_UNAVAILABLE || error == UM_API_ERROR_TOO_MANY)
		um_response_header(response, "Retry-After",
			um_str(UM_RETRY_AFTER));
}

void
um_api_error_put(struct um_response *response, enum um_api_error error,
	const char *message, const char *member)
{
	struct um_buf *json = &response->body;

	um_buf_free(json);
	response->status = table[error].status;
	response->content_type = "application/json";
	put_headers(response, error);
	um_json_put_begin(json);
	um_json_put_key(json, um_str("error"));
	um_json_put_begin(json);
	um_json_put_member(json, "code", um_str(table[error].code));
	um_json_put_member(json, "message",
		um_str(message != NULL ? message : table[error].message));
	if (member != NULL)
		um_json_put_member(json, "member", um_str(member));
	um_json_put_end(json);
	um_json_put_end(json);
}
