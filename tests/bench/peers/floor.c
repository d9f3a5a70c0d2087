/* SPDX-License-Identifier: MIT */
/*
 * The floor under the latency: libpq and one statement, no web server.
 *
 *   floor RATE IDS TIMES
 *
 * Reads one id a line from IDS, completes RATE of them a second in the
 * database of URLMODE_ADMIN_DATABASE_URL, each in a transaction of its own
 * that notifies, and writes to TIMES when each was begun: int64 nanoseconds
 * of CLOCK_MONOTONIC.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

#include <libpq-fe.h>

#define SECOND_NS INT64_C(1000000000)

static const char complete[] =
	"UPDATE bench.elicitation SET status = 'completed', "
	"action = 'accept', result = $2, completed_at = now() "
	"WHERE id = $1 AND status <> 'completed' AND expires_at > now() "
	"RETURNING pg_notify('bench', $1::text)";

static void
die(const char *what)
{
	fprintf(stderr, "floor: %s\n", what);
	exit(1);
}

static int64_t
wait_until(int64_t due)
{
	struct timespec ts = { .tv_sec = due / SECOND_NS,
		.tv_nsec = due % SECOND_NS };

	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL);
	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * SECOND_NS + ts.tv_nsec;
}

int
main(int argc, char **argv)
{
	const char *values[] = { NULL,
		"{\"code\":\"SplxlOBeZQQYbYS6WxSbIA\",\"iss\":null}" };
	FILE *ids = argc == 4 ? fopen(argv[2], "r") : NULL;
	FILE *times = argc == 4 ? fopen(argv[3], "w") : NULL;
	PGconn *conn = PQconnectdb(getenv("URLMODE_ADMIN_DATABASE_URL"));
	char id[64];
	int64_t gap;
	int64_t due;

	if (ids == NULL || times == NULL)
		die("usage: floor RATE IDS TIMES");
	if (PQstatus(conn) != CONNECTION_OK)
		die(PQerrorMessage(conn));
	PQclear(PQprepare(conn, "complete", complete, 2, NULL));
	prctl(PR_SET_TIMERSLACK, 1);
	gap = (int64_t)((double)SECOND_NS / strtod(argv[1], NULL));
	due = wait_until(0) + gap;
	for (; fgets(id, sizeof(id), ids) != NULL; due += gap) {
		int64_t began = wait_until(due);
		PGresult *res;

		id[strcspn(id, "\n")] = '\0';
		values[0] = id;
		res = PQexecPrepared(conn, "complete", 2, values, NULL, NULL,
			0);
		if (PQntuples(res) != 1)
			die(PQresultErrorMessage(res));
		PQclear(res);
		if (fwrite(&began, sizeof(began), 1, times) != 1)
			die(argv[3]);
	}
	PQfinish(conn);
	return fclose(times) == 0 ? 0 : 1;
}
