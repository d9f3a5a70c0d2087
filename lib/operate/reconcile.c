/* SPDX-License-Identifier: MIT */
#include "operate/reconcile.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/file.h"
#include "operate/csv.h"
#include "webhook/event_read.h"

static bool
read_time(int64_t *ms, const struct um_spec_part *part,
	const struct um_source *source)
{
	struct um_value value;
	bool ok = um_expr_eval(&part->time.from, source, &value) == UM_FOUND
		&& um_timestamp_parse(ms, value.text, part->time.form);

	um_value_free(&value);
	return ok;
}

/* Of a file: one without any row or reference is probably the wrong one. */
struct seen {
	size_t rows, references;
};

static bool
print_refund(const struct um_event *event, int64_t ms, struct um_error *err)
{
	if (event->refund[0] == '\0')
		return um_error(err, "/refund is not there");
	if (!event->has_amount)
		return um_error(err, "/amount or /currency is not there");
	printf("%s\t%" PRId64 "\t%" PRId64 "\t%s\t\t%s\n", event->reference, ms,
		event->amount, event->currency, event->refund);
	return true;
}

static bool
print_row(const struct um_spec_part *part, const struct um_json_node *row,
	struct seen *seen, struct um_error *err)
{
	struct um_delivery delivery = { 0 };
	struct um_parsed parsed = { .delivery = &delivery };
	const struct um_source source = { .parsed = &parsed, .item = row };
	struct um_misread misread;
	struct um_event event;
	char id[UM_UUID_TEXT_LEN + 1] = "";
	int64_t ms;

	if (!um_event_read(&event, part, &source, 0, false, &misread))
		return um_error(err, "%s %s", misread.place, misread.reason);
	seen->rows++;
	seen->references += event.reference[0] != '\0';
	if (!um_event_accepts(&event) && event.effect != UM_EFFECT_REFUNDED)
		return true;
	if (event.reference[0] == '\0')
		return um_error(err, "/reference is not there");
	if (!read_time(&ms, part, &source))
		return um_error(err, "/time is not there, or has another form");
	if (event.effect == UM_EFFECT_REFUNDED)
		return print_refund(&event, ms, err);
	/* Without an elicitation there is no amount to compare with. */
	if (!event.has_id) {
		printf("%s\t%" PRId64 "\t\t\t\n", event.reference, ms);
		return true;
	}
	if (!event.has_amount)
		return um_error(err, "/amount or /currency is not there");
	um_uuid_format(id, event.id);
	printf("%s\t%" PRId64 "\t%" PRId64 "\t%s\t%s\n", event.reference, ms,
		event.amount, event.currency, id);
	return true;
}

static bool
print_json(const struct um_spec_part *part, struct um_str text,
	struct seen *seen, struct um_error *err)
{
	struct um_json_fault fault;
	struct um_json_node *document = um_json_parse(text,
		UM_RECONCILE_VALUES_MAX, &fault);
	const struct um_json_node *rows, *row = NULL;
	struct um_error why;
	size_t number = 0;
	bool ok = true;

	if (document == NULL)
		return um_error(err, "byte %zu: %s", fault.at, fault.reason);
	rows = um_pointer_find(&part->payload.events, document);
	if (!um_json_is(rows, UM_JSON_ARRAY))
		ok = um_error(err, "there is no list at `rows`");
	while (ok && (row = um_json_next(rows, row)) != NULL) {
		number++;
		ok = print_row(part, row, seen, &why)
			|| um_error(err, "row %zu: %s", number, why.text);
	}
	free(document);
	return ok;
}

static bool
print_csv_row(const struct um_spec_part *part, struct um_str object,
	struct seen *seen, struct um_error *err)
{
	struct um_json_fault fault;
	struct um_json_node *row = um_json_parse(object,
		UM_RECONCILE_VALUES_MAX, &fault);
	bool ok = row != NULL ? print_row(part, row, seen, err)
			      : um_error(err, "%s", fault.reason);

	free(row);
	return ok;
}

static bool
print_csv(const struct um_spec_part *part, struct um_str text,
	struct seen *seen, struct um_error *err)
{
	struct um_csv csv;
	struct um_buf object = { 0 };
	struct um_error why;
	bool ok;

	err->text[0] = '\0';
	ok = um_csv_begin(&csv, text, err);
	while (ok && um_csv_next(&csv, &object, err)) {
		ok = print_csv_row(part, um_buf_str(&object), seen, &why)
			|| um_error(err, "line %zu: %s", csv.line, why.text);
		um_buf_clear(&object);
	}
	um_buf_free(&object);
	um_csv_free(&csv);
	return ok && err->text[0] == '\0';
}

static bool
print_file(const struct um_spec *spec, const char *path, struct um_error *err)
{
	struct um_buf text = { 0 };
	struct seen seen = { 0 };
	struct um_error why;
	bool ok = um_file_read(&text, path, UM_RECONCILE_FILE_MAX, err);

	if (ok && spec->list_is_csv)
		ok = print_csv(&spec->list, um_buf_str(&text), &seen, &why);
	else if (ok)
		ok = print_json(&spec->list, um_buf_str(&text), &seen, &why);
	if (ok && seen.rows == 0)
		ok = um_error(&why,
			"no row could be read: it is empty, or another list");
	else if (ok && seen.references == 0)
		ok = um_error(&why,
			"no row has a /reference: it is another list");
	if (!ok && err->text[0] == '\0')
		um_error(err, "%s: %s", path, why.text);
	um_buf_free(&text);
	return ok;
}

bool
um_reconcile_print(const char *provider, char **files, size_t len,
	const struct um_config *config, struct um_error *err)
{
	const struct um_provider *found = um_config_provider(config,
		um_str(provider));
	const struct um_spec *spec = found != NULL ? found->spec : NULL;
	bool ok = true;

	if (spec == NULL || !spec->has_list)
		return um_error(err,
			"%s: the configuration has no such provider, or its "
			"description has no `reconcile`",
			provider);
	for (size_t i = 0; ok && i < len; i++)
		ok = print_file(spec, files[i], err);
	return ok;
}
