/* SPDX-License-Identifier: MIT */
/* Compiles `reconcile`: how the provider's own list of payments is read. */
#ifndef UM_LIST_LOAD_H
#define UM_LIST_LOAD_H

#include <stdbool.h>

#include <jansson.h>

#include "core/conf.h"
#include "description/provider_env.h"
#include "webhook/spec.h"

/*
 * `node` may be NULL: the description has none. Call it after the webhook was
 * compiled, whose units of amounts in minor units count here too.
 */
bool um_list_load(struct um_spec *spec, const struct um_conf_loc *at,
	json_t *node, const struct um_provider_env *env);

#endif
