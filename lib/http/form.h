/* SPDX-License-Identifier: MIT */
/* application/x-www-form-urlencoded: query strings and posted forms. */
#ifndef UM_FORM_H
#define UM_FORM_H

#include <stdbool.h>

#include "core/str.h"

#define UM_FORM_FIELDS_MAX 32
#define UM_FORM_NAME_MAX 64    /* bytes, decoded */
#define UM_FORM_VALUE_MAX 4096 /* bytes, decoded */

#define UM_FORM_TYPE "application/x-www-form-urlencoded"

/*
 * Whether a Content-Type names this media type, in any case and with or
 * without parameters (RFC 9110 section 8.3.1).
 */
bool um_form_media_type_is(struct um_str content_type, const char *media_type);

struct um_field {
	struct um_str name;
	struct um_str value;
};

/* Zeroed to begin with. */
struct um_form {
	size_t len;
	struct um_field field[UM_FORM_FIELDS_MAX];
	char *bytes; /* what the fields point into */
	size_t bytes_len;
};

enum um_form_state {
	UM_FORM_GOOD,
	UM_FORM_MALFORMED, /* a bad %-sequence, not UTF-8, a NUL, no memory */
	UM_FORM_DUPLICATE, /* RFC 6749 section 3.1: not more than once */
	UM_FORM_TOO_LARGE, /* over one of the limits above */
};

/* Parses into *form; the caller frees it in every case. */
enum um_form_state um_form_parse(struct um_form *form, struct um_str text);

/* The field's value; .ptr is NULL where there is none. */
struct um_str um_form_get(const struct um_form *form, const char *name);

/* Wipes and frees; the form is empty and usable again. */
void um_form_free(struct um_form *form);

#endif
