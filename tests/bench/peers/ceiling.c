/* SPDX-License-Identifier: MIT */
/*
 * The ceiling: the least that a program between nginx and PostgreSQL has to do
 * to complete a row. It checks nothing and seals nothing.
 *
 *   ceiling ANSWER RESULT_LEN OUTCOME_LEN
 *
 * Its requests hold, as `state`, the id and the binding of a row in
 * hexadecimal. It completes the row with urlmode.complete in DATABASE_URL, with
 * a result and an outcome of those lengths, and answers with what the file
 * ANSWER holds from its Status on. One thread around epoll, one connection in
 * pipeline mode: what arrives while a batch is under way goes into the next, which
 * is sent behind it once as many wait, with half of what is pending. Whatever goes
 * wrong ends it.
 */
#include <arpa/inet.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <libpq-fe.h>

#define CONNECTIONS_MAX 1024 /* as descriptors */
#define REQUEST_MAX 16384
#define EVENTS_MAX 128
#define ID_LEN 16
#define BINDING_LEN 16
#define SEALED_MAX 1024

/* FastCGI: the head of a record, and its types. */
#define RECORD_HEAD 8
#define END_REQUEST 3
#define STDIN 5
#define STDOUT 6

/* An array in binary form (array_recv), with room for each connection. */
#define ARRAY_HEAD 20

struct array {
	size_t element; /* bytes of each, with its length */
	char *bytes;
};

struct connection {
	size_t len;
	unsigned char bytes[REQUEST_MAX];
};

struct batch {
	size_t len;
	int fds[CONNECTIONS_MAX];
};

/* The parameters of urlmode.complete, and their types in pg_type.dat. */
enum {
	ID,
	BINDING,
	PROVIDER,
	ACTION,
	REASON,
	RESULT,
	SUBJECT,
	OUTCOME,
	PARAMS
};
enum { BYTEA = 17, TEXT = 25, UUID = 2950 };
static const Oid array_types[PARAMS] = { 2951, 1001, 1009, 1009, 1009, 1001,
	1009, 1001 };
static const char complete[] = "SELECT outcome FROM urlmode.complete("
			       "$1, $2, $3, $4, $5, $6, $7, $8)";

static struct array params[PARAMS];
static struct connection connections[CONNECTIONS_MAX];
/* From batches[first] on. */
static struct batch batches[2];
static size_t first;
static size_t under_way;
static struct batch waiting; /* its rows are in params */
static char answer[65536];
static size_t answer_len;
static PGconn *conn;

static void
die(const char *what)
{
	fprintf(stderr, "ceiling: %s\n", what);
	exit(1);
}

static void
put_int(char *at, int32_t value)
{
	uint32_t network = htonl((uint32_t)value);

	memcpy(at, &network, sizeof(network));
}

static void
put_element(struct array *array, size_t n, const void *value, size_t len)
{
	char *at = array->bytes + ARRAY_HEAD + n * array->element;

	put_int(at, value != NULL ? (int32_t)len : -1);
	if (value != NULL)
		memcpy(at + 4, value, len);
}

/* An array whose elements are all this value; NULL: SQL's. */
static void
make_array(struct array *array, int32_t type, const void *value, size_t len)
{
	array->element = 4 + (value != NULL ? len : 0);
	array->bytes = malloc(ARRAY_HEAD + CONNECTIONS_MAX * array->element);
	if (array->bytes == NULL)
		die("out of memory");
	put_int(array->bytes, 1);     /* dimensions */
	put_int(array->bytes + 4, 1); /* there may be NULLs */
	put_int(array->bytes + 8, type);
	put_int(array->bytes + 16, 1); /* lower bound */
	for (size_t n = 0; n < CONNECTIONS_MAX; n++)
		put_element(array, n, value, len);
}

static void
make_params(size_t result_len, size_t outcome_len)
{
	static const uint8_t zeros[SEALED_MAX];

	if (result_len > SEALED_MAX || outcome_len > SEALED_MAX)
		die("a length");
	make_array(&params[ID], UUID, zeros, ID_LEN);
	make_array(&params[BINDING], BYTEA, zeros, BINDING_LEN);
	make_array(&params[PROVIDER], TEXT, "demo", 4);
	make_array(&params[ACTION], TEXT, "accept", 6);
	make_array(&params[REASON], TEXT, "", 0);
	make_array(&params[RESULT], BYTEA, zeros, result_len);
	make_array(&params[SUBJECT], TEXT, NULL, 0);
	make_array(&params[OUTCOME], BYTEA, zeros, outcome_len);
}

static void
put_record(unsigned char type, size_t content)
{
	const unsigned char head[RECORD_HEAD] = { 1, type, 0, 1,
		(unsigned char)(content >> 8), (unsigned char)content };

	memcpy(answer + answer_len, head, sizeof(head));
	answer_len += sizeof(head);
}

/* The records of an answer; nginx numbers every request 1. */
static void
make_answer(const char *path)
{
	char text[32768];
	FILE *file = fopen(path, "r");
	size_t len;

	if (file == NULL)
		die(path);
	len = fread(text, 1, sizeof(text), file);
	fclose(file);
	put_record(STDOUT, len);
	memcpy(answer + answer_len, text, len);
	answer_len += len;
	put_record(STDOUT, 0);
	put_record(END_REQUEST, 8);
	answer_len += 8; /* FCGI_REQUEST_COMPLETE */
}

static void
connect_database(void)
{
	conn = PQconnectdb(getenv("DATABASE_URL"));
	PQclear(PQprepare(conn, "complete", complete, PARAMS, array_types));
	if (PQstatus(conn) != CONNECTION_OK || PQenterPipelineMode(conn) != 1)
		die(PQerrorMessage(conn));
}

