/* SPDX-License-Identifier: MIT */
/*
 * The forms of texts that have a name. lib/PROTOCOL.md says what each one is,
 * and the packages take the same.
 */
#ifndef UM_FORMATS_H
#define UM_FORMATS_H

#include <stdbool.h>

#include "core/str.h"

/* The characters that a text of one line has, if its field says so. */
enum um_format {
	UM_FORMAT_ANY,
	UM_FORMAT_DIGITS,
	UM_FORMAT_LETTERS, /* of ASCII, as in all of these */
	UM_FORMAT_ALPHANUMERIC,
	UM_FORMAT_HEX,
	UM_FORMAT_TOKEN, /* any printable character but a space */
};

/* The format with this name. False: there is none. */
bool um_format_named(enum um_format *format, struct um_str name);

/* Whether the text, which is not empty, has only characters of the format. */
bool um_format_fits(enum um_format format, struct um_str text);

/*
 * A number as JSON writes it, with at most UM_DIGITS_MAX digits and without an
 * exponent. False: it is not one.
 */
bool um_format_number(double *number, struct um_str text);

/* As HTML defines a valid e-mail address ("E-mail state"). */
bool um_is_email(struct um_str text);

/* An http or https address with a host, and without a space. */
bool um_is_url(struct um_str text);

/*
 * The link of a field: an https URL (RFC 3986) without user information, whose
 * host is an IPv6 address in brackets, an IPv4 address, or a name without
 * percent-encoding; a name whose last label is a number is an IPv4 address. The
 * port is empty or from 1 to 65535. After host and port, any printable ASCII.
 */
bool um_is_link(struct um_str text);

/*
 * What is wrong with a text, as the rest of a sentence, if it has to be of this
 * format of lib/contract/form.schema.json. NULL: nothing, or no such format.
 */
const char *um_format_fault(struct um_str name, struct um_str text);

#endif
