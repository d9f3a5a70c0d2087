/* SPDX-License-Identifier: MIT */
#include "client/um_wait.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libpq-fe.h>
#include <openssl/rand.h>

#include "core/clock.h"
#include "crypto/keys.h"
#include "crypto/seal.h"
#include "crypto/token.h"

#define ROUTINE_MS 30000 /* between two looks that nothing asks for */
#define BACKOFF_MIN_MS 100
#define BACKOFF_MAX_MS 5000
#define OID_UUID 2950
#define OID_BYTEA 17

struct um_wait {
	PGconn *conn;
	struct um_keys *keys;
	char *database_url;
	char *base_url;
};

/* What is left until the deadline, but at most `limit`; negative: no end. */
static int
rest_ms(int64_t deadline, int64_t limit)
{
	int64_t rest = deadline < 0 ? limit : deadline - um_clock_ms();

	if (rest > limit)
		rest = limit;
	return rest < 0 ? 0 : (int)rest;
}

static void
ignore_notice(void *arg __attribute__((unused)),
	const PGresult *res __attribute__((unused)))
{
}

/* What libpq says, on one line. */
static bool
database_error(struct um_error *err, const char *message)
{
	return um_error(err, "database: %.*s", (int)strcspn(message, "\n"),
		message);
}

static bool
listen_again(struct um_wait *wait, struct um_error *err)
{
	const char *const keywords[] = { "dbname", "connect_timeout",
		"fallback_application_name", "client_encoding", NULL };
	const char *const values[] = { wait->database_url, "10", "um_wait",
		"UTF8", NULL };
	PGresult *res;
	bool ok;

	PQfinish(wait->conn);
	wait->conn = PQconnectdbParams(keywords, values, 1);
	if (wait->conn == NULL || PQstatus(wait->conn) != CONNECTION_OK)
		return database_error(err,
			wait->conn == NULL ? "out of memory"
					   : PQerrorMessage(wait->conn));
	PQsetNoticeReceiver(wait->conn, ignore_notice, NULL);
	res = PQexec(wait->conn, "LISTEN urlmode");
	ok = PQresultStatus(res) == PGRES_COMMAND_OK;
	if (!ok)
		database_error(err, PQerrorMessage(wait->conn));
	PQclear(res);
	return ok;
}

bool
um_wait_open(struct um_wait **out, const char *database_url,
	const char *keys_file, const char *base_url, struct um_error *err)
{
	struct um_wait *wait = calloc(1, sizeof(*wait));

	*out = NULL;
	if (wait == NULL)
		return um_error(err, "out of memory");
	wait->database_url = strdup(database_url);
	wait->base_url = strdup(base_url);
	if (wait->database_url == NULL || wait->base_url == NULL) {
		um_wait_close(wait);
		return um_error(err, "out of memory");
	}
	if (!um_keys_load(&wait->keys, keys_file, err)
		|| !listen_again(wait, err)) {
		um_wait_close(wait);
		return false;
	}
	*out = wait;
	return true;
}

void
um_wait_close(struct um_wait *wait)
{
	if (wait == NULL)
		return;
	PQfinish(wait->conn);
	um_keys_free(wait->keys);
	if (wait->database_url != NULL)
		explicit_bzero(wait->database_url, strlen(wait->database_url));
	free(wait->database_url);
	free(wait->base_url);
	free(wait);
}

void
um_wait_outcome_free(struct um_wait_outcome *outcome)
{
	if (outcome->result != NULL)
		um_wipe_free(outcome->result, strlen(outcome->result));
	outcome->result = NULL;
}

/* A random UUID (RFC 9562 section 5.4). */
static bool
make_id(uint8_t id[static UM_UUID_LEN])
{
	if (RAND_bytes(id, UM_UUID_LEN) != 1)
		return false;
	id[6] = (uint8_t)((id[6] & 0x0f) | 0x40);
	id[8] = (uint8_t)((id[8] & 0x3f) | 0x80);
	return true;
}

static bool
make_url(struct um_wait *wait, const struct um_wait_ask *ask,
	const struct um_token *token, struct um_wait_asked *out,
	struct um_error *err)
{
	char text[UM_TOKEN_LEN + 1];
	uint8_t nonce[UM_NONCE_LEN];
	int len;

