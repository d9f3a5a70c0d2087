/* SPDX-License-Identifier: MIT */
/*
 * A request in a file: perhaps its first line (POST /webhook/NAME?a=b HTTP/1.1),
 * its headers, an empty line, and the body, to the last byte of the file.
 */
#ifndef UM_SAVED_REQUEST_H
#define UM_SAVED_REQUEST_H

#include <stdbool.h>
#include <stddef.h>

#include "core/str.h"

#define UM_SAVED_HEADERS_MAX 64
#define UM_SAVED_FILE_MAX 8388608 /* bytes */

/* Zeroed to begin with. */
struct um_saved_request {
	/* What the members point into. */
	struct um_buf file, own_line, own_body;
	struct um_str line;  /* the first line, or empty */
	struct um_str query; /* of the first line */
	struct um_str body;
	bool is_get, has_body;
	size_t len;
	struct um_saved_header {
		char *name, *value;
	} header[UM_SAVED_HEADERS_MAX];
};

/* Reads it. Free it in every case. */
bool um_saved_request_read(struct um_saved_request *request, const char *path,
	struct um_error *err);
void um_saved_request_free(struct um_saved_request *request);

/* The header of this name of the request `arg`, in any case, or NULL. */
const char *um_saved_request_header(const char *name, void *arg);
/* Sets it, in place of the one that is there. False when there are too many. */
bool um_saved_request_set(struct um_saved_request *request, const char *name,
	struct um_str value);

/* Takes over the bytes as its query, or its body. False when out of memory. */
bool um_saved_request_take_query(struct um_saved_request *request,
	struct um_buf *query);
bool um_saved_request_take_body(struct um_saved_request *request,
	struct um_buf *body);

/* Appends it as it is in a file. */
void um_saved_request_put(const struct um_saved_request *request,
	struct um_buf *out);

#endif
