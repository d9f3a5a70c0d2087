/* SPDX-License-Identifier: MIT */
#include "postgres/aside.h"

#include <string.h>

#include "core/clock.h"

/* Its place, or `len`. */
static size_t
find(const struct um_held_rows *rows, const uint8_t id[static UM_UUID_LEN])
{
	size_t i = 0;

	while (i < rows->len && memcmp(rows->ids[i], id, UM_UUID_LEN) != 0)
		i++;
	return i;
}

/* Does nothing if it is there. */
static void
add_held_row(struct um_held_rows *rows, const uint8_t id[static UM_UUID_LEN])
{
	size_t i = find(rows, id);

	if (i == rows->len) {
		if (rows->len < UM_HELD_ROWS_MAX)
			rows->len++;
		else
			i = rows->next++ % UM_HELD_ROWS_MAX;
	}
	memcpy(rows->ids[i], id, UM_UUID_LEN);
}

/* Does nothing if it is not there. */
static void
remove_held_row(struct um_held_rows *rows, const uint8_t id[static UM_UUID_LEN])
{
	size_t i = find(rows, id);

	if (i == rows->len)
		return;
	rows->len--;
	memmove(rows->ids[i], rows->ids[rows->len], UM_UUID_LEN);
}

bool
um_aside_add(struct um_aside *aside, struct um_op *op)
{
	struct um_op *other = aside->ops.first;

	while (other != NULL && um_op_find_row(&other, 1, op) == NULL)
		other = other->next;
	if (other == NULL && find(&aside->rows, op->id) == aside->rows.len)
		return false;
	um_op_list_add(&aside->ops, op);
	return true;
}

static void
push(struct um_op **list, struct um_op *op)
{
	op->next = *list;
	*list = op;
}

struct um_op *
um_aside_sort(struct um_aside *aside, struct um_op *const *ops, size_t len)
{
	struct um_op_list before = aside->ops, behind = { 0 };
	struct um_op *unheld = NULL, *op;

	aside->ops = (struct um_op_list){ 0 };
	for (size_t i = 0; i < len; i++)
		if (ops[i] != NULL && !ops[i]->is_held)
			push(&unheld, ops[i]);
	while ((op = um_op_list_take(&before)) != NULL) {
		const struct um_op *same = um_op_find_row(ops, len, op);

		if (same == NULL)
			um_op_list_add(&aside->ops, op);
		else if (same->is_held)
			um_op_list_add(&behind, op);
		else
			push(&unheld, op);
	}
	for (size_t i = 0; i < len; i++)
		if (ops[i] != NULL && ops[i]->is_held)
			um_op_list_add(&aside->ops, ops[i]);
	while ((op = um_op_list_take(&behind)) != NULL)
		um_op_list_add(&aside->ops, op);
	return unheld;
}

void
um_aside_take(struct um_aside *aside, struct um_op *const *ops, size_t len,
	int64_t now)
{
	bool waits = aside->ops.len != 0;
	bool again = false;

	for (size_t i = 0; i < len; i++) {
		if (ops[i] == NULL)
			continue;
		again |= ops[i]->was_aside;
		ops[i]->is_held = true;
	}
	um_aside_sort(aside, ops, len);
	/* Where no row was held, and yet it has waited for a lock, later. */
	if (!waits || !again)
		aside->look_at = now + (again ? UM_ASIDE_LOOK_MS : 0);
}

size_t
um_aside_look(struct um_aside *aside, struct um_op **ops, size_t max,
	int64_t now)
{
	size_t len = 0;

	if (aside->ops.len == 0 || now < aside->look_at)
		return 0;
	while (len < max && (ops[len] = um_op_list_take(&aside->ops)) != NULL)
		ops[len++]->is_held = false;
	aside->look_at = now + UM_ASIDE_LOOK_MS;
	return len;
}

struct um_op *
um_aside_answer(struct um_aside *aside, struct um_op *const *ops, size_t len,
	int64_t now)
{
	bool explained = false;

	for (size_t i = 0; i < len; i++) {
		if (ops[i] == NULL || !ops[i]->is_held)
			continue;
		explained = true;
		add_held_row(&aside->rows, ops[i]->id);
	}
	for (size_t i = 0; i < len; i++) {
		if (ops[i] == NULL || ops[i]->is_held)
			continue;
		remove_held_row(&aside->rows, ops[i]->id);
		/* Where no row is held, what waits for a lock waits alone. */
		ops[i]->isolated |= ops[i]->was_aside && !explained;
		ops[i]->was_aside = true;
	}
	aside->look_at = now + UM_ASIDE_LOOK_MS;
	return um_aside_sort(aside, ops, len);
}

/* Their deadlines are in no order. */
struct um_op *
um_aside_take_expired(struct um_aside *aside, int64_t now)
{
	struct um_op *before = NULL;
	struct um_op *op = aside->ops.first;

	for (; op != NULL && op->deadline > now; op = op->next)
		before = op;
	if (op == NULL)
		return NULL;
	if (before == NULL)
		aside->ops.first = op->next;
	else
		before->next = op->next;
	if (aside->ops.last == op)
		aside->ops.last = before;
	aside->ops.len--;
	return op;
}

int64_t
um_aside_deadline(const struct um_aside *aside)
{
	int64_t deadline = -1;

	for (const struct um_op *op = aside->ops.first; op != NULL;
		op = op->next)
		deadline = um_deadline_earlier(deadline, op->deadline);
	return deadline;
}
