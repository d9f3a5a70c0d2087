/* SPDX-License-Identifier: MIT */
/*
 * The waiting side in C: creates an elicitation, waits until the browser or
 * the provider has completed it, and opens its result. For MCP servers that
 * are not written in JavaScript; it needs this header, liburlmode.a, libpq
 * and libcrypto.
 *
 *     um_wait_open → um_wait_create → elicit with its url → um_wait_for
 *
 * One connection listens and reads. What waits is one thread: several wait
 * with a struct um_wait each. Beside libpq it asks the machine itself for the
 * time and for random bytes, which other modules are given.
 */
#ifndef UM_WAIT_H
#define UM_WAIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/str.h"

#define UM_WAIT_URL_MAX 1024 /* characters of a link, with its NUL */

struct um_wait;

/* What is asked; NUL-terminated UTF-8, the limits are those of the table. */
struct um_wait_ask {
	const char *
		provider; /* its name in the callback programs' configuration */
	const char *kind; /* oauth, payment or signature */
	const char *subject; /* who the server's own authorization says it is */
	const char *session; /* or NULL */
	const char *requester;  /* who asks, as the confirm page says it */
	const char *target_url; /* where /connect sends the browser */
	int64_t ttl_ms;         /* until it expires */
};

struct um_wait_asked {
	char id[37];               /* the MCP elicitationId */
	char url[UM_WAIT_URL_MAX]; /* what to elicit with */
};

struct um_wait_outcome {
	char action[16]; /* accept, decline or cancel */
	char reason[65]; /* empty on a plain accept */
	char *result;    /* what came back, JSON text with a NUL; or NULL */
};

enum um_wait_end { UM_WAIT_COMPLETED, UM_WAIT_TIMEOUT, UM_WAIT_FAILED };

/*
 * Connects as the role urlmode_server, and listens. `database_url` is a libpq
 * URI or keyword string; `base_url` has no slash at its end. False, with the
 * reason: no connection, or no good keys file. The caller ends *out with
 * um_wait_close().
 */
bool um_wait_open(struct um_wait **out, const char *database_url,
	const char *keys_file, const char *base_url, struct um_error *err);

/* Writes the row; then out->url can be elicited. */
bool um_wait_create(struct um_wait *wait, const struct um_wait_ask *ask,
	struct um_wait_asked *out, struct um_error *err);

/*
 * Waits for at most timeout_ms (negative: without end); also for one that was
 * completed before, or that another process created. A connection that is
 * lost is tried again for as long, and every row read again: none is missed.
 * COMPLETED: the caller ends *out with um_wait_outcome_free(). TIMEOUT: it is
 * open, and can be waited for again. FAILED, with the reason: there is no such
 * elicitation of this subject and session, or its result does not open. A
 * result stays in its row for ten minutes more.
 */
enum um_wait_end um_wait_for(struct um_wait *wait, const char *id,
	const char *subject, const char *session, int timeout_ms,
	struct um_wait_outcome *out, struct um_error *err);

/* Wipes and frees what the outcome holds. */
void um_wait_outcome_free(struct um_wait_outcome *outcome);

/* Ends the connection, wipes and frees; NULL is fine. */
void um_wait_close(struct um_wait *wait);

#endif
