/* SPDX-License-Identifier: MIT */
/* How elicitations ended, as bars and with the same figures as a table. */
#ifndef UM_CONSOLE_CHART_H
#define UM_CONSOLE_CHART_H

#include "console/view.h"

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
