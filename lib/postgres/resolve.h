/* SPDX-License-Identifier: MIT */
/*
 * Looks up the host names of a connection string in a thread of its own. libpq
 * would do so itself, and wait: half a minute where the resolver does not answer.
 */
#ifndef UM_RESOLVE_H
#define UM_RESOLVE_H

#include <stdbool.h>

#include "core/str.h"

struct um_resolve;

/*
 * Parameters for libpq that replace those of the connection string. A name with
 * several addresses is there several times.
 */
struct um_addresses {
	const char *host;     /* comma-separated, as are the others */
	const char *hostaddr; /* empty where the host is no name */
	const char *port;     /* NULL: as it was */
};

/*
 * Begins to look up the hosts of `conninfo`. NULL: there is nothing to look up,
 * or it cannot be begun; libpq then does what it does. Names that are not in the
 * string (PGHOST, a service file) are libpq's too.
 */
struct um_resolve *um_resolve_start(const char *conninfo);

/* The descriptor that is readable when it has ended. */
int um_resolve_fd(const struct um_resolve *resolve);

/* Whether it has ended; does not wait. */
bool um_resolve_has_ended(const struct um_resolve *resolve);

/*
 * After that: what was found, which stays the lookup's. False: no host has an
 * address, and *err says why.
 */
bool um_resolve_take(const struct um_resolve *resolve,
	struct um_addresses *addresses, struct um_error *err);

/* Frees it, or leaves that to its thread. NULL is fine. */
void um_resolve_free(struct um_resolve *resolve);

#endif
