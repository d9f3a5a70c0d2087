/* SPDX-License-Identifier: MIT */
/*
 * What `urlmode check` needs to do what a user does: the synthetic elicitation of
 * the built-in provider (um_provider_of_check()), whose tenant and subject have its
 * name as well, from its row to its unsealed outcome. The functions print to
 * standard output, and return false with the reason.
 */
#ifndef UM_WALK_H
#define UM_WALK_H

#include <stdbool.h>

#include "config/config.h"
#include "core/str.h"

/*
 * What its row is made of, a line each, `name value`: `id`, `state` (of its link),
 * `form` (sealed, in hexadecimal) and `kid` (of the key that mints and seals).
 */
bool um_walk_print_row(const struct um_config *config, struct um_error *err);

/*
 * The cookies of a browser whose user is signed in as this subject, as
 * the value of a header; nothing with a user_check that has no such cookie.
 */
bool um_walk_print_cookies(const struct um_config *config,
	struct um_error *err);

/*
 * The JSON of the sealed result (in hexadecimal) of the row with this id.
 */
bool um_walk_print_result(const char *id, const char *sealed,
	const struct um_config *config, struct um_error *err);

/*
 * A delivery of the command's own, `signature` and `body` in a line each
 * (crypto/check_signature.h).
 */
bool um_walk_print_delivery(const struct um_config *config,
	struct um_error *err);

/*
 * Listens as the service `operator` of libpq, says `listening`, and waits for the
 * notification that the row with this id is completed, for so many seconds. Then
 * says `heard`.
 */
bool um_walk_listen(const char *id, const char *seconds, struct um_error *err);

#endif
