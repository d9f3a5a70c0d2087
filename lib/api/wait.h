/* SPDX-License-Identifier: MIT */
/*
 * The method `wait`: up to 1,000 elicitations on one connection, until one of them
 * has moved beyond what the caller has seen.
 */
#ifndef UM_API_WAIT_H
#define UM_API_WAIT_H

#include "app/program.h"

um_step um_wait_plan;

#endif
