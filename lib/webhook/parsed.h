/* SPDX-License-Identifier: MIT */
/*
 * A delivery while it is read. Each part of it is parsed when it is first
 * asked for, and not before: what nobody needs before the signature is
 * verified is not looked into before.
 */
#ifndef UM_READING_H
#define UM_READING_H

#include <stdbool.h>

#include "core/str.h"
#include "http/form.h"
#include "http/multipart.h"
#include "webhook/delivery.h"
#include "webhook/json.h"
#include "webhook/params.h"

enum um_found {
	UM_FOUND,
	UM_ABSENT, /* not there, null, or empty */
	UM_BAD,    /* there, and not to be read */
};

/* Which part of a delivery is the JSON that pointers point into. */
enum um_payload_part { UM_PAYLOAD_BODY, UM_PAYLOAD_FORM, UM_PAYLOAD_MULTIPART };

struct um_payload {
	enum um_payload_part part;
	char *field; /* of the form; NULL for the body */
};

/* Zeroed but for the first two to begin with. */
struct um_parsed_delivery {
	const struct um_delivery *delivery;
	const struct um_payload *payload;

	const struct um_json_node *item; /* the element that is looked at */
	struct um_buf signature;
	struct um_params params; /* its named parts */
	/*
	 * What is signed could be cut into other values than these, and
	 * its signature would still be right.
	 */
	bool ambiguous;

	/* Its own. */
	bool has_query, has_form, has_multipart, has_document;
	enum um_form_state query_state, form_state;
	bool multipart_good;
	struct um_form query, form;
	struct um_multipart multipart;
	struct um_json_node *document;
};

/* NULL where the query cannot be read. */
const struct um_form *um_delivery_query(struct um_parsed_delivery *parsed);

/* A field; of a body of another type, ABSENT. */
enum um_found um_delivery_query_field(struct um_parsed_delivery *parsed,
	const char *name, struct um_str *out);
enum um_found um_delivery_form_field(struct um_parsed_delivery *parsed,
	const char *name, struct um_str *out);
enum um_found um_delivery_multipart_field(struct um_parsed_delivery *parsed,
	const char *name, struct um_str *out);

/* The posted form; NULL where the body is none, or cannot be read. */
const struct um_form *um_delivery_form(struct um_parsed_delivery *parsed);

/* The JSON document; NULL where there is none to be read. */
const struct um_json_node *um_delivery_document(
	struct um_parsed_delivery *parsed);

/* Whether a query, form or multipart body was asked for, and is none. */
bool um_delivery_is_malformed(const struct um_parsed_delivery *parsed);

void um_delivery_free(struct um_parsed_delivery *parsed);

#endif
