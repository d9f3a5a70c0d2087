/* SPDX-License-Identifier: MIT */
/* The row that the function of an operation returns for it. */
#ifndef UM_ROW_H
#define UM_ROW_H

#include <stdbool.h>

#include <libpq-fe.h>

#include "postgres/op.h"

/*
 * Reads this row into the operation, its outcome and what it owns
 * (um_op_free()). False: it is not a row that the function returns, and the
 * operation may be set in part.
 */
bool um_row_read(struct um_op *op, const PGresult *res, int row);

#endif
