/* SPDX-License-Identifier: MIT */
/*
 * What an operator decides about a payment: the same functions as the command's. The
 * page before says what will follow. What is sent has a reason, and a token of this
 * session that names the payment and holds the state in which the page has shown it:
 * what has changed since is not decided.
 */
#ifndef UM_CONSOLE_ACT_H
#define UM_CONSOLE_ACT_H

#include "console/view.h"

#define UM_ACT_NOTE_MAX 1000     /* bytes, as the database has it */
#define UM_ACT_REFERENCE_MAX 800 /* the same */

/* A section with what can be decided about these payments, if there is something. */
void um_act_put_links(const struct um_view *view, const json_t *payments,
	struct um_str id);

/* Says that it was done; `word` is an action, or nothing is said. */
void um_act_put_done(const struct um_view *view, struct um_str word);

#endif
