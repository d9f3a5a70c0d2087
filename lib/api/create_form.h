/* SPDX-License-Identifier: MIT */
/* The members of `create` for kinds input and approval: what their page asks, and whom. */
#ifndef UM_CREATE_FORM_H
#define UM_CREATE_FORM_H

#include <stdbool.h>

#include "api/reader.h"
#include "config/provider.h"
#include "core/str.h"

/* Begins zeroed. The buffers are JSON, and empty if there is none. */
struct um_create_form {
	struct um_buf json; /* canonical */
	struct um_buf approvers;
	bool by_others; /* approver: others than its subject decide */
	bool four_eyes; /* and never the subject, in no spelling */
};

/* Whether the callback programs serve the page of this kind themselves. */
bool um_create_has_form(enum um_kind kind);

/*
 * Reads form, submit_label, step_up, approver and four_eyes. What is wrong is a
 * fault of the request. The caller frees *form in every case.
 */
void um_create_form_read(struct um_create_form *form, enum um_kind kind,
	struct um_reader *reader);

void um_create_form_free(struct um_create_form *form);

#endif
