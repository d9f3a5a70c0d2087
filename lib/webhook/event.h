/* SPDX-License-Identifier: MIT */
/* An event: the part of a verified delivery about one elicitation. */
#ifndef UM_EVENT_H
#define UM_EVENT_H

#include <stdbool.h>
#include <stdint.h>

#include "core/uuid.h"
#include "webhook/details.h"

#define UM_EVENTS_MAX 512         /* events in one delivery */
#define UM_EVENT_IDENTITY_MAX 200 /* bytes of an event's identity */
#define UM_EVENT_TYPE_MAX 128
#define UM_REFERENCE_MAX 200

enum um_effect {
	UM_EFFECT_IGNORE,     /* none */
	UM_EFFECT_PAID,       /* accept: money */
	UM_EFFECT_ACCEPTED,   /* accept: it was signed, verified, approved */
	UM_EFFECT_FAILED,     /* cancel, payment_failed */
	UM_EFFECT_CANCELLED,  /* decline, cancelled */
	UM_EFFECT_EXPIRED,    /* cancel, expired */
	UM_EFFECT_PROCESSING, /* received, the outcome is still open */
	/* An attempt to pay failed, and the provider's session goes on. */
	UM_EFFECT_ATTEMPT_FAILED,
	/* Money went back: a refund, a dispute, a cancelled authorisation. */
	UM_EFFECT_REFUNDED,
	UM_EFFECT_REFUND_REVERSED, /* what went back has come again */
	UM_EFFECT_DISPUTED,        /* how a dispute stands; moves no money */
	/*
	 * Of a subscription, and of no elicitation: a later payment, or what it is
	 * now.
	 */
	UM_EFFECT_RENEWED,
	UM_EFFECT_SUBSCRIPTION,
	UM_EFFECT_NAMED, /* a payment has another name as well */
	/* From the provider's test mode (or its live mode): moves nothing. */
	UM_EFFECT_OTHER_MODE,
	/* From an account that is not configured: moves nothing. */
	UM_EFFECT_OTHER_ACCOUNT,
	/*
	 * The MCP server must ask the provider's API. The event carries no
	 * outcome, so it may come again: some providers (Mollie) send the same
	 * bytes each time that something changed. An identity that was seen
	 * before suppresses every other effect, but not this one.
	 */
	UM_EFFECT_RECHECK,
};

struct um_event {
	enum um_effect effect;
	bool has_id; /* the delivery names an elicitation */
	/*
	 * It may be about one of ours: it names one, or it names a payment or an
	 * attempt to pay, and does not prove one.
	 */
	bool is_ours;
	bool has_amount; /* and a currency: never one without the other */
	uint8_t id[UM_UUID_LEN];
	/*
	 * For de-duplication. Taken from what is signed; otherwise "sha256:" and
	 * the 64 hexadecimal digits of the body's digest, with ":1", ":2" …
	 * appended for the second and later events of a delivery.
	 */
	char identity[UM_EVENT_IDENTITY_MAX + 1];
	char type[UM_EVENT_TYPE_MAX + 1];
	char reference[UM_REFERENCE_MAX
		+ 1]; /* the provider's, of the payment */
	/*
	 * Of REFUNDED, REFUND_REVERSED and DISPUTED: the provider's reference of
	 * the refund or dispute.
	 * "" where the amount is the total that went back of the payment.
	 */
	char refund[UM_REFERENCE_MAX + 1];
	/* Of PAID: the provider's id of the checkout that was paid, or "". */
	char checkout[UM_REFERENCE_MAX + 1];
	char currency[4]; /* ISO 4217, upper case, or "" */
	int64_t amount;   /* in its minor units */
	struct um_details details;
};

/* Whether it proves that the user has done what was asked for. */
static inline bool
um_event_accepts(const struct um_event *event)
{
	return event->effect == UM_EFFECT_PAID
		|| event->effect == UM_EFFECT_ACCEPTED;
}

#endif
