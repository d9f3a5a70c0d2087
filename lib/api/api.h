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
#include "api/house.h"
#include "api/notifications.h"
#include "api/reader.h"
#include "api/watched.h"
#include "app/exchange.h"
#include "app/side.h"
#include "core/file.h"

#define UM_API_LOOK_MS 500   /* between two looks at the file of keys */
#define UM_API_WAITS_MAX 768 /* calls of `wait` in a process */

/*
 * A caller of `wait` repeats all of its elements after each answer. Therefore,
 * while as much as this is announced in two windows of time, a call that has just
 * begun gathers what moves before it is answered: a millisecond for so many of its
 * elements, or until so many of them have moved.
 */
#define UM_API_BUSY 50
#define UM_API_WINDOW_MS 50
#define UM_API_GATHER_ELEMENTS 40
#define UM_API_GATHER_MOVED(elements) ((elements) / 32)

/* The request of a method: its state begins with it (api/request.h). */
struct um_api_request {
	struct um_exchange *ex;
	uint8_t key[UM_API_KEY_DIGEST]; /* its digest */
	char tenant[UM_TENANT_MAX + 1]; /* of the key, or "" */
	const uint8_t *acts_on;         /* the id of the row; NULL: on none */
	struct um_watched *watched;
	struct um_json_node *json;
	struct um_reader_fault fault;
	struct um_reader root;
	um_step *then;  /* see um_api_call() */
	um_step *found; /* see um_api_look_up() */

	/* While it is parked. */
	int64_t wakes_at; /* monotonic ms; -1: when it is due alone */
	bool is_due;
	int64_t gathers_until; /* while much is announced, although it is due */
	size_t announced;      /* elements, since it was parked */
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

	unsigned announced, announced_before; /* in this window and the last */
	int64_t window_at;                    /* when it began */
	struct um_house house;
};

/* The side of the program (app/side.h). */
extern const struct um_side um_api_side;

/* Wakes a parked request at the next turn. */
void um_api_wake(struct um_api *api, struct um_api_request *request);

/* Whether what happens is announced to this process. */
bool um_api_is_listening(const struct um_api *api);

#endif
