/* SPDX-License-Identifier: MIT */
/*
 * Compiles a part of a description: the webhook, the browser's return, or the
 * list of payments.
 */
#ifndef UM_PART_LOAD_H
#define UM_PART_LOAD_H

#include <stdbool.h>

#include <jansson.h>

#include "core/conf.h"
#include "description/expr_load.h"
#include "description/provider_env.h"
#include "webhook/spec.h"

#define UM_TOLERANCE_MAX 604800 /* seconds: a week */

/*
 * Compiles a part from the members of `node`, and gives it its keys. The caller
 * has checked that there are no unknown members. Free it in every case.
 */
bool um_spec_part_load(struct um_spec_part *part, const struct um_conf_loc *at,
	json_t *node, const struct um_provider_env *env, bool is_return);

/*
 * Compiles a time of an event, which is optional unless it `is_needed`: an object
 * of `from` and `as`.
 */
bool um_spec_part_load_time(struct um_time *time, const struct um_conf_loc *at,
	const json_t *node, const char *key, const struct um_expr_scope *scope,
	bool is_needed);

/*
 * Steps of that: compile `live` and `account`; `amount` and `currency`, which are
 * optional, but only together; `subscription`, which is optional; `outcomes`; and
 * `challenge`, which is optional.
 * `at` and `node` are the part.
 */
bool um_spec_part_load_origin(struct um_spec_part *part,
	const struct um_conf_loc *at, const json_t *node,
	const struct um_expr_scope *scope, const struct um_provider_env *env);
bool um_spec_part_load_amount(struct um_spec_part *part,
	const struct um_conf_loc *at, const json_t *node,
	const struct um_expr_scope *scope);
bool um_spec_part_load_subscription(struct um_spec_part *part,
	const struct um_conf_loc *at, const json_t *node,
	const struct um_expr_scope *scope);
bool um_spec_part_load_outcomes(struct um_spec_part *part,
	const struct um_conf_loc *at, const json_t *node,
	const struct um_expr_scope *scope);
bool um_spec_part_load_challenge(struct um_spec_part *part,
	const struct um_conf_loc *at, const json_t *node,
	const struct um_expr_scope *scope);

/* A step of that: gives the schemes their keys. */
bool um_spec_part_take_keys(struct um_spec_part *part,
	const struct um_conf_loc *at, const struct um_provider_env *env,
	bool is_return);

/*
 * A step of that: refuses a part whose `trust` claims more than each of its
 * schemes proves.
 */
bool um_spec_part_check_trust(struct um_spec_part *part,
	const struct um_conf_loc *at);

/*
 * Compiles `reconcile` into spec->list, whose events are the rows of the list;
 * `node` may be NULL: the description has none.
 */
bool um_spec_part_load_list(struct um_spec *spec, const struct um_conf_loc *at,
	json_t *node, const struct um_provider_env *env);

#endif
