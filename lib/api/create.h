/* SPDX-License-Identifier: MIT */
/*
 * The method `create`: makes an elicitation, or finds the one that the call can go
 * on with.
 */
#ifndef UM_CREATE_H
#define UM_CREATE_H

#include "app/program.h"

um_step um_create_plan;

#endif
