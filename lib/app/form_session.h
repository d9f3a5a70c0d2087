/* SPDX-License-Identifier: MIT */
/*
 * A form whose user has to sign in again: the session has ended since the page
 * was made, or the approval demands a fresh sign-in. Nothing is stored then, and
 * what was typed is kept in the browser (app/kept.h).
 */
#ifndef UM_FORM_SESSION_H
#define UM_FORM_SESSION_H

#include "app/exchange.h"
#include "form/definition.h"

#define UM_FORM_ROUTE "/form/"

/* Sets `url` to the address of this form, for a GET. */
void um_form_session_put_address(struct um_exchange *ex, struct um_buf *url);

/*
 * Whether a form was sent by a browser whose user was known when the page was
 * made, and is not known any more.
 */
bool um_form_session_is_lost(const struct um_context *context,
	struct um_exchange *ex);

/*
 * Then: has the form looked up, which says what of the answer is secret, keeps
 * the rest, and refuses with the way back to the form.
 */
enum um_refusal um_form_session_plan_end(const struct um_context *context,
	struct um_exchange *ex);

/*
 * An approval that demands a fresh sign-in is shown and decided only with its
 * proof: GET leads to the sign-in. What was sent without it is kept as in a form
 * whose session has ended.
 */
enum um_refusal um_form_session_require_fresh(const struct um_context *context,
	struct um_exchange *ex, const struct um_definition *definition);

#endif
