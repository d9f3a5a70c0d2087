/* SPDX-License-Identifier: MIT */
#include "api/notifications.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "contract/statements.h"
#include "contract/texts.h"
#include "core/json.h"
#include "postgres/connect.h"

#define LISTEN "LISTEN " UM_SQL_CHANNEL "; " UM_SQL_BACKEND_PID
#define VALUES_MAX 4096 /* of a payload, which has at most 8,000 bytes */

enum state { DOWN, CONNECTING, ASKING, LISTENING };

struct um_notifications {
	struct um_notifications_events events;
	char *conninfo;
	struct um_connect connect;
	PGconn *conn;
	enum state state;
	unsigned connection;
	bool want_write;
	bool is_pooled;
	int64_t until; /* when this state ends at the latest, or -1 */
	int64_t retry_ms;
};

static void
on_notice(const char *text, void *arg)
{
	struct um_notifications *list = arg;

	list->events.notice(text, list->events.arg);
}

struct um_notifications *
um_notifications_new(const char *conninfo,
	const struct um_notifications_events *events)
{
	struct um_notifications *list = calloc(1, sizeof(*list));

	if (list == NULL || (list->conninfo = strdup(conninfo)) == NULL) {
		free(list);
		return NULL;
	}
	list->events = *events;
	list->retry_ms = UM_NOTIFICATIONS_RETRY_MIN_MS;
	list->connect = (struct um_connect){ .conninfo = list->conninfo,
		.name = "api listener",
		.on_notice = on_notice,
		.arg = list };
	return list;
}

static void
disconnect(struct um_notifications *list, const char *why, int64_t now)
{
	char text[512];

	snprintf(text, sizeof(text), "listener: %.*s", (int)strcspn(why, "\n"),
		why);
	list->events.notice(text, list->events.arg);
	um_connect_stop(&list->connect);
	PQfinish(list->conn);
	list->conn = NULL;
	list->connection++;
	list->state = DOWN;
	list->until = now + list->retry_ms;
	list->retry_ms = list->retry_ms * 2 < UM_NOTIFICATIONS_RETRY_MAX_MS
		? list->retry_ms * 2
		: UM_NOTIFICATIONS_RETRY_MAX_MS;
}

/* One step of connecting. False: it is made, given up, or must wait. */
static bool
connect_step(struct um_notifications *list, int64_t now)
{
	struct um_error err;
	enum um_connect_step step = um_connect_go_on(&list->connect, &err);

	if (step == UM_CONNECT_WAITS)
		return false;
	list->connection++;
	if (step == UM_CONNECT_MOVED)
		return true;
	if (step == UM_CONNECT_FAILED) {
		disconnect(list, err.text, now);
		return false;
	}
	list->conn = um_connect_take(&list->connect);
	list->state = ASKING;
	if (PQsetnonblocking(list->conn, 1) != 0
		|| PQsendQuery(list->conn, LISTEN) != 1) {
		disconnect(list, PQerrorMessage(list->conn), now);
		return false;
	}
	list->want_write = PQflush(list->conn) == 1;
	return false;
}

static void
announce(const struct um_json_node *node,
	const struct um_notifications_events *events)
{
	uint8_t id[UM_UUID_LEN];
	const struct um_json_node *text = um_json_member(node, um_str("id"));

	if (um_json_is(text, UM_JSON_STRING)
		&& um_uuid_parse(id, um_json_str(text)))
		events->announced(id, node, events->arg);
}

void
um_notifications_read(const char *payload,
	const struct um_notifications_events *events)
{
	struct um_json_node *root = um_json_parse(um_str(payload), VALUES_MAX,
		NULL);
	const struct um_json_node *element = NULL;

	if (um_json_is(root, UM_JSON_OBJECT))
		announce(root, events);
	while ((element = um_json_next(root, element)) != NULL)
		announce(element, events);
	free(root);
}

/* The results of the statement that begins to listen. */
static void
take_results(struct um_notifications *list, int64_t now)
{
	PGresult *res;

	while (list->conn != NULL && !PQisBusy(list->conn)
		&& (res = PQgetResult(list->conn)) != NULL) {
		ExecStatusType status = PQresultStatus(res);

		if (status == PGRES_FATAL_ERROR) {
			disconnect(list, PQresultErrorMessage(res), now);
		} else if (status == PGRES_TUPLES_OK && PQntuples(res) == 1) {
			list->is_pooled = strtoll(PQgetvalue(res, 0, 0), NULL,
						  10)
				!= PQbackendPID(list->conn);
			list->state = LISTENING;
			list->until = -1;
			list->retry_ms = UM_NOTIFICATIONS_RETRY_MIN_MS;
		}
		PQclear(res);
		if (list->state != LISTENING)
			continue;
		if (list->is_pooled)
			list->events.notice(
				"listener: there is a pooler, so that nothing "
				"is announced: listen_url must go past it",
				list->events.arg);
		else
			list->events.listening(list->events.arg);
	}
}

static void
take_input(struct um_notifications *list, int64_t now)
{
	PGnotify *notify;
	int flushed;

	if (PQconsumeInput(list->conn) != 1
		|| (flushed = PQflush(list->conn)) < 0) {
		disconnect(list, PQerrorMessage(list->conn), now);
		return;
	}
	list->want_write = flushed == 1;
	take_results(list, now);
	while (list->conn != NULL
		&& (notify = PQnotifies(list->conn)) != NULL) {
		um_notifications_read(notify->extra, &list->events);
		PQfreemem(notify);
	}
}

void
um_notifications_run(struct um_notifications *list, bool ready, int64_t now)
{
	if (list->state == DOWN && list->until <= now) {
		list->state = CONNECTING;
		list->until = now + UM_NOTIFICATIONS_CONNECT_MS;
	}
	while (list->state == CONNECTING && connect_step(list, now))
		;
	if (list->state >= ASKING && (ready || PQsslInUse(list->conn)))
		take_input(list, now);
	if (list->state != DOWN && list->until >= 0 && list->until <= now)
		disconnect(list, "no answer in time", now);
}

void
um_notifications_leave(struct um_notifications *list, int64_t now)
{
	list->connect.asks_leader = true;
	if (list->state != DOWN)
		disconnect(list, UM_TEXT_COMMITS_UNANSWERED, now);
}

int
um_notifications_watch(const struct um_notifications *list, bool *want_write,
	unsigned *connection)
{
	*connection = list->connection;
	*want_write = list->want_write;
	if (list->state == CONNECTING) {
		*want_write = list->connect.want_write;
		return um_connect_fd(&list->connect);
	}
	return list->conn != NULL ? PQsocket(list->conn) : -1;
}

int64_t
um_notifications_deadline(const struct um_notifications *list)
{
	return list->until;
}

bool
um_notifications_is_listening(const struct um_notifications *list)
{
	return list->state == LISTENING && !list->is_pooled;
}

void
um_notifications_free(struct um_notifications *list)
{
	if (list == NULL)
		return;
	um_connect_end(&list->connect);
	PQfinish(list->conn);
	um_wipe_free_text(list->conninfo);
	free(list);
}
