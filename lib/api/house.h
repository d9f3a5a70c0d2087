/* SPDX-License-Identifier: MIT */
/*
 * What the packages do beside their calls (lib/node/src/core/purge.js): results
 * that were shown are marked as read, and what is over is purged. Times are
 * monotonic, in milliseconds.
 */
#ifndef UM_HOUSE_H
#define UM_HOUSE_H

#include <stdbool.h>
#include <stdint.h>

#include "app/side.h"
#include "core/str.h"
#include "core/uuid.h"
#include "crypto/binding.h"

struct um_house {
	struct um_side_loop loop;
	struct um_buf ids, bindings; /* of rows whose results were shown */
	int64_t marks_at;            /* -1: there are none */
	int64_t purges_results_at, purges_rows_at;
	unsigned under_way; /* operations */
};

void um_house_begin(struct um_house *house, const struct um_side_loop *loop,
	int64_t now);

/* The result of this row was shown: it is marked, and purged later. */
void um_house_mark(struct um_house *house, const uint8_t id[static UM_UUID_LEN],
	const uint8_t binding[static UM_BINDING_LEN], int64_t now);

/* When its deadline has come. `stopped`: what is to be marked is marked at once. */
void um_house_run(struct um_house *house, bool stopped, int64_t now);
int64_t um_house_deadline(const struct um_house *house);

/* Whether something is to be marked that the database does not have yet. */
bool um_house_is_busy(const struct um_house *house);

/* An operation is handed back, which is freed. */
void um_house_done(struct um_house *house, struct um_op *op);

void um_house_free(struct um_house *house);

#endif
