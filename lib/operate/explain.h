/* SPDX-License-Identifier: MIT */
/*
 * Says, for whoever writes a description, how a delivery is read with it: which
 * scheme matched, what is signed, where each value was found, and what the
 * events mean. It shows values, and is not for a log.
 */
#ifndef UM_EXPLAIN_H
#define UM_EXPLAIN_H

#include <jansson.h>

#include "core/str.h"
#include "webhook/spec.h"

/*
 * Appends lines. `description` is the JSON of which the part was compiled. The
 * verdict is that of um_spec_read().
 */
enum um_verdict um_explain(const struct um_spec_part *part,
	const json_t *description, const struct um_delivery *delivery,
	struct um_buf *out);

/* The word for a verdict: good, unsigned, forged, stale or malformed. */
const char *um_explain_verdict(enum um_verdict verdict);

#endif
