/* SPDX-License-Identifier: MIT */
/*
 * A provider's description, compiled: how its deliveries are verified and read.
 * One part of it is for the webhook, and perhaps one for the browser's return.
 * lib/providers/ documents the language, and description/spec_load
 * loads it.
 */
#ifndef UM_SPEC_H
#define UM_SPEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

#include "contract/limits.h"
#include "webhook/spec_part.h"

/* The answer that the provider expects to a delivery that was accepted. */
struct um_spec_answer {
	int status;
	char *body; /* or "" */
	char *content_type;
};

struct um_spec {
	char *path; /* of its file */
	/* False for a description that has `oauth` and nothing else. */
	bool has_webhook;
	struct um_spec_part webhook;
	bool has_return;
	struct um_spec_part back; /* for the browser's return */
	/*
	 * Of the provider's own list of payments, which `urlmode reconcile`
	 * reads from a file: each element, or line of CSV, is an event.
	 */
	bool has_list, list_is_csv;
	struct um_spec_part list;
	/* Of `oauth`, or NULL; and whether each response has it (RFC 9207). */
	char *issuer;
	bool sends_iss;
	/* The same of its words for a response: description/authorization.h. */
	json_t *response;
	/*
	 * For how long after its expiry an opened payment or signature may
	 * still end at the provider; 0 if the description does not say.
	 */
	int64_t grace_ms;
	struct um_spec_answer answer;
	/* When what is no scheme was compared with the documentation; or 0. */
	int64_t compared_ms;
};

/* Wipes and frees; NULL is fine. */
void um_spec_free(struct um_spec *spec);

/*
 * The last millisecond (Unix time) in which all its schemes have a valid
 * certificate. False: it has no scheme with certificates.
 */
bool um_spec_certificates_end(const struct um_spec *spec, int64_t *out);

/*
 * The first millisecond (Unix time) of the oldest day on which a part of it was
 * compared with the provider's documentation. False: it names no day.
 */
bool um_spec_compared(const struct um_spec *spec, int64_t *out);

/*
 * Reads the files of public keys again that have changed. False: one is refused,
 * and its keys stay as they were.
 */
bool um_spec_read_keys(struct um_spec *spec, struct um_error *err);

/*
 * Verifies the delivery byte for byte, then reads its events into `events`,
 * which has room for part->events_max, and their number into *len (0 unless
 * GOOD). The effect of what no signature proves is RECHECK or IGNORE. A
 * challenge has its answer in delivery->reply, and no events; a GET that is
 * none, or is refused, is UNSIGNED. Uses no clock, file or socket.
 */
enum um_verdict um_spec_read(const struct um_spec_part *part,
	const struct um_delivery *delivery, struct um_event *events,
	size_t *len);

#endif
