/* SPDX-License-Identifier: MIT */
/*
 * The parts of a delivery, parsed. When a description is loaded it is decided
 * which parts its signature needs and which its events need; um_spec_read()
 * has the first parsed before it verifies the signature, and the others after
 * it.
 */
#ifndef UM_PARSED_H
#define UM_PARSED_H

#include <stdbool.h>

#include "core/json.h"
#include "core/pointer.h"
#include "http/form.h"
#include "http/multipart.h"
#include "webhook/delivery.h"

/*
 * Of a JSON document with its own signature in it: bytes, and values and names.
 * It is parsed before anything is known of who sent it. This much takes at
 * most 3 ms, where all that JSON may be takes 30.
 */
#define UM_UNPROVEN_JSON_MAX 262144
#define UM_UNPROVEN_VALUES_MAX 8192

/* Which part of a delivery is the JSON that pointers point into. */
enum um_payload_part { UM_PAYLOAD_BODY, UM_PAYLOAD_FORM, UM_PAYLOAD_MULTIPART };

struct um_payload {
	enum um_payload_part part;
	char *field; /* of the form; NULL for the body */
	bool has_events;
	struct um_pointer events; /* the list of them */
};

/* Parts to be parsed: a set of these. Of JSON in a form, both. */
enum um_need {
	UM_NEED_QUERY = 1,
	UM_NEED_FORM = 2,
	UM_NEED_MULTIPART = 4,
	UM_NEED_JSON = 8,
};

enum um_found {
	UM_ABSENT, /* not there, null, or empty */
	UM_FOUND,
	UM_BAD, /* there, but not readable */
};

/* The two parts of a delivery that have the fields of a form. */
enum um_fields_of { UM_FIELDS_OF_QUERY, UM_FIELDS_OF_BODY };

/* All but the first member are zeroed to begin with: nothing is parsed. */
struct um_parsed {
	const struct um_delivery *delivery;
	struct um_fields {
		/* ABSENT where the body is of another type. */
		enum um_found found;
		struct um_form form;
	} fields[2];
	enum um_found multipart_is; /* likewise */
	struct um_multipart multipart;
	bool is_malformed; /* one of them is BAD */
	/* NULL where it is not parsed, or not readable, for this reason. */
	struct um_json_node *document;
	char json_reason[160];
	const struct um_json_node *events; /* NULL: there is no such list */
};

/*
 * Parses the parts of the set `needs`, none of which has been parsed before.
 * Unless the signature is known to be right, JSON has the smaller limits.
 */
void um_parsed_read(struct um_parsed *parsed, const struct um_payload *payload,
	unsigned needs, bool is_proven);

/* Frees what was parsed. */
void um_parsed_free(struct um_parsed *parsed);

#endif
