/* SPDX-License-Identifier: MIT */
#include "console/chart.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "contract/words.h"

#define BUCKETS_MAX 31
#define ACTIONS 3
#define WIDTH 720     /* of all bars: 24 and 30 divide it */
#define HEIGHT 106    /* of the highest bar */
#define TOP 14        /* above it, for its number */
#define SMALL 24      /* the highest bar of a kind */
#define KINDS_MAX 256 /* that are told from each other */

static const char *const actions[ACTIONS] = { UM_ACTION_WORDS };

/* What has ended in the same way. */
struct series {
	struct um_str kind, action, reason;
	int64_t sum;
	int64_t of[BUCKETS_MAX];
};

/* What is drawn, and written as a table. */
struct figures {
	int64_t begin_ms; /* of the first bucket */
	unsigned buckets;
	struct series actions[ACTIONS];
	struct series kinds[KINDS_MAX + 1]; /* with room for the others */
	size_t kinds_len;
};

static struct series *
find_kind(struct figures *figures, const json_t *row)
{
	struct series key = { .kind = um_row_text(row, "kind"),
		.action = um_row_text(row, "action"),
		.reason = um_row_text(row, "reason") };
	size_t i = 0;

	for (; i < figures->kinds_len; i++) {
		const struct series *kind = &figures->kinds[i];

		if (um_str_eq(kind->kind, key.kind)
			&& um_str_eq(kind->action, key.action)
			&& um_str_eq(kind->reason, key.reason))
			break;
	}
	if (i == figures->kinds_len && i < KINDS_MAX) {
		figures->kinds[i] = key;
		figures->kinds_len++;
	}
	return &figures->kinds[i];
}

static void
add(struct series *to, unsigned bucket, int64_t number)
{
	to->sum += number;
	to->of[bucket] += number;
}

static int
by_sum(const void *a, const void *b)
{
	const struct series *one = a, *other = b;

	return (one->sum < other->sum) - (one->sum > other->sum);
}

/* The last one is what has no place of its own. */
static void
join_others(struct figures *figures)
{
	struct series others = figures->kinds[KINDS_MAX];

	others.action = um_str("others");
	qsort(figures->kinds, figures->kinds_len, sizeof(figures->kinds[0]),
		by_sum);
	while (figures->kinds_len > UM_CHART_SERIES) {
		const struct series *kind =
			&figures->kinds[--figures->kinds_len];

		for (unsigned i = 0; i < figures->buckets; i++)
			add(&others, i, kind->of[i]);
	}
	if (others.sum != 0)
		figures->kinds[figures->kinds_len++] = others;
}

static void
count(struct figures *figures, const struct um_view *view,
	const struct um_chart *chart)
{
	int64_t last = view->now_ms - view->now_ms % chart->bucket_ms;

	figures->buckets = chart->buckets;
	figures->begin_ms = last
		- (int64_t)(chart->buckets - 1) * chart->bucket_ms;
	for (size_t a = 0; a < ACTIONS; a++)
		figures->actions[a].action = um_str(actions[a]);
	for (size_t i = 0; i < json_array_size(chart->rows); i++) {
		const json_t *row = json_array_get(chart->rows, i);
		int64_t number = um_row_int(row, "number"), ms, bucket;

		if (!um_row_time(row, "at", &ms) || ms < figures->begin_ms)
			continue;
		bucket = (ms - figures->begin_ms) / chart->bucket_ms;
		if (bucket >= chart->buckets)
			continue;
		add(find_kind(figures, row), (unsigned)bucket, number);
		for (size_t a = 0; a < ACTIONS; a++)
			if (um_str_is(um_row_text(row, "action"), actions[a]))
				add(&figures->actions[a], (unsigned)bucket,
					number);
	}
	join_others(figures);
}

/* What stands for the others is no action: it has their colour. */
static void
put_class(const struct um_view *view, const struct series *series)
{
	const char *class = "others";

	for (size_t a = 0; a < ACTIONS; a++)
		if (um_str_is(series->action, actions[a]))
			class = actions[a];
	um_buf_cat(view->body, "class=\"", class, "\"");
}

