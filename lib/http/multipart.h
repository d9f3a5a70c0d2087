/* SPDX-License-Identifier: MIT */
/* multipart/form-data (RFC 7578) as programs send it: fields, no files. */
#ifndef UM_MULTIPART_H
#define UM_MULTIPART_H

#include <stdbool.h>

#include "core/str.h"
#include "http/form.h"

#define UM_MULTIPART_FIELDS_MAX 32

struct um_multipart {
	size_t len;
	/* Points into the body. */
	struct um_field field[UM_MULTIPART_FIELDS_MAX];
};

/* Whether the Content-Type header says that the body is one. */
bool um_multipart_is(struct um_str content_type);

/*
 * Finds the fields of a body. A part with a file name counts as no field.
 * Refused: a Content-Type without one good boundary, anything before the
 * first or after the last boundary, a part without a name, two fields of one
 * name, a transfer encoding (RFC 7578 section 4.7), more fields than fit.
 */
bool um_multipart_parse(struct um_multipart *multipart,
	struct um_str content_type, struct um_str body);

/* The field's value; .ptr is NULL where there is none. */
struct um_str um_multipart_get(const struct um_multipart *multipart,
	const char *name);

#endif
