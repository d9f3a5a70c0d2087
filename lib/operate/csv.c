/* SPDX-License-Identifier: MIT */
#include "operate/csv.h"

#include <string.h>

#include "core/json_put.h"

static bool
fail(const struct um_csv *csv, const char *reason, struct um_error *err)
{
	um_error(err, "line %zu %s", csv->line, reason);
	return false;
}

/* Takes the field at the start of `rest`, up to the comma or the line's end. */
static const char *
take_field(struct um_csv *csv, struct um_buf *out, size_t *lines)
{
	struct um_str *rest = &csv->rest;
	bool quoted = rest->len != 0 && rest->ptr[0] == '"';
	size_t i = quoted;

	for (;; i++) {
		char c = '\n';

		if (i < rest->len)
			c = rest->ptr[i];

		if (quoted && i == rest->len)
			return "has a quote that is not closed";
		*lines += quoted && c == '\n';
		if (quoted && c == '"') {
			if (i + 1 >= rest->len || rest->ptr[i + 1] != '"')
				break;
			i++;
		} else if (!quoted && c == '"') {
			return "has a quote inside of a field";
		} else if (!quoted && (c == ',' || c == '\n' || c == '\r')) {
			break;
		}
		um_buf_put(out, &c, 1);
	}
	i += quoted;
	rest->ptr += i;
	rest->len -= i;
	return NULL;
}

/* False at the end of the line. */
static bool
take_comma(struct um_csv *csv, const char **reason)
{
	struct um_str *rest = &csv->rest;
	size_t skip = rest->len != 0 && rest->ptr[0] == '\r';
	bool comma = rest->len != 0 && rest->ptr[0] == ',';

	if (!comma && rest->len > skip && rest->ptr[skip] != '\n')
		*reason = "has text after a quoted field";
	skip += rest->len > skip;
	rest->ptr += skip;
	rest->len -= skip;
	return comma;
}

static bool
take_row(struct um_csv *csv, struct um_buf *out, size_t *ends, size_t *len,
	struct um_error *err)
{
	size_t lines = 1;
	const char *reason = NULL;
	bool more = true;

	um_buf_clear(out);
	for (*len = 0; more && reason == NULL; (*len)++) {
		if (*len == UM_CSV_COLUMNS_MAX)
			return fail(csv, "has too many fields", err);
		reason = take_field(csv, out, &lines);
		ends[*len] = out->len;
		if (reason == NULL)
			more = take_comma(csv, &reason);
	}
	if (reason == NULL && out->failed)
		reason = "does not fit into memory";
	if (reason == NULL && !um_str_is_text(um_buf_str(out)))
		reason = "is not UTF-8";
	if (reason != NULL)
		return fail(csv, reason, err);
	csv->line += lines - 1;
	return true;
}

static struct um_str
field(const struct um_buf *bytes, const size_t *ends, size_t i)
{
	size_t start = i != 0 ? ends[i - 1] : 0;

	return (struct um_str){ bytes->ptr + start, ends[i] - start };
}

bool
um_csv_begin(struct um_csv *csv, struct um_str text, struct um_error *err)
{
	*csv = (struct um_csv){ .rest = text, .line = 1 };
	um_str_take_prefix(&csv->rest, "\xef\xbb\xbf");
	return take_row(csv, &csv->names, csv->name_ends, &csv->columns, err);
}

/* Some exports end with one. A row of one field may be empty. */
static void
skip_empty_lines(struct um_csv *csv)
{
	struct um_str *rest = &csv->rest;

	while (csv->columns > 1 && rest->len != 0) {
		size_t len = rest->ptr[0] == '\r' && rest->len > 1;

		if (rest->ptr[len] != '\n')
			return;
		rest->ptr += len + 1;
		rest->len -= len + 1;
		csv->line++;
	}
}

bool
um_csv_next(struct um_csv *csv, struct um_buf *out, struct um_error *err)
{
	size_t len;

	csv->line++;
	skip_empty_lines(csv);
	if (csv->rest.len == 0
		|| !take_row(csv, &csv->cells, csv->ends, &len, err))
		return false;
	if (len != csv->columns)
		return fail(csv, "has another number of fields than the first",
			err);
	um_json_put_begin(out);
	for (size_t i = 0; i < len; i++) {
		um_json_put_key(out, field(&csv->names, csv->name_ends, i));
		um_json_put_string(out, field(&csv->cells, csv->ends, i));
	}
	um_json_put_end(out);
	return true;
}

void
um_csv_free(struct um_csv *csv)
{
	um_buf_free(&csv->names);
	um_buf_free(&csv->cells);
}
