/* SPDX-License-Identifier: MIT */
#include "webhook/event_details.h"

#include "core/timestamp.h"

void
um_event_read_tax(struct um_event *event, const struct um_spec_part *part,
	const struct um_source *source)
{
	struct um_misread ignored;
	struct um_details *details = &event->details;
	char tax[32];

	if (!um_event_accepts(event) || !event->has_amount
		|| um_event_text(&part->tax, source, tax, sizeof(tax), "/tax",
			   &ignored)
			!= UM_FOUND)
		return;
	details->has_tax = um_amount_parse(&details->tax, um_str(tax),
		&part->amount_units, event->currency);
}

/* A time in Unix seconds, 0 where the event does not say it. */
static bool
read_time(int64_t *seconds, const struct um_time *time,
	const struct um_source *source, const char *place,
	struct um_misread *misread)
{
	char text[64];
	int64_t ms = 0;
	enum um_found found = um_event_text(&time->from, source, text,
		sizeof(text), place, misread);

	if (found == UM_FOUND
		&& !um_timestamp_parse(&ms, um_str(text), time->form)) {
		um_event_refuse(misread, place, NULL,
			"is not a time of this form");
		found = UM_BAD;
	}
	*seconds = ms / 1000;
	return found != UM_BAD;
}

bool
um_event_read_details(struct um_event *event, const struct um_spec_part *part,
	const struct um_source *source, size_t outcome,
	struct um_misread *misread)
{
	const struct um_outcome_rule *rule = &part->rules[outcome];
	struct um_details *details = &event->details;

	if (event->effect == UM_EFFECT_NAMED)
		return um_event_fit(&rule->also, source, details->also,
			sizeof(details->also), "/also", misread);
	if (event->effect != UM_EFFECT_RENEWED
		&& event->effect != UM_EFFECT_REFUNDED
		&& event->effect != UM_EFFECT_REFUND_REVERSED
		&& event->effect != UM_EFFECT_DISPUTED)
		return true;
	details->kind = rule->kind;
	if (event->effect == UM_EFFECT_RENEWED)
		return true;
	return read_time(&details->occurred_at, &part->time, source, "/time",
		       misread)
		&& um_event_fit(&rule->state, source, details->state,
			sizeof(details->state), "/state", misread)
		&& read_time(&details->evidence_due_at, &rule->evidence_due,
			source, "/evidence_due", misread);
}

bool
um_event_read_subscription(struct um_event *event,
	const struct um_spec_part *part, const struct um_source *source,
	struct um_misread *misread)
{
	struct um_subscription_misread why;

	if (!um_event_accepts(event) && event->effect != UM_EFFECT_RENEWED
		&& event->effect != UM_EFFECT_SUBSCRIPTION)
		return true;
	return um_subscription_read(&event->details.subscription,
		       &part->subscription, source,
		       event->effect == UM_EFFECT_SUBSCRIPTION, &why)
		|| um_event_refuse(misread, why.place, why.at, why.reason);
}
