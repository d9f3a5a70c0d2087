/* SPDX-License-Identifier: MIT */
/*
 * How one kind of delivery is verified and what it means: a description is
 * one for the webhook, and perhaps one for the browser's return.
 */
#ifndef UM_READER_H
#define UM_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/instant.h"
#include "core/names.h"
#include "core/place.h"
#include "webhook/amount.h"
#include "webhook/description.h"
#include "webhook/reading.h"
#include "webhook/scheme.h"
#include "webhook/value.h"

#define UM_SCHEMES_MAX 4
#define UM_RULES_MAX 64
#define UM_CONDITIONS_MAX 8
#define UM_TOLERANCE_MAX 604800 /* seconds: a week */

/* How far a delivery that was let in is believed. */
enum um_belief {
	UM_BELIEVE_BODY,   /* the whole body is signed */
	UM_BELIEVE_FIELDS, /* everything that decides is signed */
	UM_BELIEVE_PART,   /* something is signed, and it does not decide */
	UM_BELIEVE_TOKEN,  /* the sender knows a secret */
	UM_BELIEVE_NOTHING,
};

struct um_condition {
	struct um_value from;
	struct um_names is; /* one of these; or, where there are none: */
	bool present;       /* it is there, or it is not */
};

/* Of these types (none: any), where every condition holds. */
struct um_rule {
	struct um_names types;
	struct um_condition condition[UM_CONDITIONS_MAX];
	size_t conditions_len;
	enum um_meaning meaning;
};

/* Zeroed to begin with. */
struct um_reader {
	struct um_payload payload;

	struct um_scheme scheme[UM_SCHEMES_MAX];
	size_t schemes_len;
	struct um_value timestamp;
	enum um_instant_form timestamp_form;
	int64_t past_ms, future_ms;
	enum um_belief belief;

	bool has_events;
	struct um_pointer events;
	bool of_items; /* each event is verified by itself */

	struct um_value identity, type, elicitation, amount, currency,
		reference;
	enum um_amount_form amount_form;
	bool uses_json;
	struct um_rule *rules;
	size_t rules_len;
};

/*
 * Compiles the members of `node` that make up a reader, and gives it the
 * keys. The caller has looked that no other members are there. Free it in
 * every case.
 */
bool um_reader_load(struct um_reader *reader, const struct um_place *at,
	json_t *node, const struct um_site *site, bool is_return);
void um_reader_free(struct um_reader *reader);

/*
 * Steps of that. Whether what the description claims to be proven is proven
 * by each of its schemes, whatever was delivered.
 */
bool um_reader_prove(const struct um_reader *reader, const struct um_place *at);

/*
 * Gives each secret to the first scheme that wants it, and to no other: a
 * public key must never become the secret of an HMAC.
 */
bool um_reader_take_keys(struct um_reader *reader, const struct um_place *at,
	const struct um_site *site, bool is_return);

/* As um_description_read(); `max` events. */
enum um_verdict um_reader_read(const struct um_reader *reader,
	const struct um_delivery *delivery, struct um_event *events, size_t max,
	size_t *len);

/*
 * What one event says: the type, the meaning and the rest. False when it
 * cannot be read.
 */
bool um_reader_event(const struct um_reader *reader, struct um_reading *reading,
	size_t index, struct um_event *event);

#endif
