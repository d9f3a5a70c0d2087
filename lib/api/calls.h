/* SPDX-License-Identifier: MIT */
/* The functions of the database that the methods call. */
#ifndef UM_API_CALLS_H
#define UM_API_CALLS_H

#include "postgres/call.h"

extern const struct um_call um_call_claim;
extern const struct um_call um_call_create;
extern const struct um_call um_call_find_created;
extern const struct um_call um_call_resume_for;

/* All of them; NULL ends the list. */
extern const struct um_call *const um_api_calls[];

#endif
