/* SPDX-License-Identifier: MIT */
/*
 * Explains to the author of a description how a delivery is read with it: which
 * scheme matched, which bytes are signed, where each value was found, and the
 * effects of the events. The text contains values: never log it.
 */
#ifndef UM_EXPLAIN_H
#define UM_EXPLAIN_H

#include <jansson.h>

#include "core/str.h"
#include "webhook/spec.h"

/*
 * Appends lines. `description` is the JSON of which the part was compiled. The
 * verdict is that of um_spec_read(), for a GET if it is a challenge.
 */
enum um_verdict um_explain(const struct um_spec_part *part,
	const json_t *description, const struct um_delivery *delivery,
	bool is_challenge, struct um_buf *out);

/* The word for a verdict: good, unsigned, forged, stale … */
const char *um_explain_verdict(enum um_verdict verdict);

#endif
