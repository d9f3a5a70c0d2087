/* SPDX-License-Identifier: MIT */
/*
 * How elicitations ended: bars of each hour or day by action, below them bars of each
 * kind, action and reason (the most first, and all others together), and the same
 * figures as a table.
 */
#ifndef UM_CONSOLE_CHART_H
#define UM_CONSOLE_CHART_H

#include "console/view.h"

/* So many kinds, actions and reasons have bars of their own. */
#define UM_CHART_SERIES 8

struct um_chart {
	const char *id; /* of its heading */
	enum um_text title;
	const json_t *rows; /* of urlmode.count_ended() */
	int64_t bucket_ms;  /* an hour or a day */
	unsigned buckets;   /* the last one is that of now */
};

/* A section. */
void um_chart_put(const struct um_view *view, const struct um_chart *chart);

#endif
