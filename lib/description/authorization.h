/* SPDX-License-Identifier: MIT */
/*
 * What a provider of accounts says in its own words when the browser returns:
 * `authorization_response` of the `oauth` part of its description
 * (lib/providers/ACCOUNTS.md).
 */
#ifndef UM_AUTHORIZATION_H
#define UM_AUTHORIZATION_H

#include <stdbool.h>

#include <jansson.h>

#include "core/conf.h"
#include "http/form.h"

/* What the parameters of an authorization response say. */
enum um_authorization {
	UM_AUTHORIZATION_CODE,
	UM_AUTHORIZATION_DECLINED,  /* the user has refused */
	UM_AUTHORIZATION_CONSENTED, /* an admin: the user can now connect */
	UM_AUTHORIZATION_REQUESTED, /* the user has asked somebody who decides */
	UM_AUTHORIZATION_FAILED,    /* anything else */
	UM_AUTHORIZATION_AMBIGUOUS, /* a code and an error */
	UM_AUTHORIZATION_UNREADABLE,
};

/*
 * Checks the words of the `oauth` part that stands at `at`. *out is NULL where
 * there are none; the caller releases it with json_decref().
 */
bool um_authorization_load(json_t **out, const struct um_conf_loc *at,
	const json_t *oauth);

/*
 * Reads a form that was parsed leniently, by `words` or, for NULL, by RFC 6749
 * section 4.1.2 alone. What cannot be read of an error is an error, and of another
 * word none that is known. With UNREADABLE, *why says in what way the code is.
 */
enum um_authorization um_authorization_read(json_t *words,
	const struct um_form *form, enum um_refusal *why);

#endif