/* Bars of one series on top of what is below them, in `step` each. */
static void
put_bars(const struct um_view *view, const struct series *series,
	unsigned buckets, unsigned step, int64_t below[BUCKETS_MAX],
	int64_t height, int64_t most)
{
	um_buf_puts(view->body, "<path ");
	put_class(view, series);
	um_buf_puts(view->body, " d=\"");
	for (unsigned i = 0; i < buckets; i++) {
		int64_t high;

		if (series->of[i] == 0)
			continue;
		/* As whole units: a page has many of them. */
		high = (int64_t)((double)series->of[i] * (double)height
				/ (double)most
			+ 0.5);
		high = high < 1 ? 1 : high;
		um_buf_printf(view->body, "M%u %" PRId64 "v-%" PRId64,
			i * step + step / 2, below[i], high);
		below[i] -= high;
	}
	um_buf_puts(view->body, "\"/>");
}

static void
begin_bars(int64_t below[BUCKETS_MAX], int64_t from)
{
	for (unsigned i = 0; i < BUCKETS_MAX; i++)
		below[i] = from;
}

static void
put_actions(const struct um_view *view, const struct um_chart *chart,
	const struct figures *figures)
{
	const unsigned step = WIDTH / figures->buckets;
	int64_t below[BUCKETS_MAX];
	int64_t most = 0;

	for (unsigned i = 0; i < figures->buckets; i++) {
		int64_t sum = 0;

		for (size_t a = 0; a < ACTIONS; a++)
			sum += figures->actions[a].of[i];
		most = sum > most ? sum : most;
	}
	um_buf_printf(view->body,
		"<svg viewBox=\"0 0 %d %d\" role=\"img\" "
		"aria-labelledby=\"%s\">\n"
		"<path class=\"axis\" d=\"M0 %d.5h%d\"/>"
		"<text x=\"0\" y=\"10\">%" PRId64
		"</text>\n<g stroke-width=\"%u\">",
		WIDTH, TOP + HEIGHT + 8, chart->id, TOP + HEIGHT, WIDTH, most,
		step - 4);
	begin_bars(below, TOP + HEIGHT);
	for (size_t a = 0; a < ACTIONS; a++)
		put_bars(view, &figures->actions[a], figures->buckets, step,
			below, HEIGHT, most);
	um_buf_puts(view->body, "</g>\n</svg>\n<p class=\"key soft\">");
	for (size_t a = 0; a < ACTIONS; a++)
		um_buf_printf(view->body,
			"<span><svg viewBox=\"0 0 1 1\" aria-hidden=\"true\">"
			"<path class=\"%s\" d=\"M0 .5h1\"/></svg> "
			"<code>%s</code></span> ",
			actions[a], actions[a]);
	um_buf_puts(view->body, "</p>\n");
}

/* "payment cancel expired", or that it is the others. */
static void
put_name(const struct um_view *view, const struct series *series,
	const char *between)
{
	if (series->kind.len == 0) {
		um_view_say(view, UM_TEXT_CONSOLE_OTHERS);
		return;
	}
	um_view_code(view, series->kind);
	um_buf_puts(view->body, between);
	um_view_code(view, series->action);
	um_buf_puts(view->body, between);
	um_view_code(view, series->reason);
}

/* Each has the height of its own highest bar: the number says how many it is. */
static void
put_small(const struct um_view *view, const struct series *series,
	unsigned buckets)
{
	int64_t below[BUCKETS_MAX];
	int64_t most = 0;

	for (unsigned i = 0; i < buckets; i++)
		most = series->of[i] > most ? series->of[i] : most;
	um_buf_printf(view->body,
		"<svg viewBox=\"0 0 %u %d\" aria-hidden=\"true\" "
		"stroke-width=\"4\">",
		buckets * 5, SMALL);
	begin_bars(below, SMALL);
	put_bars(view, series, buckets, 5, below, SMALL, most);
	um_buf_puts(view->body, "</svg>");
}

