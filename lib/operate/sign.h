/* SPDX-License-Identifier: MIT */
/* Signs a request as its provider would, for tests. */
#ifndef UM_SIGN_H
#define UM_SIGN_H

#include "operate/saved_request.h"
#include "webhook/spec.h"

/*
 * Signs the delivery, which is the request, with the first scheme that has a
 * key: sets its timestamp, the headers that are signed and not there, and then
 * the signature in its place; where each element of `events` is signed by
 * itself, one in each. OK, or why it cannot be signed.
 */
enum um_verify_error um_sign(const struct um_spec_part *part,
	const struct um_delivery *delivery, struct um_saved_request *request);

#endif
