/* SPDX-License-Identifier: MIT */
/*
 * A signature header made of named parts: `t=…,v1=…,v1=…`, `ts=…;h1=…`,
 * `v1,… v1a,…`. A name may stand there more than once.
 */
#ifndef UM_PARAMS_H
#define UM_PARAMS_H

#include <stdbool.h>
#include <stddef.h>

#include "core/str.h"
#include "http/form.h"

#define UM_SIGNATURE_PARAMS_MAX 16

struct um_params {
	size_t len;
	/* Points into the text. */
	struct um_field param[UM_SIGNATURE_PARAMS_MAX];
};

/*
 * Splits at each `separator`, takes spaces and tabs off both ends, and splits
 * at the first `equals`. False for too many, an empty pair or an empty name,
 * or one without `equals`.
 */
bool um_params_parse(struct um_params *params, struct um_str text,
	const char *separator, const char *equals);

#endif
