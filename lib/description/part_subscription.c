/* SPDX-License-Identifier: MIT */
/* Compiles `subscription` of a description. */
#include <stdlib.h>
#include <string.h>

#include "description/condition_load.h"
#include "description/part_load.h"

/* For how long a renewal may be late, in seconds. The default is the database's. */
#define LATE_MAX_S 2592000

static bool
load_value(struct um_expr *expr, const struct um_conf_loc *at,
	const json_t *node, const char *key, const struct um_expr_scope *scope)
{
	return json_object_get(node, key) == NULL
		|| um_expr_load_found(expr, at, node, key, scope);
}

static bool
load_time(struct um_subscription_time *time, const struct um_conf_loc *at,
	const json_t *node, const char *key, const struct um_expr_scope *scope)
{
	static const char *const keys[] = { "from", "as", "when", NULL };
	static const char *const forms[] = { "unix", "rfc3339", NULL };
	struct um_conf_loc here = um_conf_member(at, key);
	struct um_conf_loc list = um_conf_member(&here, "when");
	json_t *value = json_object_get(node, key);
	const json_t *when = json_object_get(value, "when");
	unsigned form;

	if (value == NULL)
		return true;
	if (!um_conf_check_keys(&here, value, keys)
		|| !um_expr_load_found(&time->from, &here, value, "from", scope)
		|| !um_conf_get_choice(&here, value, "as", forms, &form))
		return false;
	time->form = form == 0 ? UM_TIMESTAMP_UNIX : UM_TIMESTAMP_RFC3339;
	return when == NULL
		|| um_conditions_load(&time->when, &list, when, scope);
}

static bool
load_status(struct um_subscription_spec *spec, const struct um_conf_loc *at,
	const json_t *node, const struct um_expr_scope *scope)
{
	const char *keys[UM_SUBSCRIPTION_STATUSES + 2] = { "from" };
	struct um_conf_loc here = um_conf_member(at, "status");
	json_t *status = json_object_get(node, "status");
	bool ok;

	for (unsigned i = 0; i < UM_SUBSCRIPTION_STATUSES; i++)
		keys[i + 1] = um_subscription_word(
			(enum um_subscription_status)i);
	ok = um_conf_check_keys(&here, status, keys)
		&& um_expr_load_found(&spec->status, &here, status, "from",
			scope);
	for (unsigned i = 0; ok && i < UM_SUBSCRIPTION_STATUSES; i++) {
		struct um_conf_loc place = um_conf_member(&here, keys[i + 1]);
		const json_t *words = json_object_get(status, keys[i + 1]);

		if (words != NULL)
			ok = um_conf_get_strlist(&spec->words[i], &place, words,
				true);
	}
	return ok;
}

static bool
load_own(struct um_subscription_spec *spec, const struct um_conf_loc *at,
	const json_t *node, const struct um_expr_scope *scope)
{
	static const char *const keys[] = { "id", "status", "until",
		"trial_until", "cancel_at", "paused", NULL };
	struct um_conf_loc here = um_conf_member(at, "own");
	struct um_conf_loc list = um_conf_member(&here, "paused");
	json_t *own = json_object_get(node, "own");
	const json_t *paused = json_object_get(own, "paused");

	return um_conf_check_keys(&here, own, keys)
		&& um_expr_load_found(&spec->own_id, &here, own, "id", scope)
		&& load_status(spec, &here, own, scope)
		&& load_time(&spec->until, &here, own, "until", scope)
		&& load_time(&spec->trial_until, &here, own, "trial_until",
			scope)
		&& load_time(&spec->cancel_at, &here, own, "cancel_at", scope)
		&& (paused == NULL
			|| um_conditions_load(&spec->paused, &list, paused,
				scope));
}

bool
um_spec_part_load_subscription(struct um_spec_part *part,
	const struct um_conf_loc *at, const json_t *node,
	const struct um_expr_scope *scope)
{
	static const char *const keys[] = { "source", "id", "account",
		"payment", "at", "late", "own", NULL };
	struct um_subscription_spec *spec = &part->subscription;
	struct um_conf_loc here = um_conf_member(at, "subscription");
	json_t *given = json_object_get(node, "subscription");
	long long late = 0;
	const char *source;

	if (given == NULL)
		return true;
	spec->given = true;
	if (!um_conf_check_keys(&here, given, keys)
		|| !um_conf_get_text(&here, given, "source", true, &source)
		|| !um_expr_load_found(&spec->id, &here, given, "id", scope)
		|| !load_value(&spec->account, &here, given, "account", scope)
		|| !load_value(&spec->payment, &here, given, "payment", scope))
		return false;
	if (json_object_get(given, "at") == NULL)
		return um_conf_member_error(&here, "at", "is missing");
	if (!load_time(&spec->at, &here, given, "at", scope)
		|| (json_object_get(given, "late") != NULL
			&& !um_conf_get_integer(&here, given, "late", 1,
				LATE_MAX_S, &late)))
		return false;
	spec->late_ms = late * 1000;
	return load_own(spec, &here, given, scope);
}
