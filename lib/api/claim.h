/* SPDX-License-Identifier: MIT */
/*
 * The methods of claims: `claim` at once, or `begin_claim` under a lease with a
 * fencing number, until `fulfil_claim` and `confirm_claim`, or `release_claim`.
 */
#ifndef UM_CLAIM_H
#define UM_CLAIM_H

#include "app/program.h"

um_step um_claim_plan, um_begin_claim_plan, um_renew_claim_plan,
	um_fulfil_claim_plan, um_confirm_claim_plan, um_release_claim_plan;

#endif
