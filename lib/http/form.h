/* SPDX-License-Identifier: MIT */
/* application/x-www-form-urlencoded: query strings and posted forms. */
#ifndef UM_FORM_H
#define UM_FORM_H

#include <stdbool.h>

#include "core/str.h"
#include "http/refusal.h"

#define UM_FORM_FIELDS_MAX 128
#define UM_FORM_NAME_MAX 64     /* bytes, decoded */
#define UM_FORM_VALUE_MAX 12288 /* bytes, decoded: codes are long */

#define UM_FORM_TYPE "application/x-www-form-urlencoded"

struct um_field {
	struct um_str name;
	struct um_str value;
	/*
	 * Read leniently: NONE, or why the value cannot be relied on: as
	 * um_form_parse() says. The value of MALFORMED_PARAMETERS has a `?` for
	 * each byte that cannot be read, and is for people; others have none.
	 */
	enum um_refusal unreadable;
};

/* Zeroed to begin with. */
struct um_form {
	size_t len;
	/* Before the decoded text that they point into, in one allocation. */
	struct um_field *field;
	size_t size; /* of both, in bytes */
};

/*
 * Decodes `text` into *form, which does not point into it; an empty field name
 * without a value is skipped. The caller frees the form in every case.
 *
 * MALFORMED_PARAMETERS: a bad %-sequence, not UTF-8, a NUL, or out of memory.
 * DUPLICATE_PARAMETER: a name twice (RFC 6749 section 3.1).
 * PARAMETERS_TOO_LARGE: over one of the limits above.
 */
enum um_refusal um_form_parse(struct um_form *form, struct um_str text);

/* The same, with another limit for a value than UM_FORM_VALUE_MAX. */
enum um_refusal um_form_parse_max(struct um_form *form, struct um_str text,
	size_t value_max);

/*
 * The same for a form that is known to be authentic, of which only some fields
 * are read. A value that cannot be decoded or is too long, and a name that is
 * there twice, make the field unreadable. A field whose name cannot be decoded
 * or is too long is left out. PARAMETERS_TOO_LARGE: too many fields.
 * MALFORMED_PARAMETERS: out of memory.
 */
enum um_refusal um_form_parse_lenient(struct um_form *form, struct um_str text);

/* The field with this name, or NULL. */
const struct um_field *um_form_field(const struct um_form *form,
	const char *name);

/* The field's value; .ptr is NULL if there is none, or it is unreadable. */
struct um_str um_form_get(const struct um_form *form, const char *name);

/* Whether the field has this value. */
bool um_form_is(const struct um_form *form, const char *name, const char *text);

/*
 * Its value as um_form_get() gives it, and why it is unreadable; an absent field
 * is not.
 */
enum um_refusal um_form_read(const struct um_form *form, const char *name,
	struct um_str *value);

/* Wipes the decoded text and frees it; the form can be used again. */
void um_form_free(struct um_form *form);

#endif
