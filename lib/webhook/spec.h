/* SPDX-License-Identifier: MIT */
/*
 * A provider's description: lib/providers/NAME.json says how its signed
 * deliveries are verified and what they mean. lib/providers/README.md documents
 * the language, lib/providers/schema.json checks it.
 */
#ifndef UM_SPEC_H
#define UM_SPEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/str.h"
#include "webhook/delivery.h"
#include "webhook/event.h"
#include "webhook/provider_env.h"

struct um_spec;

/*
 * Loads a description and gives it its keys and constants from `env`. Refused,
 * with the file, the JSON pointer (RFC 6901) and the reason: what the language
 * does not know; a `believed` that the schemes do not prove; a secret,
 * certificate or constant that is needed and not configured, or configured and
 * not used; a mode or accounts of which its events say nothing. The caller
 * frees *out with um_spec_free().
 */
bool um_spec_load(struct um_spec **out, const char *path,
	const struct um_provider_env *env, struct um_error *err);
/* The file that it was loaded from. */
const char *um_spec_path(const struct um_spec *spec);
/* Wipes and frees; NULL is fine. */
void um_spec_free(struct um_spec *spec);

/* False for a description that has an `oauth` part and nothing else. */
bool um_spec_has_webhook(const struct um_spec *spec);

/*
 * The issuer of the `oauth` part, or NULL if it is not known, and whether each
 * authorization response names it (RFC 9207). The description owns it.
 */
const char *um_spec_issuer(const struct um_spec *spec, bool *sends_iss);

/*
 * Whether nothing in a delivery is verified (`believed` is `nothing`). Then
 * only a URL with a token of ours lets a sender in, and the token says which
 * elicitation the delivery is about.
 */
bool um_spec_verifies_nothing(const struct um_spec *spec);

#define UM_GRACE_MAX_S 31536000 /* a year */

/*
 * For how long after its expiry an opened payment or signature may still end at
 * the provider (`grace`), in milliseconds; 0 if the description does not say.
 */
int64_t um_spec_grace_ms(const struct um_spec *spec);

/*
 * Whether GET is a challenge of this provider. um_spec_challenge() answers it
 * into delivery->reply; UNSIGNED if it is another request, or is refused. A POST
 * that is a challenge has its answer from um_spec_read(), and no events.
 */
bool um_spec_has_get_challenge(const struct um_spec *spec);
enum um_verdict um_spec_challenge(const struct um_spec *spec,
	const struct um_delivery *delivery);

/*
 * How many events one delivery can have: UM_EVENTS_MAX with `events`, else 1.
 */
size_t um_spec_events_max(const struct um_spec *spec);

/*
 * Verifies the delivery byte for byte, then reads its events into `events`,
 * which has room for um_spec_events_max(), and their number into *len (0 unless
 * GOOD).
 * The effect of what no signature proves is RECHECK or IGNORE. Uses no clock,
 * file or socket.
 */
enum um_verdict um_spec_read(const struct um_spec *spec,
	const struct um_delivery *delivery, struct um_event *events,
	size_t *len);

/*
 * The same for the browser's return, where the provider signs its URL
 * (Razorpay, Shopify). UNSIGNED where the description has no `return` part.
 */
bool um_spec_has_return(const struct um_spec *spec);
enum um_verdict um_spec_read_return(const struct um_spec *spec,
	const struct um_delivery *delivery, struct um_event *event);

/* The answer that the provider expects to a delivery that was accepted. */
struct um_spec_answer {
	int status;
	const char *body; /* or ""; owned by the description */
	const char *content_type;
};
struct um_spec_answer um_spec_answer(const struct um_spec *spec);

#endif
