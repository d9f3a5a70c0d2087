/* SPDX-License-Identifier: MIT */
/*
 * The connection that listens on the channel `urlmode`, for all that wait in this
 * process. No function blocks. Times are monotonic, in milliseconds.
 */
#ifndef UM_NOTIFICATIONS_H
#define UM_NOTIFICATIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/json.h"
#include "core/uuid.h"

#define UM_NOTIFICATIONS_CONNECT_MS 10000 /* until it must listen */
#define UM_NOTIFICATIONS_RETRY_MIN_MS 100
#define UM_NOTIFICATIONS_RETRY_MAX_MS 5000

struct um_notifications;

struct um_notifications_events {
	/* Something is announced of this elicitation, as the object says. */
	void (*announced)(const uint8_t id[static UM_UUID_LEN],
		const struct um_json_node *notification, void *arg);
	/* It listens from now on; what was announced before is not known. */
	void (*listening)(void *arg);
	/* A message for the operator. */
	void (*notice)(const char *text, void *arg);
	void *arg;
};

/* Copies both. The first um_notifications_run() connects. NULL: no memory. */
struct um_notifications *um_notifications_new(const char *conninfo,
	const struct um_notifications_events *events);

/* When the socket is `ready`, and when the deadline has come. */
void um_notifications_run(struct um_notifications *list, bool ready,
	int64_t now);

/*
 * A commit was not answered, so that this may be the wrong server: connects again,
 * to the host that leads (postgres/connect.h).
 */
void um_notifications_leave(struct um_notifications *list, int64_t now);

/* As um_store_watch() and um_store_deadline(). */
int um_notifications_watch(const struct um_notifications *list,
	bool *want_write, unsigned *connection);
int64_t um_notifications_deadline(const struct um_notifications *list);

/* Whether it listens now, so that whatever happens is announced. */
bool um_notifications_is_listening(const struct um_notifications *list);

/* NULL is fine. */
void um_notifications_free(struct um_notifications *list);

/*
 * Calls announced() for each id in a payload: an object with an `id`, or an array
 * of such objects. Anyone may send another text, which is ignored.
 */
void um_notifications_read(const char *payload,
	const struct um_notifications_events *events);

#endif
