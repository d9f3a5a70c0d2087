/* SPDX-License-Identifier: MIT */
/* Signs a request as its provider would, for tests. */
#ifndef UM_SIGN_H
#define UM_SIGN_H

#include "core/str.h"
#include "webhook/spec.h"

/*
 * Signs the delivery with the first scheme that has a key: sets its timestamp,
 * the headers that are signed and not there, and then the signature, with
 * set(name, value, delivery->arg); delivery->header must find them afterwards.
 * OK, or why it cannot be signed.
 */
enum um_verify_error um_sign(const struct um_spec_part *part,
	const struct um_delivery *delivery,
	bool (*set)(const char *name, struct um_str value, void *arg));

#endif
