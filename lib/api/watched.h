/* SPDX-License-Identifier: MIT */
/*
 * The rows that calls of `wait` watch, and what was shown of them: a row that was
 * read is as it was as long as nothing is announced of it, so that the next call
 * with it need not read it again. Times are monotonic, in milliseconds.
 */
#ifndef UM_WATCHED_H
#define UM_WATCHED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "core/uuid.h"
#include "crypto/binding.h"

#define UM_WATCHED_KEEP_MS 60000    /* after the last call that had it */
#define UM_WATCHED_ROUTINE_MS 30000 /* between two reads of a row */
#define UM_SEEN_BYTES 16
#define UM_SEEN_LEN 22 /* characters */

LIST_HEAD(um_watched_elements, um_watched_element);

struct um_watched_row {
	uint8_t id[UM_UUID_LEN];
	uint8_t binding[UM_BINDING_LEN];
	uint8_t shown[UM_SEEN_BYTES]; /* digest of what was read last */
	bool is_read;                 /* and nothing was announced since */
	unsigned announced;
	int64_t due_at;  /* when it is to be read again; -1: not yet read */
	int64_t used_at; /* when the last call with it has left */
	struct um_watched_elements elements;
	struct um_watched_row *next; /* in its place of the table */
};

/* One of the elicitations of a call. */
struct um_watched_element {
	uint8_t id[UM_UUID_LEN];
	uint8_t binding[UM_BINDING_LEN];
	uint8_t seen[UM_SEEN_BYTES];
	bool has_seen, can_check, can_recheck;
	bool is_due;     /* to be read now */
	bool is_overdue; /* it may be expired */
	unsigned read_at_announced;
	struct um_watched_row *row; /* NULL: it has not joined */
	LIST_ENTRY(um_watched_element) link;
	void *call; /* of the caller */
};

/* Begins zeroed. */
struct um_watched {
	struct um_watched_place {
		struct um_watched_row *first;
	} * places;
	size_t places_len; /* a power of two, or 0 */
	size_t len;
};

/*
 * Watches the row of an element. It is due unless what the call has seen is what
 * the row shows. False: out of memory.
 */
bool um_watched_join(struct um_watched *watched,
	struct um_watched_element *element, int64_t now);
void um_watched_leave(struct um_watched_element *element, int64_t now);

/* Something is announced: the elements are due, and `wake` gets their calls. */
void um_watched_announced(struct um_watched *watched,
	const uint8_t id[static UM_UUID_LEN],
	void (*wake)(void *call, void *arg), void *arg);

/* The same of all rows: what was announced is not known. */
void um_watched_all_announced(struct um_watched *watched,
	void (*wake)(void *call, void *arg), void *arg);

/* An element begins to be read. */
void um_watched_begin_read(struct um_watched_element *element);

/*
 * It was read, and shows this. It is to be read again at `due_at` at the latest.
 * Whether that is what is there: nothing was announced meanwhile, and `listening`.
 */
void um_watched_end_read(struct um_watched_element *element,
	const uint8_t shown[static UM_SEEN_BYTES], int64_t due_at,
	bool listening);

/* Forgets the rows that no call has had for UM_WATCHED_KEEP_MS. */
void um_watched_forget(struct um_watched *watched, int64_t now);

void um_watched_free(struct um_watched *watched);

#endif
