/* SPDX-License-Identifier: MIT */
/*
 * The method `wait`: up to 1,000 elicitations on one connection, until one of them
 * has moved beyond what the caller has seen.
 */
#ifndef UM_API_WAIT_H
#define UM_API_WAIT_H

#include "app/program.h"

#define UM_WAIT_OF_MAX 1000
#define UM_WAIT_FOR_MAX_MS 60000
#define UM_WAIT_ANSWER_MAX 4194304 /* bytes; the rest with the next call */
#define UM_WAIT_POLL_MS 1000       /* between two reads while nothing listens */

um_step um_wait_plan;

#endif
