/* SPDX-License-Identifier: MIT */
/*
 * A signature header made of named parts: `t=…,v1=…,v1=…`, `ts=…;h1=…`,
 * `v1,… v1a,…`. A name may stand there more than once.
 */
#ifndef UM_PAIRS_H
#define UM_PAIRS_H

#include <stdbool.h>
#include <stddef.h>

#include "core/str.h"
#include "http/form.h"

#define UM_PAIRS_MAX 16

struct um_pairs {
	size_t len;
	/* Points into the text. */
	struct um_field pair[UM_PAIRS_MAX];
};

/*
 * Splits at each `between`, takes spaces and tabs off both ends, and splits
 * at the first `equals`. False for too many, an empty pair or an empty name,
 * or one without `equals`.
 */
bool um_pairs_parse(struct um_pairs *pairs, struct um_str text,
	const char *between, const char *equals);

#endif
