/* SPDX-License-Identifier: MIT */
#include "postgres/op_list.h"

void
um_op_list_add(struct um_op_list *list, struct um_op *op)
{
	op->next = NULL;
	if (list->first == NULL)
		list->first = op;
	else
		list->last->next = op;
	list->last = op;
	list->len++;
}

struct um_op *
um_op_list_take(struct um_op_list *list)
{
	struct um_op *op = list->first;

	if (op != NULL) {
		list->first = op->next;
		list->len--;
	}
	return op;
}
