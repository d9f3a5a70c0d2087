/* SPDX-License-Identifier: MIT */
/* What `wait` is called with, and what it has found so far. */
#ifndef UM_WAIT_REQUEST_H
#define UM_WAIT_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

#include "api/request.h"

#define UM_WAIT_OF_MAX 1000
#define UM_WAIT_FOR_MAX_MS 60000
#define UM_WAIT_READS_MAX 64 /* elements that are read at a time */

/* An element for which a lease is asked. */
struct um_wait_ask {
	size_t place;
	bool is_check;
	bool has_moved;       /* it is shown also without a lease */
	struct um_buf object; /* but for its end */
};

struct um_wait {
	struct um_api_request request;
	/* Finds elements by their ids: places from 1 on; a power of two of them. */
	uint16_t *index;
	size_t index_len;
	int64_t ends_at;
	int64_t delayed_until; /* the database was away; 0: it was not */
	size_t next;           /* the place from which it looks on */
	size_t *reads; /* the places of the elements that are being read */
	size_t reads_len;
	bool has_expired;     /* they were overdue, and are read once more */
	struct um_buf answer; /* the objects so far, with commas */
	size_t moved;         /* objects in it */
	bool is_full;         /* something had no room in it */
	struct um_wait_ask *asks; /* the next one last */
	size_t asks_len;
};

/*
 * Reads `of` and `for_ms` of a request that has begun. What is wrong is a fault of
 * the request.
 */
void um_wait_read(struct um_wait *wait, const struct um_context *context);

/* The element with this id, or NULL. */
struct um_watched_element *um_wait_find(const struct um_wait *wait,
	const uint8_t id[static UM_UUID_LEN]);

/* Frees a struct um_wait, for um_api_begin(). */
void um_wait_free(void *own);

#endif