	if (RAND_bytes(nonce, sizeof(nonce)) != 1
		|| !um_token_mint(text, token, wait->keys, UM_PURPOSE_CONNECT,
			ask->provider, nonce))
		return um_error(err, "OpenSSL failed");
	len = snprintf(out->url, sizeof(out->url), "%s/connect/%s?state=%s",
		wait->base_url, ask->provider, text);
	if (len < 0 || (size_t)len >= sizeof(out->url))
		return um_error(err, "the link is too long");
	return true;
}

bool
um_wait_create(struct um_wait *wait, const struct um_wait_ask *ask,
	struct um_wait_asked *out, struct um_error *err)
{
	const char *session = ask->session != NULL ? ask->session : "";
	struct um_token token = { .expires = 0 };
	char binding[2 * UM_BINDING_LEN + 3] = "\\x", ttl[24];
	const char *values[] = { out->id, ask->provider, ask->kind,
		ask->subject, session, binding, ask->requester, ask->target_url,
		ttl };
	PGresult *res;
	bool ok;
	int i;

	if (!make_id(token.id))
		return um_error(err, "OpenSSL failed");
	um_binding_digest(token.binding, um_str(ask->subject), um_str(session));
	um_uuid_format(out->id, token.id);
	for (i = 0; i < UM_BINDING_LEN; i++)
		snprintf(binding + 2 + (size_t)2 * (size_t)i, 3, "%02x",
			token.binding[i]);
	snprintf(ttl, sizeof(ttl), "%lld", (long long)ask->ttl_ms);

	res = PQexecParams(wait->conn,
		"SELECT ceil(extract(epoch FROM urlmode.create_elicitation("
		"$1, $2, $3, $4, $5, $6, $7, $8, NULL, NULL, $9)))::bigint",
		9, NULL, values, NULL, NULL, 0);
	ok = PQresultStatus(res) == PGRES_TUPLES_OK;
	if (ok)
		token.expires = strtoll(PQgetvalue(res, 0, 0), NULL, 10);
	else
		database_error(err, PQerrorMessage(wait->conn));
	PQclear(res);
	return ok && make_url(wait, ask, &token, out, err);
}

/* A row of ours, and what is needed to read and open it. */
struct row {
	char text[UM_UUID_TEXT_LEN + 1];
	uint8_t id[UM_UUID_LEN];
	uint8_t binding[UM_BINDING_LEN];
};

static PGresult *
call(struct um_wait *wait, const char *sql, const struct row *row)
{
	const Oid types[] = { OID_UUID, OID_BYTEA };
	const char *values[] = { row->text, (const char *)row->binding };
	const int lengths[] = { 0, UM_BINDING_LEN };
	const int formats[] = { 0, 1 };

	return PQexecParams(wait->conn, sql, 2, types, values, lengths, formats,
		0);
}

static bool
open_result(struct um_wait *wait, const struct row *row, const char *escaped,
	struct um_wait_outcome *out, struct um_error *err)
{
	struct um_buf json = { 0 };
	size_t len;
	unsigned char *sealed = PQunescapeBytea((const unsigned char *)escaped,
		&len);
	bool ok;

	ok = sealed != NULL
		&& um_seal_open(&json,
			(struct um_str){ (const char *)sealed, len }, row->id,
			row->binding, wait->keys);
	um_buf_put(&json, "", 1);
	ok = ok && !json.failed && (out->result = strdup(json.ptr)) != NULL;
	um_buf_free(&json);
	PQfreemem(sealed);
	return ok
		|| um_error(err,
			"the result cannot be opened: its key is not "
			"in the keys file, or it is not genuine");
}

enum look { LOOK_DONE, LOOK_OPEN, LOOK_OVERDUE, LOOK_LOST, LOOK_FAILED };

/* Reads the row; how long it has left goes to *left. */
static enum look
look(struct um_wait *wait, const struct row *row, int64_t *left,
	struct um_wait_outcome *out, struct um_error *err)
{
	PGresult *res = call(wait,
		"SELECT status, action, reason, result, expires_in_ms"
		" FROM urlmode.read(ARRAY[$1], ARRAY[$2])",
		row);
	enum look found = LOOK_OPEN;

