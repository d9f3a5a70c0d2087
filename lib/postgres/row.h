/* SPDX-License-Identifier: MIT */
/* The row that the function of an operation returns for it. */
#ifndef UM_ROW_H
#define UM_ROW_H

#include <stdbool.h>

#include <libpq-fe.h>

#include "postgres/op.h"

/*
 * Sets the operation's outcome and row. False: this is not a row that the
 * function returns; the operation may be set in part.
 */
bool um_row_read(struct um_op *op, const PGresult *res, int row);

#endif
