/* SPDX-License-Identifier: MIT */
/* Times as providers write them. */
#ifndef UM_TIMESTAMP_H
#define UM_TIMESTAMP_H

#include <stdbool.h>
#include <stdint.h>

#include "core/str.h"

enum um_timestamp_form {
	UM_TIMESTAMP_UNIX,    /* seconds, digits only */
	UM_TIMESTAMP_UNIX_MS, /* milliseconds, digits only */
	UM_TIMESTAMP_RFC3339, /* section 5.6, upper case, without leap seconds */
};

/* Unix milliseconds. False for a text that is not exactly of this form. */
bool um_timestamp_parse(int64_t *ms, struct um_str text,
	enum um_timestamp_form form);

#endif