static void
put_kinds(const struct um_view *view, const struct um_chart *chart,
	const struct figures *figures)
{
	static const enum um_text columns[] = { UM_TEXT_CONSOLE_KIND,
		UM_TEXT_CONSOLE_ACTION, UM_TEXT_CONSOLE_REASON,
		UM_TEXT_CONSOLE_TIME };

	if (figures->kinds_len == 0) {
		um_view_paragraph(view, "soft", UM_TEXT_CONSOLE_NOTHING);
		return;
	}
	um_view_table(view, chart->title, UM_TEXT_COUNT);
	for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++)
		um_view_column(view, columns[i], false);
	um_view_column(view, UM_TEXT_CONSOLE_NUMBER, true);
	um_view_table_body(view);
	for (size_t i = 0; i < figures->kinds_len; i++) {
		const struct series *kind = &figures->kinds[i];

		um_buf_puts(view->body,
			kind->kind.len == 0 ? "<tr><td colspan=\"3\">"
					    : "<tr><td>");
		put_name(view, kind, "</td><td>");
		um_buf_puts(view->body, "</td><td class=\"bars\">");
		put_small(view, kind, figures->buckets);
		um_buf_printf(view->body,
			"</td><td class=\"n\">%" PRId64 "</td></tr>\n",
			kind->sum);
	}
	um_view_table_end(view);
}

static void
put_numbers(const struct um_view *view, const struct series *series, size_t len,
	unsigned bucket)
{
	for (size_t i = 0; i < len; i++)
		um_buf_printf(view->body, "<td>%" PRId64, series[i].of[bucket]);
}

/* "2026-11-29 04:00", or of a day its date. */
static void
put_bucket(const struct um_view *view, int64_t ms, int64_t bucket_ms)
{
	time_t seconds = (time_t)(ms / 1000);
	char text[32];
	struct tm tm;

	gmtime_r(&seconds, &tm);
	strftime(text, sizeof(text),
		bucket_ms < 86400000 ? "%Y-%m-%d %H:%M" : "%Y-%m-%d", &tm);
	um_buf_puts(view->body, text);
}

/* The same figures: what was drawn. HTML needs no end of a cell, and there are many. */
static void
put_table(const struct um_view *view, const struct um_chart *chart,
	const struct figures *figures)
{
	um_buf_puts(view->body, "<div class=\"figures\">\n");
	um_view_table(view, chart->title, UM_TEXT_CONSOLE_AS_TABLE);
	um_view_column(view, UM_TEXT_CONSOLE_TIME, false);
	for (size_t a = 0; a < ACTIONS; a++)
		um_buf_cat(view->body, "<th scope=\"col\"><code>", actions[a],
			"</code></th>");
	for (size_t i = 0; i < figures->kinds_len; i++) {
		um_buf_puts(view->body, "<th scope=\"col\">");
		put_name(view, &figures->kinds[i], "<br>");
		um_buf_puts(view->body, "</th>");
	}
	um_view_table_body(view);
	for (unsigned i = figures->buckets; i-- > 0;) {
		um_buf_puts(view->body, "<tr><th scope=\"row\">");
		put_bucket(view,
			figures->begin_ms + (int64_t)i * chart->bucket_ms,
			chart->bucket_ms);
		put_numbers(view, figures->actions, ACTIONS, i);
		put_numbers(view, figures->kinds, figures->kinds_len, i);
		um_buf_puts(view->body, "</tr>\n");
	}
	um_view_table_end(view);
	um_buf_puts(view->body, "</div>\n");
}

void
um_chart_put(const struct um_view *view, const struct um_chart *chart)
{
	struct figures *figures = calloc(1, sizeof(*figures));

	if (figures == NULL) {
		view->body->failed = true;
		return;
	}
	count(figures, view, chart);
	um_buf_puts(view->body, "<section>\n");
	um_view_heading(view, chart->id, chart->title);
	put_actions(view, chart, figures);
	put_kinds(view, chart, figures);
	um_buf_puts(view->body, "<details><summary>");
	um_view_say(view, UM_TEXT_CONSOLE_AS_TABLE);
	um_buf_puts(view->body, "</summary>\n");
	put_table(view, chart, figures);
	um_buf_puts(view->body, "</details>\n</section>\n");
	free(figures);
}
