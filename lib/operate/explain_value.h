/* SPDX-License-Identifier: MIT */
/* One value of a delivery, as it is shown to the author of a description. */
#ifndef UM_EXPLAIN_VALUE_H
#define UM_EXPLAIN_VALUE_H

#include <jansson.h>

#include "core/str.h"
#include "webhook/expr.h"

#define UM_EXPLAIN_VALUE_MAX 2000 /* bytes of a value that are shown */

/*
 * Appends a line: the key, the value or that it is absent or not readable, and the
 * place where it was found. Of several places it is the one that has the value. The
 * value is on one line, without what a terminal would act on. `place` is the JSON of
 * which the expression was compiled; without an expression there is no line.
 */
void um_explain_value(struct um_buf *out, const char *key,
	const struct um_expr *expr, const json_t *place,
	const struct um_source *source);

#endif
