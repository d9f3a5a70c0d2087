/* SPDX-License-Identifier: MIT */
/*
 * A provider as data: lib/providers/NAME.json says how its signed deliveries
 * are verified and what they mean. lib/providers/README.md documents the
 * language, lib/providers/schema.json checks it.
 */
#ifndef UM_SPEC_H
#define UM_SPEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/str.h"
#include "crypto/token.h"
#include "webhook/delivery.h"

#define UM_EVENTS_MAX 64          /* events in one delivery */
#define UM_EVENT_IDENTITY_MAX 200 /* bytes of an event's identity */
#define UM_EVENT_TYPE_MAX 128
#define UM_REFERENCE_MAX 200

struct um_spec;

/* What the site's configuration adds to a description. */
struct um_provider_env {
	const char *const *secrets; /* any may match: rotation */
	size_t secrets_len;
	/* For the `return` part; none: the same secrets. */
	const char *const *return_secrets;
	size_t return_secrets_len;
	const char *certificate; /* PEM file of pinned ones, or NULL */
	/* A named constant ({"site": "webhook_id"}), or NULL. */
	const char *(*constant)(const char *name, void *arg);
	void *arg;
};

/*
 * Reads and compiles a description, with the site's part. Refused, with the
 * file, the JSON pointer (RFC 6901) and the reason: whatever the language
 * does not know, what claims to be proven and is not, and a secret,
 * certificate or constant that it needs and the site does not have, or has
 * and the description has no use for. The caller frees *out.
 */
bool um_spec_load(struct um_spec **out, const char *path,
	const struct um_provider_env *site, struct um_error *err);
/* Wipes and frees; NULL is fine. */
void um_spec_free(struct um_spec *spec);

enum um_effect {
	UM_EFFECT_IGNORE,     /* nothing to say to us */
	UM_EFFECT_PAID,       /* accept; also a document that was signed */
	UM_EFFECT_FAILED,     /* cancel, payment_failed */
	UM_EFFECT_CANCELLED,  /* decline, cancelled */
	UM_EFFECT_EXPIRED,    /* cancel, expired */
	UM_EFFECT_PROCESSING, /* known, the outcome is open */
	/*
	 * The MCP server must ask the provider's API. It says nothing by
	 * itself, so it may be said again: some providers (Mollie) send the
	 * same bytes each time that something changed. An identity that was
	 * seen before silences every other effect, but not this one.
	 */
	UM_EFFECT_RECHECK,
};

struct um_event {
	enum um_effect effect;
	bool has_id;     /* the delivery names an elicitation */
	bool has_amount; /* and a currency: never one without the other */
	uint8_t id[UM_UUID_LEN];
	/*
	 * For de-duplication: from signed parts, or "sha256:" and 64 digits
	 * of the body, of the second and later events with ":1" … after it.
	 */
	char identity[UM_EVENT_IDENTITY_MAX + 1];
	char type[UM_EVENT_TYPE_MAX + 1];
	char reference[UM_REFERENCE_MAX + 1]; /* the provider's own, or "" */
	char currency[4];                     /* ISO 4217, upper case, or "" */
	int64_t amount;                       /* its minor units */
};

enum um_verdict {
	UM_DELIVERY_GOOD,
	UM_DELIVERY_UNSIGNED,  /* no signature where one belongs: 401 */
	UM_DELIVERY_FORGED,    /* none of them is right: 401 */
	UM_DELIVERY_STALE,     /* outside of the timestamp's tolerance: 401 */
	UM_DELIVERY_MALFORMED, /* rightly signed, and not to be read: 400 */
};

/*
 * Verifies the delivery byte for byte, then reads it. The events, at most
 * UM_EVENTS_MAX, go to `events`, their number to *len (0 unless GOOD). What
 * no signature proves never means anything but RECHECK or IGNORE. Touches
 * no clock, file or socket.
 */
enum um_verdict um_spec_read(const struct um_spec *spec,
	const struct um_delivery *delivery, struct um_event *events,
	size_t *len);

/*
 * A browser's return that the provider signs into its URL (Razorpay,
 * Shopify): whether the description has a `return` part, and the same over
 * that; UNSIGNED where it has none.
 */
bool um_spec_has_return(const struct um_spec *spec);
enum um_verdict um_spec_read_return(const struct um_spec *spec,
	const struct um_delivery *delivery, struct um_event *event);

/* What the provider wants as the answer to a delivery that was taken. */
struct um_spec_answer {
	int status;
	const char *body; /* "" for none; the description's */
	const char *content_type;
};
struct um_spec_answer um_spec_answer(const struct um_spec *spec);

#endif
