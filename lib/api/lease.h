/* SPDX-License-Identifier: MIT */
/*
 * What a caller does with the fence that `begin_claim` has given: `renew_claim`,
 * `fulfil_claim` and `confirm_claim`, or `release_claim`. An account has no fence.
 */
#ifndef UM_LEASE_H
#define UM_LEASE_H

#include "app/program.h"

um_step um_renew_claim_plan, um_fulfil_claim_plan, um_confirm_claim_plan,
	um_release_claim_plan;

#endif
