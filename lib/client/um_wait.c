/* SPDX-License-Identifier: MIT */
#include "client/um_wait.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libpq-fe.h>
#include <openssl/rand.h>

#include "client/connection.h"
#include "client/handle.h"
#include "core/clock.h"
#include "core/encode.h"
#include "crypto/binding.h"
#include "crypto/link.h"
#include "crypto/seal.h"

#define ROUTINE_MS 30000 /* between two reads without a notification */
#define GRACE_MS 1000    /* for a call that is made when the wait is over */
#define BACKOFF_MIN_MS 100
#define BACKOFF_MAX_MS 5000
#define OID_UUID 2950
#define OID_BYTEA 17

void
um_wait_outcome_free(struct um_wait_outcome *outcome)
{
	um_wipe_free_text(outcome->result);
	outcome->result = NULL;
	free(outcome->reference);
	outcome->reference = NULL;
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
put_url(struct um_wait_asked *out, const struct um_wait *wait,
	const char *provider, const uint8_t id[static UM_UUID_LEN],
	struct um_error *err)
{
	char state[UM_LINK_LEN + 1];
	int len;

	if (!um_link_mint(state, id, wait->keys, provider))
		return um_error(err, "OpenSSL failed");
	len = snprintf(out->url, sizeof(out->url), "%s/connect/%s?state=%s",
		wait->base_url, provider, state);
	if (len < 0 || (size_t)len >= sizeof(out->url))
		return um_error(err, "the link is too long");
	return true;
}

static bool
create(struct um_wait *wait, const struct um_wait_ask *ask,
	struct um_wait_asked *out, struct um_error *err)
{
	const int64_t deadline = um_monotonic_ms() + UM_HANDLE_CALL_MS;
	const char *session = ask->session != NULL ? ask->session : "";
	char binding[2 + 2 * UM_BINDING_LEN + 1] = "\\x", ttl[24];
	uint8_t id[UM_UUID_LEN], owner[UM_BINDING_LEN];
	const char *const values[] = { out->id, ask->provider, ask->kind,
		ask->subject, session, binding, ask->requester, ask->target_url,
		ttl };
	const struct um_statement statement = {
		.sql = "SELECT FROM urlmode.create_elicitation("
		       "ARRAY[$1::uuid], ARRAY[$2], ARRAY[$3], ARRAY[$4], "
		       "ARRAY[$5], ARRAY[$6::bytea], ARRAY[$7], ARRAY[$8], "
		       "NULL, NULL, ARRAY[$9::bigint]) "
		       "WHERE outcome = 'created'",
		.params = sizeof(values) / sizeof(values[0]),
		.values = values,
	};
	PGresult *res;
	int created;

	if (!make_id(id))
		return um_error(err, "OpenSSL failed");
	um_handle_refresh_keys(wait);
	um_binding_digest(owner, wait->keys, um_str(ask->subject),
		um_str(session));
	um_uuid_format(out->id, id);
	um_hex_encode(binding + 2, owner, UM_BINDING_LEN);
	snprintf(ttl, sizeof(ttl), "%lld", (long long)ask->ttl_ms);

	if (!um_handle_connect(wait, deadline, err))
		return false;
	res = um_connection_run(&wait->conn, &statement, deadline, err);
	if (res == NULL)
		return false;
	created = PQntuples(res);
	PQclear(res);
	if (created == 0)
		return um_error(err, "too many are open, or being created");
	return put_url(out, wait, ask->provider, id, err);
}

/* The row that is waited for, and when the wait ends. */
struct row {
	char text[UM_UUID_TEXT_LEN + 1];
	uint8_t id[UM_UUID_LEN];
	uint8_t binding[UM_BINDING_LEN];
	int64_t deadline; /* of um_monotonic_ms(); INT64_MAX: there is none */
};

static int64_t
earlier(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* When a call that is made now has to be over. */
static int64_t
call_deadline(const struct row *row)
{
	int64_t now = um_monotonic_ms();

	if (row->deadline - now < GRACE_MS)
		return now + GRACE_MS;
	return earlier(row->deadline, now + UM_HANDLE_CALL_MS);
}

static PGresult *
call(struct um_wait *wait, const char *sql, const struct row *row,
	struct um_error *err)
{
	const Oid types[] = { OID_UUID, OID_BYTEA };
	const char *const values[] = { row->text, (const char *)row->binding };
	const int lengths[] = { 0, UM_BINDING_LEN };
	const int formats[] = { 0, 1 };
	const struct um_statement statement = { sql, 2, types, values, lengths,
		formats };

	return um_connection_run(&wait->conn, &statement, call_deadline(row),
		err);
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

	um_handle_refresh_keys(wait);
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
			"the result cannot be opened: its key is not in the "
			"keys file, or it is not genuine");
}

enum look { LOOK_DONE, LOOK_OPEN, LOOK_OVERDUE, LOOK_LOST, LOOK_FAILED };

/*
 * Reads the row, on a new connection where the last one was lost; the
 * milliseconds until it may expire go to *left.
 */
static enum look
look(struct um_wait *wait, const struct row *row, int64_t *left,
	struct um_wait_outcome *out, struct um_error *err)
{
	enum look found = LOOK_OPEN;
	PGresult *res;

	if (!um_handle_connect(wait, call_deadline(row), err))
		return LOOK_LOST;
	/* LISTEN is in force: what happens after this read is announced. */
	res = call(wait,
		"SELECT status, action, reason, result, closes_in_ms,"
		" payment_reference"
		" FROM urlmode.read(ARRAY[$1], ARRAY[$2])",
		row, err);
	if (res == NULL)
		return wait->conn == NULL ? LOOK_LOST : LOOK_FAILED;
	if (PQntuples(res) == 0) {
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
		if (!PQgetisnull(res, 0, 5))
			out->reference = strdup(PQgetvalue(res, 0, 5));
		found = PQgetisnull(res, 0, 3)
				|| open_result(wait, row, PQgetvalue(res, 0, 3),
					out, err)
			? LOOK_DONE
			: LOOK_FAILED;
	} else {
		*left = strtoll(PQgetvalue(res, 0, 4), NULL, 10);
		if (*left <= 0)
			found = LOOK_OVERDUE;
	}
	PQclear(res);
	return found;
}

/* Sleeps before the next attempt, and makes the sleep after it longer. */
static void
back_off(const struct row *row, int *pause_ms)
{
	int64_t rest = row->deadline - um_monotonic_ms();

	if (rest > 0)
		poll(NULL, 0, (int)earlier(rest, *pause_ms));
	*pause_ms = *pause_ms < BACKOFF_MAX_MS / 2 ? 2 * *pause_ms
						   : BACKOFF_MAX_MS;
}

/* Waits for a notification, until the row expires or a read is due anyway. */
static bool
wait_for_news(struct um_wait *wait, const struct row *row, int64_t left,
	struct um_error *err)
{
	int64_t due = um_monotonic_ms() + earlier(left, ROUTINE_MS);

	return um_connection_wait(&wait->conn, earlier(due, row->deadline),
		err);
}

static bool
expire(struct um_wait *wait, const struct row *row, struct um_error *err)
{
	PGresult *res = call(wait,
		"SELECT urlmode.expire(ARRAY[$1], ARRAY[$2])", row, err);

	PQclear(res);
	return res != NULL;
}

static enum um_wait_end
wait_for_row(struct um_wait *wait, const struct row *row,
	struct um_wait_outcome *out, struct um_error *err)
{
	struct um_error ignored;
	int pause_ms = BACKOFF_MIN_MS;
	bool expired = false; /* urlmode.expire() has succeeded */

	for (;;) {
		int64_t left = ROUTINE_MS;
		enum look found = look(wait, row, &left, out, err);

		switch (found) {
		case LOOK_DONE:
			/* Where this fails the result is kept for a day. */
			PQclear(call(wait,
				"SELECT urlmode.mark_read("
				"ARRAY[$1], ARRAY[$2])",
				row, &ignored));
			return UM_WAIT_COMPLETED;
		case LOOK_FAILED:
			return UM_WAIT_FAILED;
		case LOOK_OVERDUE:
			if (expire(wait, row, err) && !expired) {
				expired = true;
				continue; /* read its outcome, even after the deadline */
			}
			break;
		case LOOK_OPEN:
			err->text[0] = '\0';
			break;
		case LOOK_LOST:
			break;
		}
		if (um_monotonic_ms() >= row->deadline)
			return UM_WAIT_TIMEOUT;
		if (found == LOOK_OPEN && wait_for_news(wait, row, left, err))
			pause_ms = BACKOFF_MIN_MS;
		else
			back_off(row, &pause_ms);
	}
}

/* Whose elicitation it is, as both sides write it into the row. */
static bool
find_row(const struct um_wait *wait, const char *id, const char *subject,
	const char *session, struct row *row, struct um_error *err)
{
	if (!um_uuid_parse(row->id, um_str(id)))
		return um_error(err, "the elicitation id must be a UUID");
	um_uuid_format(row->text, row->id);
	um_binding_digest(row->binding, wait->keys, um_str(subject),
		um_str(session != NULL ? session : ""));
	return true;
}

static bool
claim(struct um_wait *wait, const struct row *row,
	const struct um_wait_outcome *outcome, bool *claimed,
	struct um_error *err)
{
	char binding[2 + 2 * UM_BINDING_LEN + 1] = "\\x";
	const char *const values[] = { row->text, binding, outcome->reference,
		outcome->action };
	const struct um_statement statement = {
		.sql = "SELECT urlmode.claim($1, $2, $3, action => $4)",
		.params = sizeof(values) / sizeof(values[0]),
		.values = values,
	};
	PGresult *res;

	um_hex_encode(binding + 2, row->binding, UM_BINDING_LEN);
	if (!um_handle_connect(wait, row->deadline, err))
		return false;
	res = um_connection_run(&wait->conn, &statement, row->deadline, err);
	if (res == NULL)
		return false;
	*claimed = strcmp(PQgetvalue(res, 0, 0), "claimed") == 0;
	PQclear(res);
	return true;
}

/* The callers' struct, which stands in a header without any other of lib/. */
static void
report(struct um_wait_error *out, const struct um_error *err)
{
	/* cppcheck-suppress ctuuninitvar ; this is what fills it */
	snprintf(out->text, sizeof(out->text), "%s", err->text);
}

bool
um_wait_open(struct um_wait **out, const char *database_url,
	const char *keys_file, const char *base_url, struct um_wait_error *err)
{
	struct um_error reason = { "" };
	bool ok = um_handle_open(out, database_url, keys_file, base_url,
		&reason);

	report(err, &reason);
	return ok;
}

void
um_wait_close(struct um_wait *wait)
{
	um_handle_close(wait);
}

bool
um_wait_create(struct um_wait *wait, const struct um_wait_ask *ask,
	struct um_wait_asked *out, struct um_wait_error *err)
{
	struct um_error reason = { "" };
	bool ok = create(wait, ask, out, &reason);

	report(err, &reason);
	return ok;
}

enum um_wait_end
um_wait_for(struct um_wait *wait, const char *id, const char *subject,
	const char *session, int timeout_ms, struct um_wait_outcome *out,
	struct um_wait_error *err)
{
	struct um_error reason = { "" };
	enum um_wait_end end = UM_WAIT_FAILED;
	struct row row = {
		.deadline = timeout_ms < 0 ? INT64_MAX
					   : um_monotonic_ms() + timeout_ms,
	};

	*out = (struct um_wait_outcome){ .result = NULL };
	if (find_row(wait, id, subject, session, &row, &reason))
		end = wait_for_row(wait, &row, out, &reason);
	report(err, &reason);
	return end;
}

bool
um_wait_claim(struct um_wait *wait, const char *id, const char *subject,
	const char *session, const struct um_wait_outcome *outcome,
	bool *claimed, struct um_wait_error *err)
{
	struct um_error reason = { "" };
	struct row row = { .deadline = um_monotonic_ms() + UM_HANDLE_CALL_MS };
	bool ok;

	*claimed = false;
	ok = find_row(wait, id, subject, session, &row, &reason)
		&& claim(wait, &row, outcome, claimed, &reason);
	report(err, &reason);
	return ok;
}
