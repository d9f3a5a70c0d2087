/* SPDX-License-Identifier: MIT */
#include "api/create_form.h"

#include <string.h>

#include "contract/limits.h"
#include "core/json_canonical.h"
#include "core/json_put.h"
#include "form/definition.h"

#define SUBMIT_LABEL_MAX 160 /* bytes of its 40 characters */

bool
um_create_has_form(enum um_kind kind)
{
	return kind == UM_KIND_INPUT || kind == UM_KIND_APPROVAL;
}

/*
 * The form without members that say nothing, and with those that are members of the
 * call, as the packages seal it.
 */
static void
put_form(struct um_buf *out, const struct um_json_node *form,
	struct um_str submit_label, bool step_up)
{
	const struct um_json_node *facts = um_json_member(form,
		um_str("facts"));
	const char *left_out[4] = { NULL };
	size_t len = 0;

	if (facts != NULL && facts->size == 1 && facts->kind == UM_JSON_ARRAY)
		left_out[len++] = "facts";
	if (submit_label.ptr != NULL)
		left_out[len++] = "submit_label";
	if (step_up)
		left_out[len++] = "step_up";
	um_json_canonical_without(out, form, left_out);
	if (out->failed)
		return;
	out->len--; /* the bracket that ends it */
	if (submit_label.ptr != NULL)
		um_json_put_member(out, "submit_label", submit_label);
	if (step_up) {
		um_json_put_key(out, um_str("step_up"));
		um_json_put_bool(out, true);
	}
	um_json_put_end(out);
}

/* Removes `"required":false` of each field, which says nothing. */
static void
drop_not_required(struct um_buf *form)
{
	static const char says[] = "\"required\":false,";
	struct um_buf out = { 0 };
	bool in_string = false;
	size_t len = sizeof(says) - 1;

	for (size_t i = 0; i < form->len; i++) {
		if (!in_string && form->len - i > len
			&& memcmp(form->ptr + i, says, len) == 0) {
			i += len - 1;
			continue;
		}
		if (form->ptr[i] == '"' && !in_string)
			in_string = true;
		else if (form->ptr[i] == '"')
			in_string = false;
		um_buf_put(&out, form->ptr + i, 1);
		if (in_string && form->ptr[i] == '\\' && i + 1 < form->len)
			um_buf_put(&out, form->ptr + ++i, 1);
	}
	um_buf_free(form);
	*form = out;
}

static void
read_form(struct um_create_form *create, enum um_kind kind,
	struct um_reader *reader)
{
	struct um_definition definition;
	struct um_schema_fault fault = { "", "" };
	struct um_str submit_label = { 0 };
	bool step_up = false;
	struct um_reader form;

	if (um_reader_is_for(reader, "submit_label", kind == UM_KIND_INPUT))
		um_reader_text(reader, "submit_label", UM_OPTIONAL, 1,
			SUBMIT_LABEL_MAX, &submit_label);
	if (um_reader_is_for(reader, "step_up", kind == UM_KIND_APPROVAL))
		um_reader_bool(reader, "step_up", &step_up);
	if (!um_reader_is_for(reader, "form", um_create_has_form(kind))
		|| !um_create_has_form(kind)
		|| !um_reader_object(reader, "form", UM_REQUIRED, &form))
		return;
	put_form(&create->json, form.object, submit_label, step_up);
	drop_not_required(&create->json);
	if (!um_definition_read(&definition, um_buf_str(&create->json),
		    kind == UM_KIND_APPROVAL, &fault)) {
		if (submit_label.ptr != NULL
			&& strcmp(fault.pointer, "/submit_label") == 0)
			um_reader_refuse(reader, "submit_label",
				"submit_label %s", fault.must);
		um_reader_refuse(reader, "form", "form%s %s", fault.pointer,
			fault.must);
	}
	um_definition_free(&definition);
}

static bool
is_subject(const struct um_json_node *node)
{
	struct um_str subject = um_json_str(node);

	return node->kind == UM_JSON_STRING && subject.len != 0
		&& subject.len <= UM_SUBJECT_MAX
		&& memchr(subject.ptr, '\0', subject.len) == NULL;
}

/* The first one that is wrong or too many ends it: a list may be long. */
static bool
are_approvers(const struct um_json_node *list)
{
	const struct um_json_node *one = NULL;
	size_t len = 0;

	while ((one = um_json_next(list, one)) != NULL) {
		const struct um_json_node *other = NULL;

		if (len++ == UM_APPROVERS_MAX || !is_subject(one))
			return false;
		while ((other = um_json_next(list, other)) != one)
			if (um_str_eq(um_json_str(other), um_json_str(one)))
				return false;
	}
	return len != 0;
}

/* "starter", "others", or a list of subjects. */
static void
read_approver(struct um_create_form *create, enum um_kind kind,
	struct um_reader *reader)
{
	const struct um_json_node *node = um_reader_get(reader, "approver");

	if (!um_reader_is_for(reader, "approver", kind == UM_KIND_APPROVAL)
		|| node == NULL || um_json_string_eq(node, um_str("starter")))
		return;
	create->by_others = true;
	if (um_json_string_eq(node, um_str("others")))
		um_buf_puts(&create->approvers, "[]");
	else if (are_approvers(node))
		um_json_canonical(&create->approvers, node);
	else
		um_reader_refuse(reader, "approver",
			"approver must be starter, others, or an array of 1 to "
			"%d different subjects",
			UM_APPROVERS_MAX);
}

/* With it the row has an object. */
static void
read_four_eyes(struct um_create_form *create, enum um_kind kind,
	struct um_reader *reader)
{
	struct um_buf *approvers = &create->approvers, names = *approvers;

	if (!um_reader_is_for(reader, "four_eyes", kind == UM_KIND_APPROVAL)
		|| !um_reader_bool(reader, "four_eyes", &create->four_eyes)
		|| !create->four_eyes)
		return;
	if (!create->by_others) {
		um_reader_refuse(reader, "four_eyes",
			"four_eyes requires an approver: others, or subjects");
		return;
	}
	*approvers = (struct um_buf){ 0 };
	um_json_put_begin(approvers);
	um_json_put_key(approvers, um_str("approvers"));
	um_buf_put(approvers, names.ptr, names.len);
	um_json_put_key(approvers, um_str("four_eyes"));
	um_json_put_bool(approvers, true);
	um_json_put_end(approvers);
	um_buf_free(&names);
}

void
um_create_form_read(struct um_create_form *form, enum um_kind kind,
	struct um_reader *reader)
{
	read_form(form, kind, reader);
	read_approver(form, kind, reader);
	read_four_eyes(form, kind, reader);
}

void
um_create_form_free(struct um_create_form *form)
{
	um_buf_free(&form->json);
	um_buf_free(&form->approvers);
}
