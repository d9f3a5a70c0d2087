/* SPDX-License-Identifier: MIT */
/*
 * One-dimensional arrays in PostgreSQL's binary form (array_recv in
 * src/backend/utils/adt/arrayfuncs.c). Out of memory is the buffer's `failed`.
 */
#ifndef UM_ARRAY_H
#define UM_ARRAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/str.h"

/* Begins an array of `len` elements of the type with this OID. */
void um_array_begin(struct um_buf *out, int32_t type, size_t len);

/* Appends a copy of one element; NULL for SQL's NULL. */
void um_array_put(struct um_buf *out, const void *bytes, size_t len);

/* The same for a text. */
void um_array_put_text(struct um_buf *out, const char *text);

/* The same, with an empty text for SQL's NULL, as in an event. */
void um_array_put_known(struct um_buf *out, const char *text);

/* A jsonb, or SQL's NULL where the text is empty. */
void um_array_put_json(struct um_buf *out, struct um_str json);

/* An int8, or SQL's NULL unless it is `known`. */
void um_array_put_int64(struct um_buf *out, int64_t value, bool known);

#endif
