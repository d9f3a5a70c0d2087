/* SPDX-License-Identifier: MIT */
/* The errors of the api: JSON for a program (PROTOCOL.md, "Over HTTP"). */
#ifndef UM_API_ERROR_H
#define UM_API_ERROR_H

#include "contract/api_errors.h"
#include "http/response.h"

enum um_api_error {
	UM_API_ERROR_NONE,
#define X(name, status, code, message) UM_API_ERROR_##name,
	UM_API_ERRORS(X)
#undef X
};

/* The code: in the response, in the log and in the documentation. */
const char *um_api_error_code(enum um_api_error error);

/*
 * Makes the response this error, in place of what it has so far, but for its
 * headers. `message` NULL: that of the error. `member`: the member of the request
 * that is wrong, or NULL.
 */
void um_api_error_put(struct um_response *response, enum um_api_error error,
	const char *message, const char *member);

#endif
