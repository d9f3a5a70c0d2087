/* SPDX-License-Identifier: MIT */
/* The plan of each page: the first step of its route (../../cgi-bin/console.c). */
#ifndef UM_CONSOLE_PAGES_H
#define UM_CONSOLE_PAGES_H

#include "app/program.h"

/* /console/: what waits for somebody, and how elicitations ended. */
um_step um_console_overview_plan;
/* /console/search?q=: an exact text. */
um_step um_console_search_plan;
/* /console/elicitation?id=: what happened, and what one can do. */
um_step um_console_elicitation_plan;
/* /console/list?what=: what waits, with filters, and as CSV. */
um_step um_console_list_plan;
/* /console/provider?name=: what a provider has sent. Without a name, all of them. */
um_step um_console_provider_plan;
/* /console/act: what will follow; by POST, the decision. */
um_step um_console_act_plan;

#endif
