/* SPDX-License-Identifier: MIT */
/* The fields of multipart/form-data (RFC 7578), without its files. */
#ifndef UM_MULTIPART_H
#define UM_MULTIPART_H

#include <stdbool.h>

#include "core/str.h"
#include "http/form.h"

#define UM_MULTIPART_FIELDS_MAX 128

struct um_multipart {
	size_t len;
	/* Points into the body. */
	struct um_field field[UM_MULTIPART_FIELDS_MAX];
};

/*
 * Finds the fields of a body; a part with a file name is skipped. Returns
 * false for another media type, for a Content-Type without exactly one valid
 * boundary, and for anything before the first or after the last boundary. Also
 * for a part without a name, a backslash in a quoted parameter, a transfer
 * encoding (RFC 7578 section 4.7), or more than UM_MULTIPART_FIELDS_MAX fields.
 */
bool um_multipart_parse(struct um_multipart *multipart,
	struct um_str content_type, struct um_str body);

/* The field with this name, unreadable if it is there twice; or NULL. */
const struct um_field *um_multipart_field(const struct um_multipart *multipart,
	const char *name);

/* The field's value; .ptr is NULL if there is none, or it is unreadable. */
struct um_str um_multipart_get(const struct um_multipart *multipart,
	const char *name);

#endif
