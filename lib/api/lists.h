/* SPDX-License-Identifier: MIT */
/*
 * The lists of one tenant, a page at a time: `unclaimed`, `refunds`, `entitlements`;
 * and `paid`, whether a user has paid for an item.
 */
#ifndef UM_LISTS_H
#define UM_LISTS_H

#include "app/program.h"

um_step um_unclaimed_plan, um_refunds_plan, um_entitlements_plan, um_paid_plan;

#endif
