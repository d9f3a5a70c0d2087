/* SPDX-License-Identifier: MIT */
/*
 * The methods that end an elicitation: `complete` and `cancel` from any status, as
 * the server says; `abandon` if nobody has opened it.
 */
#ifndef UM_SETTLE_H
#define UM_SETTLE_H

#include "app/program.h"

um_step um_complete_plan, um_cancel_plan, um_abandon_plan;

#endif
