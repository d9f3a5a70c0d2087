/* SPDX-License-Identifier: MIT */
/* The objects in the answer of a call of `wait`. */
#ifndef UM_WAIT_ANSWER_H
#define UM_WAIT_ANSWER_H

#include <stdbool.h>
#include <stddef.h>

#include "api/wait_request.h"
#include "http/api_error.h"

#define UM_WAIT_ANSWER_MAX 4194304 /* bytes; the rest with the next call */

/*
 * Whether there is room for so many bytes; otherwise the answer is full. The first
 * object has room always.
 */
bool um_wait_has_room(struct um_wait *wait, size_t len);

/* Adds an object, which is whole but for its end. */
void um_wait_put(struct um_wait *wait, struct um_str object);

/* Adds an element that has no row, or whose row cannot be shown. */
void um_wait_put_error(struct um_wait *wait,
	const struct um_watched_element *element, enum um_api_error error);

/* Ends the object of an answer with all of them. */
void um_wait_put_answer(struct um_buf *json, const struct um_wait *wait);

#endif
