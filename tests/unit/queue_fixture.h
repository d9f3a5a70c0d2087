/* SPDX-License-Identifier: MIT */
/* A queue and operations, without a database. */
#ifndef TEST_QUEUE_FIXTURE_H
#define TEST_QUEUE_FIXTURE_H

#include "postgres/queue.h"

#define FIRST_DEADLINE 1000 /* of ops[0]; each has one ms more */

extern struct um_queue queue;
extern struct um_op ops[2 * UM_BATCH_MAX];

/* An empty queue, and operations that have been in another one before. */
int queue_set_up(void **state);

/* ops[from] to ops[to - 1] */
void append(size_t from, size_t to);
/* The batch is ops[from] to ops[to - 1]. */
void assert_batch(const struct um_batch *batch, size_t from, size_t to);
void assert_starts(size_t from, size_t to);
void assert_finishes(size_t from, size_t to);
/* The number of operations that wait, are set aside or are under way. */
size_t pending(void);
/* Nothing waits, and nothing is under way. */
void assert_empty(void);
/* ops[from] to ops[to - 1] are asked about. */
void assert_looks(int64_t now, size_t from, size_t to);

#endif
