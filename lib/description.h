/* SPDX-License-Identifier: MIT */
/*
 * A provider as data: lib/providers/NAME.json says how its signed deliveries
 * are verified and what they mean. lib/providers/README.md documents the
 * language, lib/providers/schema.json checks it.
 */
#ifndef UM_DESCRIPTION_H
#define UM_DESCRIPTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "str.h"
#include "token.h"

#define UM_EVENTS_MAX 64          /* events in one delivery */
#define UM_EVENT_IDENTITY_MAX 200 /* characters of an event's identity */
#define UM_EVENT_TYPE_MAX 128
#define UM_REFERENCE_MAX 200
#define UM_JSON_DEPTH_MAX 32 /* nesting of a body that is looked into */

struct um_description;

/* What the site's configuration adds to a description. */
struct um_site {
	const char *const *secrets; /* any may match: rotation */
	size_t secrets_len;
	const char *certificate; /* PEM file, for RSA, or NULL */
	/* A named constant ({"site": "webhook_id"}), or NULL. */
	const char *(*constant)(const char *name, void *arg);
	void *arg;
};

/*
 * Reads and compiles a description, with the site's part. Refused, with the
 * file, the JSON pointer (RFC 6901) and the reason: whatever the language
 * does not know, and a secret, certificate or constant that it needs and the
 * site does not have. The caller frees *out.
 */
bool um_description_load(struct um_description **out, const char *path,
	const struct um_site *site, struct um_error *err);
void um_description_free(struct um_description *description);

/* One delivery, as it came. Header names as in HTTP, any case. */
struct um_delivery {
	struct um_str query;
	struct um_str content_type;
	struct um_str body;
	const char *(*header)(const char *name, void *arg);
	void *arg;
	int64_t now_ms; /* Unix time */
};

enum um_meaning {
	UM_MEANS_IGNORE,     /* nothing to say to us */
	UM_MEANS_PAID,       /* accept */
	UM_MEANS_FAILED,     /* cancel, payment_failed */
	UM_MEANS_CANCELLED,  /* decline, cancelled */
	UM_MEANS_EXPIRED,    /* cancel, expired */
	UM_MEANS_PROCESSING, /* known, the outcome is open */
	UM_MEANS_RECHECK,    /* the MCP server must ask the provider's API */
};

struct um_event {
	enum um_meaning meaning;
	bool has_id; /* the delivery names an elicitation */
	uint8_t id[UM_ID_LEN];
	/* For de-duplication: from signed parts, or "sha256:" and 64 digits. */
	char identity[UM_EVENT_IDENTITY_MAX + 1];
	char type[UM_EVENT_TYPE_MAX + 1];
	char reference[UM_REFERENCE_MAX + 1]; /* the provider's own, or "" */
	bool has_amount;
	int64_t amount;   /* minor units of the currency */
	char currency[4]; /* ISO 4217, upper case, or "" */
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
 * UM_EVENTS_MAX, go to `events`, their number to *len (0 unless GOOD).
 * A description that does not prove the whole body never answers another
 * meaning than RECHECK or IGNORE. Touches no clock, file or socket.
 */
enum um_verdict um_description_read(const struct um_description *description,
	const struct um_delivery *delivery, struct um_event *events,
	size_t *len);

/*
 * A browser's return that the provider signs into its URL (Razorpay,
 * Shopify): the same, over the description's `return` part; UNSIGNED where
 * the description has none.
 */
enum um_verdict
um_description_read_return(const struct um_description *description,
	const struct um_delivery *delivery, struct um_event *event);

/* What the provider wants as the answer to a delivery that was taken. */
struct um_description_answer {
	int status;
	const char *body; /* "" for none; the description's */
	const char *content_type;
};
struct um_description_answer um_description_answer(
	const struct um_description *description);

#endif
