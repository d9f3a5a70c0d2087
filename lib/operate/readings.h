/* SPDX-License-Identifier: MIT */
/*
 * What was signed, where the saved delivery is not quite that: an editor, a
 * dashboard or a library has written its body again, or the address of the
 * configuration differs by a slash.
 */
#ifndef UM_READINGS_H
#define UM_READINGS_H

#include "core/str.h"
#include "webhook/spec.h"

/*
 * Appends a line for each other reading whose signature is right. The literals
 * of the part are replaced meanwhile, and are as before in the end.
 */
void um_readings_put(struct um_spec_part *part,
	const struct um_delivery *delivery, struct um_buf *out);

#endif