	if (PQresultStatus(res) != PGRES_TUPLES_OK) {
		found = PQstatus(wait->conn) == CONNECTION_BAD ? LOOK_LOST
							       : LOOK_FAILED;
		database_error(err, PQerrorMessage(wait->conn));
	} else if (PQntuples(res) == 0) {
		um_error(err,
			"there is no elicitation %s of this subject and "
			"session",
			row->text);
		found = LOOK_FAILED;
	} else if (strcmp(PQgetvalue(res, 0, 0), "completed") == 0) {
		snprintf(out->action, sizeof(out->action), "%s",
			PQgetvalue(res, 0, 1));
		snprintf(out->reason, sizeof(out->reason), "%s",
			PQgetvalue(res, 0, 2));
		found = PQgetisnull(res, 0, 3)
				|| open_result(wait, row, PQgetvalue(res, 0, 3),
					out, err)
			? LOOK_DONE
			: LOOK_FAILED;
	} else {
		*left = strtoll(PQgetvalue(res, 0, 4), NULL, 10);
		if (strcmp(PQgetvalue(res, 0, 0), "processing") == 0)
			*left = ROUTINE_MS;
		else if (*left <= 0)
			found = LOOK_OVERDUE;
	}
	PQclear(res);
	return found;
}

/* Until there may be something to read, or that long. */
static void
wait_for_news(struct um_wait *wait, int timeout)
{
	struct pollfd pfd = { .fd = PQsocket(wait->conn), .events = POLLIN };
	PGnotify *notify;

	if ((notify = PQnotifies(wait->conn)) == NULL) {
		if (poll(&pfd, 1, timeout) < 0 && errno != EINTR)
			return;
		PQconsumeInput(wait->conn);
		notify = PQnotifies(wait->conn);
	}
	for (; notify != NULL; notify = PQnotifies(wait->conn))
		PQfreemem(notify);
}

enum um_wait_end
um_wait_for(struct um_wait *wait, const char *id, const char *subject,
	const char *session, int timeout_ms, struct um_wait_outcome *out,
	struct um_error *err)
{
	int64_t deadline = timeout_ms < 0 ? -1 : um_clock_ms() + timeout_ms;
	int backoff = BACKOFF_MIN_MS;
	struct row row = { .text = "" };

	*out = (struct um_wait_outcome){ .result = NULL };
	if (!um_uuid_parse(row.id, um_str(id))) {
		um_error(err, "the elicitation id must be a UUID");
		return UM_WAIT_FAILED;
	}
	um_uuid_format(row.text, row.id);
	um_binding_digest(row.binding, um_str(subject),
		um_str(session != NULL ? session : ""));

	/* LISTEN is in force: now read, and only then wait. */
	for (;;) {
		int64_t left = ROUTINE_MS;

		switch (look(wait, &row, &left, out, err)) {
		case LOOK_DONE:
			PQclear(call(wait,
				"SELECT urlmode.mark_read("
				"ARRAY[$1], ARRAY[$2])",
				&row));
			return UM_WAIT_COMPLETED;
		case LOOK_FAILED:
			return UM_WAIT_FAILED;
		case LOOK_OVERDUE:
			PQclear(call(wait,
				"SELECT urlmode.expire("
				"ARRAY[$1], ARRAY[$2])",
				&row));
			continue;
		case LOOK_LOST:
			if (rest_ms(deadline, 1) == 0)
				return UM_WAIT_TIMEOUT;
			poll(NULL, 0, rest_ms(deadline, backoff));
			backoff = 2 * backoff < BACKOFF_MAX_MS ? 2 * backoff
							       : BACKOFF_MAX_MS;
			if (listen_again(wait, err))
				backoff = BACKOFF_MIN_MS;
			continue;
		case LOOK_OPEN:
			break;
		}
		if (rest_ms(deadline, 1) == 0)
			return UM_WAIT_TIMEOUT;
		wait_for_news(wait,
			rest_ms(deadline,
				left < ROUTINE_MS ? left : ROUTINE_MS));
	}
}
