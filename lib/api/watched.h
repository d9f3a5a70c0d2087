/* SPDX-License-Identifier: MIT */
/*
 * The rows that calls of `wait` watch, and what was shown of them: a row that was
 * read is as it was as long as nothing is announced of it, so that the next call
 * with it need not read it again. Times are monotonic, in milliseconds.
 *
 * What is shown is kept as well, where it is small and as long as there is room:
 * whoever has not seen it gets it without a read, and an outcome that is announced
 * is put into it (api/announced.h).
 */
#ifndef UM_WATCHED_H
#define UM_WATCHED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "core/str.h"
#include "core/uuid.h"
#include "crypto/binding.h"

#define UM_WATCHED_OBJECT_MAX 4096 /* bytes of what is kept of a row */
#define UM_WATCHED_BYTES_MAX ((size_t)16 << 20) /* the same of all rows */
#define UM_WATCHED_IDLE_MAX 100000              /* rows that no call has now */
#define UM_WATCHED_KEEP_MS 60000    /* after the last call that had it */
#define UM_WATCHED_ROUTINE_MS 30000 /* between two reads of a row */
#define UM_WAIT_POLL_MS 1000        /* the same while nothing listens */
#define UM_SEEN_BYTES 16
#define UM_SEEN_LEN 22 /* characters */

LIST_HEAD(um_watched_elements, um_watched_element);
TAILQ_HEAD(um_watched_rows, um_watched_row);

/*
 * What a row shows. A claim changes what is shown of an outcome that is claimable,
 * and nobody announces it.
 */
struct um_watched_state {
	uint8_t digest[UM_SEEN_BYTES];
	bool is_completed, is_claimable;
	bool is_asked;          /* it awaits a check or a recheck */
	struct um_str object;   /* JSON, but for its end */
	struct um_str verifier; /* sealed, until it is completed; or no bytes */
};

struct um_watched_row {
	uint8_t id[UM_UUID_LEN];
	uint8_t binding[UM_BINDING_LEN];
	uint8_t shown[UM_SEEN_BYTES]; /* digest of what was read last */
	bool is_read;                 /* and nothing was announced since */
	bool is_completed, is_claimable, is_asked;
	unsigned announced;
	/* A copy of what it shows and of its verifier; NULL: it is not kept. */
	char *kept;
	size_t object_len, verifier_len;
	int64_t due_at;  /* when it is to be read again; -1: not yet read */
	int64_t used_at; /* when the last call with it has left */
	struct um_watched_elements elements;
	TAILQ_ENTRY(um_watched_row) idle; /* while it has no element */
	struct um_watched_row *next;      /* in its place of the table */
};

/* One of the elicitations of a call. */
struct um_watched_element {
	uint8_t id[UM_UUID_LEN];
	uint8_t binding[UM_BINDING_LEN];
	uint8_t seen[UM_SEEN_BYTES];
	bool has_seen, can_check, can_recheck;
	bool is_due;    /* to be read now */
	int64_t due_at; /* when a lease is asked for again; -1: never */
	unsigned read_at_announced;
	struct um_watched_row *row; /* NULL: it has not joined */
	LIST_ENTRY(um_watched_element) link;
	void *call; /* of the caller */
};

struct um_watched {
	struct um_watched_place {
		struct um_watched_row *first;
	} * places;
	size_t places_len; /* a power of two, or 0 */
	size_t len;
	struct um_watched_rows
		idle; /* those without an element, oldest first */
	size_t idle_len;
	size_t bytes; /* that are kept of all rows */
};

/* Whom a notification concerns. */
struct um_watched_events {
	/* Whether what is announced is what the row shows from now on. */
	bool (*take)(struct um_watched_row *row, void *arg);
	/* A call has an element that is due. */
	void (*wake)(void *call, void *arg);
	void *arg;
};

void um_watched_begin(struct um_watched *watched);

/*
 * Watches the row of an element. It is due unless what the call has seen is what
 * the row shows, and the caller is not asked about it. False: out of memory.
 */
bool um_watched_join(struct um_watched *watched,
	struct um_watched_element *element, int64_t now);
/* A row that was never read is forgotten with its last element. */
void um_watched_leave(struct um_watched *watched,
	struct um_watched_element *element, int64_t now);

/*
 * Something is announced of this id: take() gets its rows that were read and are
 * kept. The elements are due, and wake() gets their calls.
 */
void um_watched_announced(struct um_watched *watched,
	const uint8_t id[static UM_UUID_LEN],
	const struct um_watched_events *events);

/*
 * A call of this process has changed the row of this id. Its notification may still
 * be under way; whoever comes meanwhile reads it.
 */
void um_watched_changed(struct um_watched *watched,
	const uint8_t id[static UM_UUID_LEN]);

/* The same of all rows: what was announced is not known, and not taken. */
void um_watched_all_announced(struct um_watched *watched,
	const struct um_watched_events *events);

/* What the row shows from now on, until something is announced or `due_at`. */
void um_watched_show(struct um_watched *watched, struct um_watched_row *row,
	const struct um_watched_state *state, int64_t due_at);

/* Whether the element's row can be shown as it is kept, without a read. */
bool um_watched_is_known(const struct um_watched_element *element, int64_t now);

/* Whether the element has not seen what its row shows. */
bool um_watched_has_moved(const struct um_watched_element *element);

/* What is kept of the row. */
struct um_str um_watched_object(const struct um_watched_row *row);
struct um_str um_watched_verifier(const struct um_watched_row *row);

/* An element begins to be read. */
void um_watched_begin_read(struct um_watched_element *element);

/*
 * It was read, and shows this. It is to be read again at `due_at` at the latest.
 * That is what is there if nothing was announced meanwhile, and `listening`.
 */
void um_watched_end_read(struct um_watched *watched,
	struct um_watched_element *element,
	const struct um_watched_state *state, int64_t due_at, bool listening);

/* Forgets the rows that no call has had for UM_WATCHED_KEEP_MS. */
void um_watched_forget(struct um_watched *watched, int64_t now);

void um_watched_free(struct um_watched *watched);

#endif
