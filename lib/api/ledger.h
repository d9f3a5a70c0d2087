/* SPDX-License-Identifier: MIT */
/*
 * The method `ledger`: everything about money in order, for a consumer whose place
 * the database keeps. A page begins a lease or goes on with it, so that one reader
 * at a time reads for a consumer: `next` is the cursor that acknowledges the page
 * and all before it. A page without entries ends the lease.
 */
#ifndef UM_LEDGER_H
#define UM_LEDGER_H

#include "app/exchange.h"

um_step um_ledger_plan;

#endif
