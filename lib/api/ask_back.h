/* SPDX-License-Identifier: MIT */
/*
 * What the server says to what `wait` has asked it: `end_check`, about the values
 * that a user has typed, and `end_recheck`, about what the provider has.
 */
#ifndef UM_ASK_BACK_H
#define UM_ASK_BACK_H

#include "app/program.h"

um_step um_end_check_plan, um_end_recheck_plan;

#endif
