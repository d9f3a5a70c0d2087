/* SPDX-License-Identifier: MIT */
/* Puts a signature into a saved request, where its description looks for it. */
#ifndef UM_PUT_SIGNATURE_H
#define UM_PUT_SIGNATURE_H

#include <stdbool.h>
#include <stddef.h>

#include "operate/saved_request.h"
#include "webhook/expr.h"

/*
 * Sets the value at `place`: a header, a field of the query, of a form or of a
 * multipart body, or a text in the JSON of the payload; of an `item`, in the
 * element with this number. False: the request has no such place, or out of
 * memory.
 */
bool um_put_signature(struct um_saved_request *request,
	const struct um_expr *place, const struct um_payload *payload,
	size_t item, struct um_str value);

#endif
