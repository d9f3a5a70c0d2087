/* SPDX-License-Identifier: MIT */
#include "console/chart.h"

#include <stdlib.h>
#include <string.h>

#define BUCKETS_MAX 31
#define ACTIONS 3
#define WIDTH 720      /* of all bars: 24 and 30 divide it */
#define HEIGHT 120     /* of the highest bar */
#define KINDS_MAX 256  /* that are told from each other */
#define KINDS_SHOWN 40 /* the others are one row */

static const char *const actions[ACTIONS] = { "accept", "decline", "cancel" };

/* What is drawn. */
struct figures {
	int64_t begin_ms; /* of the first bucket */
	int64_t of[BUCKETS_MAX][ACTIONS];
	int64_t most; /* of a bucket */
};

static void
count(struct figures *figures, const struct um_view *view,
	const struct um_chart *chart)
{
	int64_t last = view->now_ms - view->now_ms % chart->bucket_ms;

	figures->begin_ms = last
		- (int64_t)(chart->buckets - 1) * chart->bucket_ms;
	for (size_t i = 0; i < json_array_size(chart->rows); i++) {
		const json_t *row = json_array_get(chart->rows, i);
		int64_t ms, bucket, sum = 0;

		if (!um_row_time(row, "at", &ms))
			continue;
		bucket = (ms - figures->begin_ms) / chart->bucket_ms;
		if (ms < figures->begin_ms || bucket >= chart->buckets)
			continue;
		for (size_t a = 0; a < ACTIONS; a++) {
			if (um_str_is(um_row_text(row, "action"), actions[a]))
				figures->of[bucket][a] += um_row_int(row,
					"number");
			sum += figures->of[bucket][a];
		}
		if (sum > figures->most)
			figures->most = sum;
	}
}

static void
put_bars(const struct um_view *view, const struct um_chart *chart,
	const struct figures *figures)
{
	const unsigned step = WIDTH / chart->buckets;

	um_buf_printf(view->body,
		"<svg viewBox=\"0 0 %d %d\" role=\"img\" "
		"aria-labelledby=\"%s\">\n"
		"<path class=\"axis\" d=\"M0 %d.5h%d\"/>",
		WIDTH, HEIGHT + 8, chart->id, HEIGHT, WIDTH);
	um_buf_printf(view->body, "<text x=\"0\" y=\"10\">%lld</text>",
		(long long)figures->most);
	for (unsigned i = 0; i < chart->buckets; i++) {
		double y = HEIGHT;

		for (size_t a = 0; a < ACTIONS; a++) {
			double high = figures->most == 0
				? 0
				: (double)figures->of[i][a] * (HEIGHT - 14)
					/ (double)figures->most;

			if (figures->of[i][a] == 0)
				continue;
			high = high < 1 ? 1 : high;
			y -= high;
			um_buf_printf(view->body,
				"<path class=\"%s\" d=\"M%u "
				"%.1fh%uv%.1fh-%uz\"/>",
				actions[a], i * step + 2, y, step - 4, high,
				step - 4);
		}
	}
	um_buf_puts(view->body, "\n</svg>\n<p class=\"key soft\">");
	for (size_t a = 0; a < ACTIONS; a++)
		um_buf_printf(view->body,
			"<span><svg viewBox=\"0 0 1 1\" aria-hidden=\"true\">"
			"<path class=\"%s\" d=\"M0 0h1v1h-1z\"/></svg> "
			"<code>%s</code></span> ",
			actions[a], actions[a]);
	um_buf_puts(view->body, "</p>\n");
}

