/* SPDX-License-Identifier: MIT */
/*
 * Ways in which providers are known to differ from a description: another reading
 * of the secret, or another name of a header. A provider that has changed either
 * is found by them.
 */
#ifndef UM_VARIANTS_H
#define UM_VARIANTS_H

#include <jansson.h>

#include "core/str.h"
#include "operate/saved_request.h"
#include "webhook/spec.h"

/*
 * Appends, for each scheme that is not right, a line for the first of them with
 * which the signature is right. `secrets` is a list of texts, or NULL. The keys of
 * the schemes are replaced meanwhile, and are as before in the end.
 */
void um_variants_put(struct um_spec_part *part,
	const struct um_delivery *delivery,
	const struct um_saved_request *request, const json_t *secrets,
	struct um_buf *out);

#endif
