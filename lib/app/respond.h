/* SPDX-License-Identifier: MIT */
/*
 * Makes the response of an exchange that has no further step. Pages and
 * refusals are written here and nowhere else.
 */
#ifndef UM_RESPOND_H
#define UM_RESPOND_H

#include "app/exchange.h"

/*
 * Appends the response as it goes to the web server to `out`. When that is not
 * possible (no memory, or a header with a line break), the response becomes a
 * 500. For the log, sets ex->response.status, and for a refusal ex->outcome and
 * ex->reason.
 */
void um_respond(const struct um_context *context, struct um_exchange *ex,
	struct um_buf *out);

#endif
