/* SPDX-License-Identifier: MIT */
#include "webhook/spec_part.h"

#include <stdlib.h>

void
um_spec_part_free(struct um_spec_part *part)
{
	for (size_t i = 0; i < part->schemes_len; i++)
		um_scheme_free(&part->schemes[i]);
	for (size_t i = 0; i < part->rules_len; i++) {
		struct um_outcome_rule *rule = &part->rules[i];

		um_strlist_free(&rule->types);
		um_conditions_free(&rule->when);
		um_expr_free(&rule->amount);
		um_expr_free(&rule->reference);
		um_expr_free(&rule->checkout);
		um_expr_free(&rule->refund);
		um_expr_free(&rule->state);
		um_expr_free(&rule->evidence_due.from);
		um_expr_free(&rule->also);
	}
	free(part->rules);
	um_challenge_free(&part->challenge);
	free(part->payload.field);
	um_pointer_free(&part->payload.events);
	um_expr_free(&part->timestamp);
	um_expr_free(&part->origin.live);
	um_strlist_free(&part->origin.live_is);
	um_expr_free(&part->origin.account);
	um_strlist_free(&part->origin.accounts);
	um_expr_free(&part->identity);
	um_expr_free(&part->type);
	um_expr_free(&part->elicitation);
	um_expr_free(&part->amount);
	um_expr_free(&part->currency);
	um_expr_free(&part->reference);
	um_expr_free(&part->checkout);
	um_expr_free(&part->tax);
	um_expr_free(&part->time.from);
	um_subscription_spec_free(&part->subscription);
	*part = (struct um_spec_part){ 0 };
}
