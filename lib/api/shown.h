/* SPDX-License-Identifier: MIT */
/* What `wait` shows of a row. */
#ifndef UM_SHOWN_H
#define UM_SHOWN_H

#include <stdbool.h>
#include <stdint.h>

#include "api/watched.h"
#include "app/program.h"
#include "core/str.h"
#include "crypto/keys.h"
#include "postgres/op.h"

/* What is shown of a row, in the order in which it is shown. */
struct um_shown_columns {
	struct um_str provider, kind, status, action, reason;
	struct um_str result;   /* JSON, opened; or no bytes */
	struct um_str verifier; /* the same */
	struct um_str reference, amount, currency; /* .ptr NULL: null */
	bool late;
	int64_t failed_attempts;
	struct um_str expires_at;
};

/*
 * Whether a claim changes what is shown of an outcome of this kind, which nobody
 * announces: what was typed is gone, and what does not match is held.
 */
bool um_shown_is_claimable(struct um_str kind);

/* A row of the call read_waiting. */
struct um_shown {
	uint8_t id[UM_UUID_LEN];
	bool is_completed, is_claimable;
	bool awaits_check, awaits_recheck;
	int64_t recheck_in_ms; /* for how long nobody else may begin one */
	int64_t closes_in_ms;  /* when it may be expired */
	uint8_t digest[UM_SEEN_BYTES];
};

/* Reads the row in this place. False: it is none. */
bool um_shown_read(struct um_shown *shown, const struct um_op *op, int row);

/* Whether it may be expired. */
bool um_shown_is_overdue(const struct um_shown *shown);

/*
 * When the row is to be read again at the latest. Sets when the element asks for a
 * lease again.
 */
int64_t um_shown_due_at(const struct um_shown *shown,
	struct um_watched_element *element, int64_t now);

/*
 * Appends the object, but for its end, and sets `digest`, which is also the member
 * `seen`.
 */
void um_shown_put_columns(struct um_buf *json,
	uint8_t digest[static UM_SEEN_BYTES],
	const uint8_t id[static UM_UUID_LEN],
	const struct um_shown_columns *columns, const struct um_keys *keys);

/*
 * The same of a row that was read; the digest is shown->digest. *verifier gets what
 * is to be kept of the verifier, sealed. False: a sealed value in it cannot be
 * opened, and nothing is appended.
 */
bool um_shown_put(struct um_shown *shown, struct um_buf *json,
	struct um_buf *verifier, const struct um_context *context,
	const struct um_op *op, int row,
	const uint8_t binding[static UM_BINDING_LEN]);

/* Appends the member `check`, of the call take_check. */
bool um_shown_put_check(struct um_buf *json, const struct um_context *context,
	const struct um_op *op, const struct um_watched_element *element);

/* Appends the member `recheck`, of the call begin_recheck. */
void um_shown_put_recheck(struct um_buf *json, const struct um_op *op);

#endif
