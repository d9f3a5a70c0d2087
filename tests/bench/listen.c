/* SPDX-License-Identifier: MIT */
/*
 * Connections that LISTEN, as those of so many MCP servers do:
 *
 *   listen COUNT CHANNEL
 *
 * in the database of URLMODE_ADMIN_DATABASE_URL. Prints `ready`, and at
 * SIGTERM how many notifications came, all connections together.
 */
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include <libpq-fe.h>

#define LISTENERS_MAX 1000

static volatile sig_atomic_t over;

static void
on_term(int signo)
{
	(void)signo;
	over = 1;
}

static PGconn *
listen_on(const char *channel)
{
	PGconn *conn = PQconnectdb(getenv("URLMODE_ADMIN_DATABASE_URL"));
	char command[128];

	snprintf(command, sizeof(command), "LISTEN %s", channel);
	PQclear(PQexec(conn, command));
	if (PQstatus(conn) != CONNECTION_OK) {
		fprintf(stderr, "listen: %s", PQerrorMessage(conn));
		exit(1);
	}
	return conn;
}

static unsigned long
take(PGconn *conn)
{
	unsigned long count = 0;
	PGnotify *notify;

	if (PQconsumeInput(conn) != 1)
		exit(1);
	while ((notify = PQnotifies(conn)) != NULL) {
		PQfreemem(notify);
		count++;
	}
	return count;
}

int
main(int argc, char **argv)
{
	static PGconn *conn[LISTENERS_MAX];
	static struct pollfd pfd[LISTENERS_MAX];
	size_t len = argc == 3 ? strtoul(argv[1], NULL, 10) : 0;
	unsigned long count = 0;

	if (len == 0 || len > LISTENERS_MAX)
		return 2;
	for (size_t i = 0; i < len; i++) {
		conn[i] = listen_on(argv[2]);
		pfd[i] = (struct pollfd){ .fd = PQsocket(conn[i]),
			.events = POLLIN };
	}
	signal(SIGTERM, on_term);
	puts("ready");
	fflush(stdout);
	while (!over) {
		if (poll(pfd, len, 200) <= 0)
			continue;
		for (size_t i = 0; i < len; i++)
			if (pfd[i].revents != 0)
				count += take(conn[i]);
	}
	printf("%lu\n", count);
	for (size_t i = 0; i < len; i++)
		PQfinish(conn[i]);
	return 0;
}