/* The same figures: what was drawn. */
static void
put_table(const struct um_view *view, const struct um_chart *chart,
	const struct figures *figures)
{
	um_buf_puts(view->body,
		"<div class=\"table\" role=\"region\" tabindex=\"0\" "
		"aria-labelledby=\"");
	um_buf_cat(view->body, chart->id,
		"\">\n<table>\n<thead><tr><th scope=\"col\">");
	um_view_say(view, UM_TEXT_CONSOLE_TIME);
	um_buf_puts(view->body, "</th>");
	for (size_t a = 0; a < ACTIONS; a++)
		um_buf_cat(view->body, "<th class=\"n\" scope=\"col\"><code>",
			actions[a], "</code></th>");
	um_buf_puts(view->body, "</tr></thead>\n<tbody>\n");
	for (unsigned i = chart->buckets; i-- > 0;) {
		um_buf_puts(view->body, "<tr><td>");
		um_view_time(view,
			figures->begin_ms + (int64_t)i * chart->bucket_ms);
		um_buf_puts(view->body, "</td>");
		for (size_t a = 0; a < ACTIONS; a++)
			um_view_number(view, figures->of[i][a]);
		um_buf_puts(view->body, "</tr>\n");
	}
	um_view_table_end(view);
}

/* One kind, action and reason, in all of the time. */
struct sum {
	struct um_str kind, action, reason;
	int64_t number;
};

static int
by_number(const void *a, const void *b)
{
	const struct sum *one = a, *other = b;

	return (one->number < other->number) - (one->number > other->number);
}

/* Sets *all to how many there are, also of what has no place in `sums`. */
static size_t
add_up(struct sum sums[static KINDS_MAX], int64_t *all, const json_t *rows)
{
	size_t len = 0;

	*all = 0;
	for (size_t i = 0; i < json_array_size(rows); i++) {
		const json_t *row = json_array_get(rows, i);
		struct sum sum = { um_row_text(row, "kind"),
			um_row_text(row, "action"), um_row_text(row, "reason"),
			um_row_int(row, "number") };
		size_t s = 0;

		*all += sum.number;
		while (s < len
			&& !(um_str_eq(sums[s].kind, sum.kind)
				&& um_str_eq(sums[s].action, sum.action)
				&& um_str_eq(sums[s].reason, sum.reason)))
			s++;
		if (s < len)
			sums[s].number += sum.number;
		else if (len < KINDS_MAX)
			sums[len++] = sum;
	}
	qsort(sums, len, sizeof(sums[0]), by_number);
	return len;
}

static void
put_sums(const struct um_view *view, const struct um_chart *chart)
{
	static const enum um_text columns[] = { UM_TEXT_CONSOLE_KIND,
		UM_TEXT_CONSOLE_ACTION, UM_TEXT_CONSOLE_REASON,
		UM_TEXT_CONSOLE_NUMBER, UM_TEXT_COUNT };
	struct sum sums[KINDS_MAX] = { 0 };
	int64_t others;
	size_t len = add_up(sums, &others, chart->rows);

	if (len == 0) {
		um_view_paragraph(view, "soft", UM_TEXT_CONSOLE_NOTHING);
		return;
	}
	um_view_table(view, chart->title, columns);
	for (size_t i = 0; i < len && i < KINDS_SHOWN; i++) {
		others -= sums[i].number;
		um_buf_puts(view->body, "<tr><td>");
		um_view_code(view, sums[i].kind);
		um_buf_puts(view->body, "</td><td>");
		um_view_code(view, sums[i].action);
		um_buf_puts(view->body, "</td><td>");
		um_view_code(view, sums[i].reason);
		um_buf_puts(view->body, "</td>");
		um_view_number(view, sums[i].number);
		um_buf_puts(view->body, "</tr>\n");
	}
	if (others != 0) {
		um_buf_puts(view->body, "<tr><td colspan=\"3\">");
		um_view_say(view, UM_TEXT_CONSOLE_OTHERS);
		um_buf_puts(view->body, "</td>");
		um_view_number(view, others);
		um_buf_puts(view->body, "</tr>\n");
	}
	um_view_table_end(view);
}

void
um_chart_put(const struct um_view *view, const struct um_chart *chart)
{
	struct figures figures = { 0 };

	count(&figures, view, chart);
	um_buf_puts(view->body, "<section>\n");
	um_view_heading(view, chart->id, chart->title);
	put_bars(view, chart, &figures);
	um_buf_puts(view->body, "<details><summary>");
	um_view_say(view, UM_TEXT_CONSOLE_AS_TABLE);
	um_buf_puts(view->body, "</summary>\n");
	put_table(view, chart, &figures);
	um_buf_puts(view->body, "</details>\n");
	put_sums(view, chart);
	um_buf_puts(view->body, "</section>\n");
}
