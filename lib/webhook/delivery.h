/* SPDX-License-Identifier: MIT */
/*
 * What a provider sent: a delivery to its webhook, or a browser's return.
 * First as it came, then with its parts parsed. Each part is parsed when it is
 * first asked for, so that whatever the signature does not need is not looked
 * at before the signature is verified.
 */
#ifndef UM_DELIVERY_H
#define UM_DELIVERY_H

#include <stdbool.h>
#include <stdint.h>

#include "core/str.h"
#include "http/form.h"
#include "http/multipart.h"
#include "webhook/json.h"
#include "webhook/pointer.h"
#include "webhook/verifier.h"

#define UM_PARAMS_MAX 16 /* parameters of a signature header */
/*
 * Of a JSON document with its own signature in it: bytes, and values and names.
 * It is parsed before anything is known of who sent it. This much takes at
 * most 3 ms, where all that JSON may be takes 30.
 */
#define UM_UNPROVEN_JSON_MAX 262144
#define UM_UNPROVEN_VALUES_MAX 8192

/*
 * Why a delivery is refused, for the operator: places in the description and in
 * the delivery, a limit, a reason. Never a value. Empty to begin with.
 */
struct um_fault {
	char text[240];
};

/* What is answered to a challenge, if a delivery is one. Zeroed to begin with. */
struct um_reply {
	bool given;
	struct um_buf body; /* the caller's to free */
	const char *content_type;
};

struct um_delivery {
	struct um_str query;
	struct um_str content_type;
	struct um_str body;
	/*
	 * The value of the header of this name, in any case, or NULL; several
	 * headers of one name are joined by ", ".
	 */
	const char *(*header)(const char *name, void *arg);
	void *arg;
	int64_t now_ms;         /* Unix time */
	struct um_fault *fault; /* receives why it is refused, or NULL */
	struct um_reply
		*reply; /* receives the answer to a challenge, or NULL */
};

enum um_verdict {
	UM_DELIVERY_GOOD,
	UM_DELIVERY_UNSIGNED,  /* no signature where one belongs: 401 */
	UM_DELIVERY_FORGED,    /* no signature is right: 401 */
	UM_DELIVERY_STALE,     /* outside of the timestamp's tolerance: 401 */
	UM_DELIVERY_MALFORMED, /* rightly signed, but not readable: 400 */
};

/* Which part of a delivery is the JSON that pointers point into. */
enum um_payload_part { UM_PAYLOAD_BODY, UM_PAYLOAD_FORM, UM_PAYLOAD_MULTIPART };

struct um_payload {
	enum um_payload_part part;
	char *field; /* of the form; NULL for the body */
};

/* The parameters of a signature header: `t=…,v1=…,v1=…`, `v1,… v1a,…`. */
struct um_params {
	size_t len;
	struct um_field param[UM_PARAMS_MAX]; /* points into the header */
};

/* All but the first two members are zeroed to begin with. */
struct um_parsed_delivery {
	const struct um_delivery *delivery;
	const struct um_payload *payload;

	const struct um_json_node *item; /* the element of `events` */
	size_t item_number;              /* from 1; 0: none */
	struct um_buf signature;
	struct um_params params; /* of the signature */
	/*
	 * The signed text could also have been made of other values than
	 * these, with the same signature.
	 */
	bool ambiguous;
	/* Of the last value that was not readable: where, and why. */
	const struct um_pointer *bad_at;
	const char *bad_reason;
	bool is_proven; /* its signature is known to be right */
	/* Makes MACs for the answer to a challenge, perhaps of digits only. */
	const struct um_verifier *mac;
	bool mac_of_digits;

	/* Private to delivery.c. */
	bool has_query, has_form, has_multipart, has_document;
	enum um_form_state query_state, form_state;
	bool multipart_good;
	struct um_form query, form;
	struct um_multipart multipart;
	struct um_json_node *document;
};

enum um_found {
	UM_FOUND,
	UM_ABSENT, /* not there, null, or empty */
	UM_BAD,    /* there, but not readable */
};

/* The fields of the query; NULL where it is malformed. */
const struct um_form *um_delivery_query(struct um_parsed_delivery *parsed);

/* The fields of a posted form; NULL where the body is none or malformed. */
const struct um_form *um_delivery_form(struct um_parsed_delivery *parsed);

/* One field. ABSENT also where the body is of another type. */
enum um_found um_delivery_query_field(struct um_parsed_delivery *parsed,
	const char *name, struct um_str *out);
enum um_found um_delivery_form_field(struct um_parsed_delivery *parsed,
	const char *name, struct um_str *out);
enum um_found um_delivery_multipart_field(struct um_parsed_delivery *parsed,
	const char *name, struct um_str *out);

/* The payload as JSON; NULL where it is absent or malformed. */
const struct um_json_node *um_delivery_document(
	struct um_parsed_delivery *parsed);

/*
 * Says why the delivery is refused, unless something has been said: `place` is a
 * key of the description; without a reason it is that of the last
 * value that was not readable.
 */
void um_delivery_blame(const struct um_parsed_delivery *parsed,
	const char *place, const char *reason);

/* Whether a query, form or multipart body was asked for and is malformed. */
bool um_delivery_is_malformed(const struct um_parsed_delivery *parsed);

/* Frees what was parsed. */
void um_delivery_free(struct um_parsed_delivery *parsed);

#endif
