/* SPDX-License-Identifier: MIT */
/*
 * A challenge: before a provider uses an address, it asks it for an answer that
 * only its owner can give, or that shows that somebody listens there
 * (lib/providers/VALUES.md, "Challenges").
 */
#ifndef UM_CHALLENGE_H
#define UM_CHALLENGE_H

#include <stdbool.h>
#include <stddef.h>

#include "webhook/condition.h"
#include "webhook/delivery.h"
#include "webhook/expr.h"

#define UM_CHALLENGE_MEMBERS_MAX 4
#define UM_CHALLENGE_TEXT_MAX 512 /* characters of what is answered */

/* Zeroed to begin with: there is none. */
struct um_challenge {
	bool exists;
	bool is_get; /* a GET, which nothing signs */
	/* A POST that may have no signature; it has always the same answer. */
	bool is_unsigned;
	struct um_conditions when;
	/* The answer: texts of the description, each with a value after it. */
	bool is_json;
	size_t len;
	struct um_challenge_piece {
		char *text;           /* perhaps "" */
		struct um_expr value; /* of the last piece none */
	} piece[UM_CHALLENGE_MEMBERS_MAX + 1];
};

void um_challenge_free(struct um_challenge *challenge);

/*
 * If the delivery is this challenge, sets the answer and its type. False if it is
 * not, or if the answer would not be 1 to UM_CHALLENGE_TEXT_MAX letters, digits
 * and . _ ~ + / = | -, which no browser treats as a page.
 */
bool um_challenge_answer(const struct um_challenge *challenge,
	const struct um_source *source, struct um_reply *reply);

#endif
