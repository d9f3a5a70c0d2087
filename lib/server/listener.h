/* SPDX-License-Identifier: MIT */
/*
 * The listening socket: the one that spawn-fcgi or systemd passes as standard
 * input, or the program's own, which `--listen` names.
 */
#ifndef UM_LISTENER_H
#define UM_LISTENER_H

#include <stdbool.h>
#include <sys/un.h>

#include "core/file.h"
#include "core/str.h"

#define UM_LISTENER_BACKLOG 1024 /* connections that are not yet accepted */
#define UM_LISTENER_MODE 0660    /* of a unix socket */
#define UM_LISTENER_LOCK ".lock" /* after its path: the file of its lock */

struct um_listener {
	int fd;
	bool own; /* made by um_listener_open() */
	/* Of an own unix socket; else NULL. The argument of --listen. */
	const char *path;
	struct um_file_version made; /* what is at the path */
	int lock;                    /* held while there is a path */
	/* Of the file whose lock says which program has the path. */
	char lock_path[sizeof(((struct sockaddr_un *)NULL)->sun_path)
		+ sizeof(UM_LISTENER_LOCK)];
};

/*
 * Listens on `where`: a path with a slash for a unix socket with mode
 * UM_LISTENER_MODE, or HOST:PORT with a numeric port, [HOST]:PORT for IPv6. HOST
 * must be a loopback address unless `remote` is true, since anyone who can connect
 * can say who the user is. A socket at the path on which nobody listens is
 * replaced; of programs that start at the same moment, one gets the path, by a
 * lock on the file PATH.lock beside it. False: *err says why. `where` must
 * outlive the listener.
 */
bool um_listener_open(struct um_listener *listener, const char *where,
	bool remote, struct um_error *err);

/*
 * Removes an own socket from its path, unless another is there by now: those who
 * connect later are refused. Connections that wait can still be accepted.
 */
void um_listener_withdraw(struct um_listener *listener);

/* Withdraws and closes an own socket. */
void um_listener_close(struct um_listener *listener);

#endif
