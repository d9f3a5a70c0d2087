/* SPDX-License-Identifier: MIT */
/*
 * A session of PostgreSQL until batches can be sent: it connects (postgres/connect.h),
 * looks whether there is a pooler and whether the login is that of such a program, and
 * prepares the statements. No function blocks.
 */
#ifndef UM_SESSION_H
#define UM_SESSION_H

#include <stdbool.h>
#include <stddef.h>

#include <libpq-fe.h>

#include "config/provider.h"
#include "core/str.h"
#include "postgres/batch.h"
#include "postgres/connect.h"
#include "postgres/op.h"

/* Set the first five members; the others begin zeroed. It must stay where it is. */
struct um_session {
	/* See there. Its on_notice() is also told what is found here. */
	struct um_connect connect;
	/* Only that of a server may, and must, be able to read results. */
	enum um_login login;
	const struct um_call *const *calls; /* NULL: of a callback program */
	const struct um_provider *providers;
	size_t providers_len;

	PGconn *conn;    /* NULL until it is made */
	bool pooled;     /* a pooler chooses the server of each transaction */
	bool want_write; /* of conn */
	bool is_known;   /* the login is right: the statements are prepared */
	struct um_batch_answer answer; /* until it is ready */
};

enum um_session_step {
	UM_SESSION_WAITS,  /* for the descriptor */
	UM_SESSION_MOVED,  /* the descriptor may have changed */
	UM_SESSION_ASKED,  /* the server has answered, and is asked more */
	UM_SESSION_READY,  /* batches can be sent on conn */
	UM_SESSION_FAILED, /* *err says why: call um_session_stop() */
};

/*
 * Starts, or takes one step if that is possible without waiting. `ready`: the
 * descriptor is.
 */
enum um_session_step um_session_go_on(struct um_session *session, bool ready,
	struct um_error *err);

/*
 * The descriptor to wait for, or -1. Wait until it is readable, or with *want_write
 * also until it is writable.
 */
int um_session_watch(const struct um_session *session, bool *want_write);

/* Sends what conn can take now, the rest when it is writable. False: it is lost. */
bool um_session_flush(struct um_session *session);

/* Closes the connection, or gives it up. The next step starts again. */
void um_session_stop(struct um_session *session);

/* The same at the end. */
void um_session_end(struct um_session *session);

#endif
