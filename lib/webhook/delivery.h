/* SPDX-License-Identifier: MIT */
/* A delivery: an unparsed request of a provider's webhook or browser return. */
#ifndef UM_DELIVERY_H
#define UM_DELIVERY_H

#include <stdbool.h>
#include <stdint.h>

#include "core/str.h"

/*
 * Why a delivery is refused, for the operator: places in the description and in
 * the delivery, a limit, a reason. Never a value. Initially empty.
 */
struct um_fault {
	char text[240];
};

/* The answer, if a delivery is a challenge. Initialize it with zeros. */
struct um_reply {
	bool given;
	struct um_buf body; /* the caller's to free */
	const char *content_type;
};

struct um_delivery {
	/* A GET at the webhook's address: nothing but a challenge. */
	bool is_get;
	struct um_str query;
	struct um_str content_type;
	struct um_str body;
	/*
	 * The value of the header of this name, in any case, or NULL; several
	 * headers of one name are joined by ", ". It stays as long as the
	 * delivery does.
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
	UM_DELIVERY_OUTDATED,  /* the certificate is not valid now: 401 */
	UM_DELIVERY_KEYLESS,   /* the key is not in the site's file: 503 */
};

#endif
