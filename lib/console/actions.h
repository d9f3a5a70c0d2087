/* SPDX-License-Identifier: MIT */
/* What an operator can decide about a payment: the words, and the links to it. */
#ifndef UM_CONSOLE_ACTIONS_H
#define UM_CONSOLE_ACTIONS_H

#include "console/view.h"

struct um_action {
	const char *word;     /* in addresses and forms */
	const char *decision; /* what the database says when it is done */
	enum um_text title, note, done;
	bool names_refund; /* the provider's reference of a refund */
};

/* The action of this word, or NULL. */
const struct um_action *um_action_of(struct um_str word);

/* A section with what can be decided about these payments, if there is something. */
void um_actions_put_links(const struct um_view *view, const json_t *payments,
	struct um_str id);

/*
 * Says that it was done, where `word` is an action, and the timeline has that this user
 * has decided so just now: anybody can make an address that names an action.
 */
void um_actions_put_done(const struct um_view *view, struct um_str word,
	const json_t *timeline, const char *user);

#endif
