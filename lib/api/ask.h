/* SPDX-License-Identifier: MIT */
/*
 * The methods that remember with an elicitation which MCP clients were asked to open
 * it and did not: `begin_ask`, `end_ask`. They move nothing.
 */
#ifndef UM_ASK_H
#define UM_ASK_H

#include "app/program.h"

um_step um_begin_ask_plan, um_end_ask_plan;

#endif
