/* SPDX-License-Identifier: MIT */
/*
 * Looks up the host names of a connection string in a thread of its own,
 * because libpq would block: for half a minute if the resolver does not answer. The
 * thread also asks which of several hosts leads, where a commit was not answered.
 */
#ifndef UM_RESOLVE_H
#define UM_RESOLVE_H

#include <stdbool.h>
#include <stddef.h>

#include "core/str.h"

struct um_resolve;

/*
 * Parameters for libpq that replace those of the connection string. A name with
 * several addresses occurs several times.
 */
struct um_addresses {
	const char *host;     /* comma-separated, as are the others */
	const char *hostaddr; /* empty for a host that is not a name */
	const char *port;     /* NULL: that of the connection string */
	bool is_ordered;      /* the first one is to be tried first */
	/*
	 * They were asked, all have answered, and one takes writes. Who says
	 * nothing may be the old primary, and come back as it was.
	 */
	bool is_certain;
};

/*
 * Starts to look up the hosts of `conninfo`. With `leader`, and if there are several
 * addresses, the one with the highest timeline of those that take writes
 * (postgres/leader.h) becomes the first, which libpq then tries first. NULL: there
 * is nothing to look up or to ask, or the lookup cannot start; libpq then looks them
 * up itself, as it does with names from elsewhere (PGHOST, a service file).
 */
struct um_resolve *um_resolve_start(const char *conninfo, bool leader);

/* The descriptor that becomes readable when the lookup has ended. */
int um_resolve_fd(const struct um_resolve *resolve);

/* Whether the lookup has ended; does not wait. */
bool um_resolve_has_ended(const struct um_resolve *resolve);

/*
 * The addresses, after the lookup has ended; the lookup owns them. False: no
 * host has an address, and *err says why.
 */
bool um_resolve_take(const struct um_resolve *resolve,
	struct um_addresses *addresses, struct um_error *err);

/* Frees the lookup, or has its thread free it. NULL is fine. */
void um_resolve_free(struct um_resolve *resolve);

#endif
