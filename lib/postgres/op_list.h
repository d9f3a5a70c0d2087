/* SPDX-License-Identifier: MIT */
/*
 * A list of operations in the order in which they were added. An operation is in
 * one list at a time, which uses its member `next`.
 */
#ifndef UM_OP_LIST_H
#define UM_OP_LIST_H

#include <stddef.h>

#include "postgres/op.h"

/* Begins zeroed. */
struct um_op_list {
	struct um_op *first;
	struct um_op *last; /* valid while first is not NULL */
	size_t len;
};

void um_op_list_add(struct um_op_list *list, struct um_op *op);

/* Removes the first operation and returns it, or NULL. */
struct um_op *um_op_list_take(struct um_op_list *list);

#endif