/* The rows that wait behind the first `len` of them are now the first. */
static void
remove_waiting(size_t len)
{
	static const int of_row[] = { ID, BINDING };

	waiting.len -= len;
	memmove(waiting.fds, waiting.fds + len, waiting.len * sizeof(int));
	for (size_t i = 0; i < 2; i++) {
		size_t element = params[of_row[i]].element;
		char *rows = params[of_row[i]].bytes + ARRAY_HEAD;

		memmove(rows, rows + len * element, waiting.len * element);
	}
}

static void
send_batch(void)
{
	static const int binary[PARAMS] = { 1, 1, 1, 1, 1, 1, 1, 1 };
	const char *values[PARAMS];
	int lengths[PARAMS];
	struct batch *batch = &batches[(first + under_way) % 2];
	size_t len = waiting.len;

	if (len == 0 || under_way == 2
		|| (under_way == 1 && len < batches[first].len))
		return;
	if (under_way == 1)
		len = (batches[first].len + len + 1) / 2;
	for (size_t p = 0; p < PARAMS; p++) {
		put_int(params[p].bytes + 12, (int32_t)len);
		values[p] = params[p].bytes;
		lengths[p] = (int)(ARRAY_HEAD + len * params[p].element);
	}
	if (PQsendQueryPrepared(conn, "complete", PARAMS, values, lengths,
		    binary,
		    0) != 1
		|| PQpipelineSync(conn) != 1)
		die(PQerrorMessage(conn));
	memcpy(batch->fds, waiting.fds, len * sizeof(int));
	batch->len = len;
	under_way++;
	remove_waiting(len);
}

/* The next batch is sent first: PostgreSQL works meanwhile. */
static void
batch_over(void)
{
	struct batch done = batches[first];

	first = (first + 1) % 2;
	under_way--;
	send_batch();
	for (size_t i = 0; i < done.len; i++)
		send(done.fds[i], answer, answer_len, MSG_NOSIGNAL);
}

static void
read_results(void)
{
	if (PQconsumeInput(conn) != 1)
		die(PQerrorMessage(conn));
	while (under_way != 0 && !PQisBusy(conn)) {
		PGresult *res = PQgetResult(conn);
		ExecStatusType status = PQresultStatus(res);

		if (res != NULL && status != PGRES_TUPLES_OK
			&& status != PGRES_PIPELINE_SYNC)
			die(PQresultErrorMessage(res));
		PQclear(res);
		if (status == PGRES_PIPELINE_SYNC)
			batch_over();
	}
}

/* Whether the empty record that ends a request has come. */
static bool
is_whole(const struct connection *c)
{
	for (size_t at = 0; at + RECORD_HEAD <= c->len;) {
		const unsigned char *head = c->bytes + at;
		size_t content = (size_t)(head[4] << 8 | head[5]);

		if (head[1] == STDIN && content == 0)
			return true;
		at += RECORD_HEAD + content + head[6];
	}
	return false;
}

static int
digit(char c)
{
	return c <= '9' ? c - '0' : c - 'a' + 10;
}

/* False: the request has no state that is so long. */
static bool
read_state(uint8_t *out, size_t len, const struct connection *c)
{
	const char *end = (const char *)c->bytes + c->len;
	const char *at = memmem(c->bytes, c->len, "state=", 6);

	if (at == NULL || (size_t)(end - at) < 6 + 2 * len)
		return false;
	at += 6;
	for (size_t i = 0; i < len; i++, at += 2)
		out[i] = (uint8_t)(digit(at[0]) << 4 | digit(at[1]));
	return true;
}

static void
connection_ready(int fd)
{
	struct connection *c = &connections[fd];
	uint8_t row[ID_LEN + BINDING_LEN];
	ssize_t n = recv(fd, c->bytes + c->len, sizeof(c->bytes) - c->len, 0);

	if (n <= 0) {
		close(fd);
		return;
	}
	c->len += (size_t)n;
	if (!is_whole(c))
		return;
	if (waiting.len == CONNECTIONS_MAX || !read_state(row, sizeof(row), c))
		die("a request that is none of the benchmark's");
	c->len = 0;
	put_element(&params[ID], waiting.len, row, ID_LEN);
	put_element(&params[BINDING], waiting.len, row + ID_LEN, BINDING_LEN);
	waiting.fds[waiting.len++] = fd;
}

static void
watch(int epoll, int fd)
{
	struct epoll_event ev = { .events = EPOLLIN, .data.fd = fd };

	if (fd < 0 || fd >= CONNECTIONS_MAX
		|| epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &ev) != 0)
		die("a descriptor");
	connections[fd].len = 0;
}

int
main(int argc, char **argv)
{
	struct epoll_event events[EVENTS_MAX];
	int epoll = epoll_create1(EPOLL_CLOEXEC);

	if (argc != 4)
		die("usage: ceiling ANSWER RESULT_LEN OUTCOME_LEN");
	make_answer(argv[1]);
	make_params(strtoul(argv[2], NULL, 10), strtoul(argv[3], NULL, 10));
	connect_database();
	watch(epoll, STDIN_FILENO);
	watch(epoll, PQsocket(conn));
	for (;;) {
		int n = epoll_wait(epoll, events, EVENTS_MAX, -1);

		for (int i = 0; i < n; i++) {
			int fd = events[i].data.fd;

			if (fd == STDIN_FILENO)
				watch(epoll,
					accept4(fd, NULL, NULL, SOCK_CLOEXEC));
			else if (fd == PQsocket(conn))
				read_results();
			else
				connection_ready(fd);
		}
		send_batch();
	}
}
