/* SPDX-License-Identifier: MIT */
#include "api/house.h"

#include <stdlib.h>

#include "api/calls.h"
#include "contract/limits.h"
#include "core/clock.h"
#include "postgres/array.h"

void
um_house_begin(struct um_house *house, const struct um_side_loop *loop,
	int64_t now)
{
	*house = (struct um_house){ .loop = *loop,
		.marks_at = -1,
		.purges_results_at = now + UM_PURGE_RESULTS_EVERY_MS,
		.purges_rows_at = now + UM_PURGE_ROWS_EVERY_MS };
}

/* An operation of its own, which no request waits for. */
static struct um_op *
new_call(const struct um_call *call)
{
	struct um_op *op = calloc(1, sizeof(*op));

	if (op != NULL)
		*op = (struct um_op){ .kind = UM_OP_CALL, .call = call };
	return op;
}

static void
submit(struct um_house *house, struct um_op *op)
{
	if (op == NULL)
		return;
	house->under_way++;
	house->loop.submit(op, house->loop.arg);
}

void
um_house_mark(struct um_house *house, const uint8_t id[static UM_UUID_LEN],
	const uint8_t binding[static UM_BINDING_LEN], int64_t now)
{
	um_buf_put(&house->ids, id, UM_UUID_LEN);
	um_buf_put(&house->bindings, binding, UM_BINDING_LEN);
	if (house->marks_at < 0)
		house->marks_at = now + UM_MARK_DELAY_MS;
}

static void
mark(struct um_house *house)
{
	struct um_op *op = new_call(&um_call_mark_shown);
	size_t len = house->ids.len / UM_UUID_LEN;

	if (op != NULL) {
		um_call_put_array(&op->args, UM_CALL_UUIDS,
			(const uint8_t *)house->ids.ptr, UM_UUID_LEN, len);
		um_call_put_array(&op->args, UM_CALL_BYTEAS,
			(const uint8_t *)house->bindings.ptr, UM_BINDING_LEN,
			len);
		um_array_put_int64(&op->args, UM_KEEP_RESULTS_MS, true);
	}
	submit(house, op);
	um_buf_free(&house->ids);
	um_buf_free(&house->bindings);
	house->marks_at = -1;
}

static void
purge_results(struct um_house *house, int64_t now)
{
	struct um_op *op = new_call(&um_call_purge_results);

	if (op != NULL)
		um_array_put_int64(&op->args, UM_KEEP_UNCLAIMED_MS, true);
	submit(house, op);
	house->purges_results_at = now + UM_PURGE_RESULTS_EVERY_MS;
}

static void
purge_rows(struct um_house *house, int64_t now)
{
	struct um_op *op = new_call(&um_call_purge);

	if (op != NULL)
		um_array_put_int64(&op->args, UM_RETENTION_MS, true);
	submit(house, op);
	house->purges_rows_at = now + UM_PURGE_ROWS_EVERY_MS;
}

void
um_house_run(struct um_house *house, bool stopped, int64_t now)
{
	if (house->marks_at >= 0 && (stopped || house->marks_at <= now))
		mark(house);
	if (stopped)
		return;
	if (house->purges_results_at <= now)
		purge_results(house, now);
	if (house->purges_rows_at <= now)
		purge_rows(house, now);
}

int64_t
um_house_deadline(const struct um_house *house)
{
	int64_t deadline = um_deadline_earlier(house->marks_at,
		house->purges_results_at);

	return um_deadline_earlier(deadline, house->purges_rows_at);
}

bool
um_house_is_busy(const struct um_house *house)
{
	return house->marks_at >= 0 || house->under_way != 0;
}

/* A purge that has taken something is followed by the next one. */
void
um_house_done(struct um_house *house, struct um_op *op)
{
	bool more = op->status == UM_STORE_DONE && op->rows_len == 1
		&& um_call_int(op, 0, 0) > 0;

	house->under_way--;
	if (more && op->call == &um_call_purge_results)
		house->purges_results_at = 0;
	if (more && op->call == &um_call_purge)
		house->purges_rows_at = 0;
	um_op_free(op);
	free(op);
}

void
um_house_free(struct um_house *house)
{
	um_buf_free(&house->ids);
	um_buf_free(&house->bindings);
}
