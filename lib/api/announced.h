/* SPDX-License-Identifier: MIT */
/*
 * The outcome that a notification brings (PROTOCOL.md, "Notifications"): it is
 * believed without a read of its row, if the row was read before, for this owner,
 * if the outcome opens for it, and if no claim changes what is shown of it.
 */
#ifndef UM_ANNOUNCED_H
#define UM_ANNOUNCED_H

#include <stdbool.h>
#include <stdint.h>

#include "api/watched.h"
#include "core/json.h"
#include "crypto/keys.h"

/*
 * What the row shows with this notification: *state, whose object is in *object.
 * False: the row is to be read.
 */
bool um_announced_put(struct um_watched_state *state, struct um_buf *object,
	const struct um_watched_row *row,
	const struct um_json_node *notification, const struct um_keys *keys);

#endif
