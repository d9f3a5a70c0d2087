/* SPDX-License-Identifier: MIT */
/*
 * What a program has beside its requests: state of its own, a descriptor, times at
 * which it does something, operations of its own, and exchanges that wait for it
 * (parked: um_exchange_park()). The event loop calls these functions; a program
 * without a side has none. No function blocks. Times are monotonic, in
 * milliseconds.
 */
#ifndef UM_SIDE_H
#define UM_SIDE_H

#include <stdbool.h>
#include <stdint.h>

#include "app/program.h"
#include "core/str.h"
#include "postgres/op.h"

/* What a side can ask of the loop. */
struct um_side_loop {
	/* A parked exchange goes on with its step; it may be answered by that. */
	void (*resume)(struct um_exchange *ex, void *arg);
	/* Borrows an operation until done() has it. */
	void (*submit)(struct um_op *op, void *arg);
	/* A message for the operator, without data of a row. */
	void (*notice)(const char *text, void *arg);
	void *arg;
};

struct um_side {
	/* NULL, and *err: it cannot begin. `loop` is copied. */
	void *(*open)(struct um_context *context,
		const struct um_side_loop *loop, struct um_error *err);
	void (*close)(void *side); /* NULL is fine */

	/* Before each request, and at the end of each turn. */
	void (*look)(void *side, int64_t now);
	/* When its descriptor is `ready`, and when its deadline has come. */
	void (*run)(void *side, bool ready, int64_t now);
	/* As um_store_watch() and um_store_deadline(). */
	int (*watch)(const void *side, bool *want_write, unsigned *connection);
	int64_t (*deadline)(const void *side);

	/* An operation that it has submitted is handed back. */
	void (*done)(void *side, struct um_op *op);

	/* The database has not answered a commit (postgres/store.h). */
	void (*unanswered)(void *side, int64_t now);

	/* Whether the process is not to end yet, where it has time (stop()). */
	bool (*is_busy)(const void *side);

	/* This exchange waits from now on, until it is resumed. */
	void (*park)(void *side, struct um_exchange *ex, int64_t now);
	/* It ends: nothing may point to it any more. */
	void (*leave)(void *side, struct um_exchange *ex);
	/* The process ends: what is parked is to be answered now. */
	void (*stop)(void *side, int64_t now);
};

#endif
