/* SPDX-License-Identifier: MIT */
/*
 * The methods that claim: `claim` at once, or `begin_claim` under a lease with a
 * fencing number (api/lease.h).
 */
#ifndef UM_CLAIM_H
#define UM_CLAIM_H

#include "app/program.h"

um_step um_claim_plan, um_begin_claim_plan;

#endif
