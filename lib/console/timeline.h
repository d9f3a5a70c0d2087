/* SPDX-License-Identifier: MIT */
/* What happened to an elicitation, from its begin to its end. */
#ifndef UM_CONSOLE_TIMELINE_H
#define UM_CONSOLE_TIMELINE_H

#include "console/view.h"

/* A section. `rows` are those of urlmode.show_timeline(), the oldest first;
 * of more than are shown, the newest. */
void um_timeline_put(const struct um_view *view, const json_t *rows);

/* A section: what one can do, in words. `row` is null for what was deleted. */
void um_advice_put(const struct um_view *view, const json_t *row,
	const json_t *payments);

#endif
