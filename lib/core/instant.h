/* SPDX-License-Identifier: MIT */
/* Points in time as providers write them. */
#ifndef UM_INSTANT_H
#define UM_INSTANT_H

#include <stdbool.h>
#include <stdint.h>

#include "core/str.h"

enum um_instant_form {
	UM_INSTANT_UNIX,    /* seconds, digits only */
	UM_INSTANT_UNIX_MS, /* milliseconds, digits only */
	UM_INSTANT_RFC3339, /* section 5.6, upper case, without leap seconds */
};

/* Unix milliseconds. False for what is not exactly of this form. */
bool um_instant_parse(int64_t *ms, struct um_str text,
	enum um_instant_form form);

#endif
