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
#include "api/notifications.h"
#include "api/reader.h"
#include "api/watched.h"
#include "app/exchange.h"
#include "app/side.h"
#include "core/file.h"

#define UM_API_LOOK_MS 500   /* between two looks at the file of keys */
#define UM_API_WAITS_MAX 768 /* calls of `wait` in a process */

/* The request of a method: its state begins with it (api/request.h). */
struct um_api_request {
	struct um_exchange *ex;
	char tenant[UM_TENANT_MAX + 1]; /* of the key, or "" */
	struct um_json_node *json;
	struct um_reader_fault fault;
	struct um_reader root;

	/* While it is parked. */
	int64_t wakes_at; /* monotonic ms; -1: when it is due alone */
	bool is_due;
	bool is_listed;
	TAILQ_ENTRY(um_api_request) link;

	/* Of a call of `wait`: what it watches, which joins when it is parked. */
	struct um_watched_element *elements;
	size_t elements_len;
	bool has_joined;
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

	struct um_notifications *notifications;
	struct um_watched watched;
	size_t waits_len;   /* calls of `wait` */
	int64_t forgets_at; /* rows that nobody has watched for long */

	/* Rows whose results were read, and the next mark and purges. */
	struct um_buf read_ids, read_bindings;
	int64_t marks_at; /* -1: there are none */
	int64_t purges_results_at, purges_rows_at;
};

/* The side of the program (app/side.h). */
extern const struct um_side um_api_side;

/* Wakes a parked request at the next turn. */
void um_api_wake(struct um_api *api, struct um_api_request *request);

/* Whether what happens is announced to this process. */
bool um_api_is_listening(const struct um_api *api);

/* The result of this row was read: it is marked, and purged later. */
void um_api_mark_read(struct um_api *api, const uint8_t id[static UM_UUID_LEN],
	const uint8_t binding[static UM_BINDING_LEN]);

#endif
