/* SPDX-License-Identifier: MIT */
/* What an um_wait is: a connection, which is opened again, and the keys. */
#ifndef UM_HANDLE_H
#define UM_HANDLE_H

#include <libpq-fe.h>

#include "core/str.h"
#include "crypto/keys.h"

#define UM_HANDLE_CALL_MS 10000 /* for one call of the database, at most */

struct um_wait {
	PGconn *conn; /* NULL: lost */
	struct um_keys *keys;
	struct um_file_version keys_version;
	char *keys_file;
	char *database_url;
	char *base_url;
};

/* As um_wait_open() says. */
bool um_handle_open(struct um_wait **out, const char *database_url,
	const char *keys_file, const char *base_url, struct um_error *err);

/* Wipes and frees; NULL is fine. */
void um_handle_close(struct um_wait *wait);

/* Opens the connection again if it was lost, by this time at the latest. */
bool um_handle_connect(struct um_wait *wait, int64_t deadline,
	struct um_error *err);

/*
 * Reads the keys file again if it has changed: keys are rotated while a program
 * waits. Those that it has stay if the file is refused.
 */
void um_handle_refresh_keys(struct um_wait *wait);

#endif
