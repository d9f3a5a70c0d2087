/* SPDX-License-Identifier: MIT */
#include "postgres/session.h"

#include <stdlib.h>

static enum um_session_step
lost(const struct um_session *session, struct um_error *err)
{
	um_error(err, "%s", PQerrorMessage(session->conn));
	return UM_SESSION_FAILED;
}

/*
 * A pooler in transaction mode reports a process id of its own, since none of its
 * servers belongs to the connection. Who may execute urlmode.read reads sealed
 * results, which is for MCP servers; the console's login may execute
 * urlmode.show_elicitation, and a callback host's neither.
 */
static bool
ask(PGconn *conn)
{
	static const char sql[] =
		"SELECT pg_backend_pid(), has_function_privilege("
		"to_regprocedure('urlmode.read(uuid[], bytea[])'), 'EXECUTE'), "
		"has_function_privilege(to_regprocedure("
		"'urlmode.show_elicitation(uuid)'), 'EXECUTE')";

	return PQsetnonblocking(conn, 1) == 0 && PQenterPipelineMode(conn) == 1
		&& PQsendQueryParams(conn, sql, 0, NULL, NULL, NULL, NULL, 0)
		== 1
		&& PQpipelineSync(conn) == 1;
}

static enum um_session_step
connect_on(struct um_session *session, struct um_error *err)
{
	switch (um_connect_go_on(&session->connect, err)) {
	case UM_CONNECT_WAITS:
		return UM_SESSION_WAITS;
	case UM_CONNECT_MOVED:
		return UM_SESSION_MOVED;
	case UM_CONNECT_FAILED:
		return UM_SESSION_FAILED;
	case UM_CONNECT_MADE:
		break;
	}
	session->conn = um_connect_take(&session->connect);
	session->is_known = false;
	session->want_write = true;
	return ask(session->conn) ? UM_SESSION_MOVED : lost(session, err);
}

/* Why this is not the login of such a program, or NULL. */
static const char *
wrong_login(enum um_login wanted, enum um_login is)
{
	if (wanted == is)
		return NULL;
	switch (wanted) {
	case UM_LOGIN_SERVER:
		return "the login may not execute urlmode.read: give the api "
		       "urlmode_server";
	case UM_LOGIN_OPERATOR:
		return is == UM_LOGIN_SERVER
			? "the login may execute urlmode.read: give the "
			  "console urlmode_operator alone"
			: "the login may not execute "
			  "urlmode.show_elicitation: give the console "
			  "urlmode_operator";
	case UM_LOGIN_CALLBACK:
		break;
	}
	return is == UM_LOGIN_SERVER
		? "the login may execute urlmode.read: give the programs "
		  "urlmode_cgi alone"
		: NULL;
}

/* The answer to ask(). */
static enum um_session_step
asked(struct um_session *session, struct um_error *err)
{
	const struct um_connect *connect = &session->connect;
	const PGresult *res = session->answer.results[0];
	enum um_login login = UM_LOGIN_CALLBACK;
	bool pooled = false;
	const char *wrong;

	if (session->answer.results_len == 1) {
		pooled = strtoll(PQgetvalue(res, 0, 0), NULL, 10)
			!= PQbackendPID(session->conn);
		login = PQgetvalue(res, 0, 1)[0] == 't'   ? UM_LOGIN_SERVER
			: PQgetvalue(res, 0, 2)[0] == 't' ? UM_LOGIN_OPERATOR
							  : UM_LOGIN_CALLBACK;
	}
	wrong = wrong_login(session->login, login);
	if (wrong != NULL) {
		um_error(err, "%s", wrong);
		return UM_SESSION_FAILED;
	}
	if (pooled && !session->pooled)
		connect->on_notice("there is a pooler, so statements are not "
				   "prepared",
			connect->arg);
	session->pooled = pooled;
	session->is_known = true;
	session->want_write = true;
	return um_batch_assign(session->conn, session->providers,
		       session->providers_len)
			&& um_batch_prepare(session->conn, pooled,
				session->login, session->calls)
		? UM_SESSION_ASKED
		: lost(session, err);
}

static enum um_session_step
prepared(const struct um_session *session, struct um_error *err)
{
	if (session->answer.sqlstate[0] == '\0')
		return UM_SESSION_READY;
	um_error(err, "is it migrated? SQLSTATE: %s", session->answer.sqlstate);
	return UM_SESSION_FAILED;
}

enum um_session_step
um_session_go_on(struct um_session *session, bool ready, struct um_error *err)
{
	enum um_received received;
	enum um_session_step step;

	if (session->conn == NULL)
		return connect_on(session, err);
	/* With TLS, data may be buffered that the socket does not show. */
	if (!ready && !PQsslInUse(session->conn))
		return UM_SESSION_WAITS;
	if (PQconsumeInput(session->conn) != 1 || !um_session_flush(session))
		return lost(session, err);
	do
		received = um_batch_receive(&session->answer, session->conn);
	while (received == UM_RECEIVED_RESULT);
	if (received == UM_RECEIVED_NOTHING)
		return PQstatus(session->conn) == CONNECTION_BAD
			? lost(session, err)
			: UM_SESSION_WAITS;
	step = session->is_known ? prepared(session, err) : asked(session, err);
	um_batch_answer_clear(&session->answer);
	return step;
}

int
um_session_watch(const struct um_session *session, bool *want_write)
{
	*want_write = session->conn != NULL ? session->want_write
					    : session->connect.want_write;
	return session->conn != NULL ? PQsocket(session->conn)
				     : um_connect_fd(&session->connect);
}

bool
um_session_flush(struct um_session *session)
{
	int flushed = PQflush(session->conn);

	session->want_write = flushed == 1;
	return flushed >= 0;
}

void
um_session_stop(struct um_session *session)
{
	um_batch_answer_clear(&session->answer);
	um_connect_stop(&session->connect);
	PQfinish(session->conn);
	session->conn = NULL;
}

void
um_session_end(struct um_session *session)
{
	um_session_stop(session);
	um_connect_end(&session->connect);
}
