/* SPDX-License-Identifier: MIT */
/*
 * JSON (RFC 8259) that the programs write: results, log lines and /status.
 * Everything is appended to a buffer; um_json_put_key() writes the commas
 * between members.
 *
 *     um_json_put_begin(out);
 *     um_json_put_key(out, um_str("status"));
 *     um_json_put_string(out, um_str("ok"));
 *     um_json_put_end(out);
 */
#ifndef UM_JSON_PUT_H
#define UM_JSON_PUT_H

#include <stdbool.h>
#include <stdint.h>

#include "core/str.h"

/* Begins and ends an object. */
void um_json_put_begin(struct um_buf *out);
void um_json_put_end(struct um_buf *out);

/* The name of the next member; the caller puts its value after it. */
void um_json_put_key(struct um_buf *out, struct um_str name);

/* Values. The text must be UTF-8. */
void um_json_put_string(struct um_buf *out, struct um_str text);
void um_json_put_int(struct um_buf *out, int64_t value);
void um_json_put_bool(struct um_buf *out, bool value);
void um_json_put_null(struct um_buf *out);

/* A member whose value is a string; its name needs no escape. */
void um_json_put_member(struct um_buf *out, const char *name,
	struct um_str text);

#endif
