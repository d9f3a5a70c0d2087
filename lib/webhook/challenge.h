/* SPDX-License-Identifier: MIT */
/*
 * A challenge: before a provider uses an address, it asks it for an answer that
 * only its owner can give, or that shows that somebody listens there
 * (lib/providers/README.md, "Challenges").
 */
#ifndef UM_CHALLENGE_H
#define UM_CHALLENGE_H

#include <stdbool.h>
#include <stddef.h>

#include "core/conf.h"
#include "webhook/condition.h"
#include "webhook/delivery.h"
#include "webhook/expr.h"

#define UM_CHALLENGE_MEMBERS_MAX 4
#define UM_CHALLENGE_TEXT_MAX 512 /* characters of what is answered */

/* Zeroed to begin with: there is none. */
struct um_challenge {
	bool exists;
	bool is_get; /* a GET, which nothing signs */
	struct um_conditions when;
	bool is_json; /* an object of the values; else the only value, as text */
	size_t len;
	struct um_challenge_member {
		char *name; /* NULL for text */
		struct um_expr value;
	} member[UM_CHALLENGE_MEMBERS_MAX];
};

/* Compiles `challenge`, which may be NULL. Free it in every case. */
bool um_challenge_load(struct um_challenge *challenge,
	const struct um_conf_loc *at, json_t *node,
	const struct um_expr_scope *scope);
void um_challenge_free(struct um_challenge *challenge);

/*
 * If the delivery is this challenge, puts the answer and its type. False if it
 * is none, or asks to be sent something else than 1 to UM_CHALLENGE_TEXT_MAX
 * letters, digits and . _ ~ + / = | -, which no browser takes for a page.
 */
bool um_challenge_answer(const struct um_challenge *challenge,
	struct um_parsed_delivery *parsed, struct um_reply *reply);

#endif
