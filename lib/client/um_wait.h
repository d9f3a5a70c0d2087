/* SPDX-License-Identifier: MIT */
/*
 * The waiting side in C: creates an elicitation, waits until the browser or
 * the provider has completed it, and opens its result. It is for MCP servers
 * that are not written in JavaScript, and needs this header, liburlmode.a,
 * libpq and libcrypto.
 *
 *     um_wait_open → um_wait_create → elicit with its url → um_wait_for →
 *     um_wait_claim
 *
 * Not thread-safe: one struct um_wait per thread. Two of them share nothing,
 * so each thread may use its own at any time.
 */
#ifndef UM_WAIT_H
#define UM_WAIT_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define UM_WAIT_URL_MAX 1024  /* characters of a link, with its NUL */
#define UM_WAIT_ERROR_MAX 512 /* characters of a reason, with its NUL */

struct um_wait;

/* Why something failed, on one line, for a person. It holds no secret. */
struct um_wait_error {
	char text[UM_WAIT_ERROR_MAX];
};

/*
 * What to ask for. The texts are UTF-8 and end with a NUL; their limits are
 * those of the table urlmode.elicitation.
 */
struct um_wait_ask {
	const char *provider; /* a provider of the configuration */
	const char *kind;     /* oauth, payment or signature */
	const char *subject;  /* the user, as the server's authorization says */
	const char *session;  /* or NULL */
	const char *requester;  /* who asks, as the confirm page shows it */
	const char *target_url; /* where /connect sends the browser */
	int64_t ttl_ms;         /* milliseconds until it expires */
};

struct um_wait_asked {
	char id[37];               /* the MCP elicitationId */
	char url[UM_WAIT_URL_MAX]; /* the URL to elicit with */
};

struct um_wait_outcome {
	char action[16]; /* accept, decline or cancel */
	char reason[65]; /* empty on a plain accept */
	char *result;    /* what came back, JSON text with a NUL; or NULL */
	char *reference; /* of the payment that was proved; or NULL */
};

enum um_wait_end { UM_WAIT_COMPLETED, UM_WAIT_TIMEOUT, UM_WAIT_FAILED };

/*
 * Loads the keys file, which is read again when it has changed, connects as the
 * role urlmode_server, and listens.
 * `database_url` is a libpq URI or keyword string; `base_url` has no slash at
 * its end. False, with the reason: the keys file is refused, or there is no
 * connection within 10 seconds. The caller ends *out with um_wait_close().
 */
bool um_wait_open(struct um_wait **out, const char *database_url,
	const char *keys_file, const char *base_url, struct um_wait_error *err);

/*
 * Writes the row; then out->url can be elicited. False, with the reason: the
 * database refused it or did not answer within 10 seconds, the link is longer
 * than UM_WAIT_URL_MAX, or OpenSSL failed.
 */
bool um_wait_create(struct um_wait *wait, const struct um_wait_ask *ask,
	struct um_wait_asked *out, struct um_wait_error *err);

/*
 * Waits for at most timeout_ms milliseconds; a negative number means without
 * end. The elicitation may be one that was completed before, or one that
 * another process created.
 *
 * Whatever fails is tried again after 100 ms, doubling up to 5 s: opening a
 * connection that was lost, and completing a row that has expired. The row is
 * read again each time, so nothing is missed.
 *
 * COMPLETED: the caller ends *out with um_wait_outcome_free(). The result is
 * removed from its row ten minutes later.
 * TIMEOUT: it is not completed, and can be waited for again. err->text says
 * what failed last, or is empty when nothing did. A database that does not
 * answer can make this up to one second late.
 * FAILED, with the reason: there is no such elicitation of this subject and
 * session, its result cannot be opened, or the database refused to read it.
 */
enum um_wait_end um_wait_for(struct um_wait *wait, const char *id,
	const char *subject, const char *session, int timeout_ms,
	struct um_wait_outcome *out, struct um_wait_error *err);

/*
 * Claims the outcome of um_wait_for(), which other waits may have too. *claimed
 * is true for one call only: deliver a paid product only then. Returns false,
 * with the reason, if the database refused the claim, or if it did not answer
 * within 10 seconds: then it is not known whether the outcome is claimed.
 */
bool um_wait_claim(struct um_wait *wait, const char *id, const char *subject,
	const char *session, const struct um_wait_outcome *outcome,
	bool *claimed, struct um_wait_error *err);

/* Wipes and frees what the outcome holds. */
void um_wait_outcome_free(struct um_wait_outcome *outcome);

/* Ends the connection, wipes and frees; NULL is fine. */
void um_wait_close(struct um_wait *wait);

#ifdef __cplusplus
}
#endif

#endif
