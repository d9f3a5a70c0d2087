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

#include "core/str.h"
#include "webhook/delivery.h"
#include "webhook/event.h"
#include "webhook/provider_env.h"

struct um_spec;

/*
 * Reads and compiles a description, with the site's part. Refused, with the
 * file, the JSON pointer (RFC 6901) and the reason: whatever the language
 * does not know, what claims to be proven and is not, and a secret,
 * certificate or constant that it needs and the site does not have, or has
 * and the description has no use for. The caller frees *out.
 */
bool um_spec_load(struct um_spec **out, const char *path,
	const struct um_provider_env *env, struct um_error *err);
/* Wipes and frees; NULL is fine. */
void um_spec_free(struct um_spec *spec);

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
