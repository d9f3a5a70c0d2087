/* SPDX-License-Identifier: MIT */
/*
 * What the api has beside its requests: who may call it, and the requests that
 * wait, until a time or until they are due.
 */
#ifndef UM_API_H
#define UM_API_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "api/api_keys.h"
#include "api/reader.h"
#include "app/exchange.h"
#include "app/side.h"
#include "core/file.h"

#define UM_API_LOOK_MS 500 /* between two looks at the file of keys */

/* The request of a method: its state begins with it (api/request.h). */
struct um_api_request {
	struct um_exchange *ex;
	char tenant[UM_TENANT_MAX
		+ 1]; /* of the key; "": there is one server */
	struct um_json_node *json;
	struct um_reader_fault fault;
	struct um_reader root;

	/* While it is parked. */
	int64_t wakes_at; /* monotonic ms; -1: when it is due alone */
	bool is_due;
	bool is_listed;
	TAILQ_ENTRY(um_api_request) link;
};

TAILQ_HEAD(um_api_parked, um_api_request);

struct um_api {
	struct um_context *context;
	struct um_side_loop loop;
	struct um_api_keys *keys;
	struct um_file_version keys_version;
	int64_t keys_at; /* when the file was looked at last */
	struct um_api_parked parked;
	int64_t wakes_at; /* the earliest of those that are parked, or -1 */
	bool stopped;
};

/* The side of the program (app/side.h). */
extern const struct um_side um_api_side;

/* Wakes a parked request at the next turn. */
void um_api_wake(struct um_api *api, struct um_api_request *request);

#endif
