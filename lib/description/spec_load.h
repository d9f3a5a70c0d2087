/* SPDX-License-Identifier: MIT */
/*
 * Loads a provider's description: lib/providers/NAME.json. Nothing here is
 * touched by a request.
 */
#ifndef UM_SPEC_LOAD_H
#define UM_SPEC_LOAD_H

#include <stdbool.h>

#include "core/str.h"
#include "description/provider_env.h"
#include "webhook/spec.h"

/*
 * Loads a description and gives it its keys and constants from `env`. Refuses,
 * with the file, the JSON pointer (RFC 6901) and the reason: keys and values
 * that the language does not have; a `trust` that the schemes do not prove; a
 * secret, certificate or constant that is needed and not configured, or
 * configured and not used; a mode or accounts that its events do not name. The
 * caller frees *out with um_spec_free().
 */
bool um_spec_load(struct um_spec **out, const char *path,
	const struct um_provider_env *env, struct um_error *err);
#endif
