/* SPDX-License-Identifier: MIT */
/*
 * The load generator: one thread, keep-alive connections to 127.0.0.1, one
 * request under way on each. Every answer's status is compared.
 *
 *   load [options] PORT FILE
 *
 *     -c COUNT    connections (64)
 *     -s SECONDS  stop after this long (whole file)
 *     -w SECONDS  do not count what began before this time has passed (0)
 *     -r RATE     begin this many a second, whether answered or not; a
 *                 request's time runs from when it was due
 *     -t FILE     write when each request was sent, as int64 nanoseconds of
 *                 CLOCK_MONOTONIC (0: never), in the order of the file
 *     -l          begin at the start of the file again when it is over
 *
 * FILE holds `STATUS CLASS LENGTH\n` and LENGTH bytes for each request; the
 * answers of each class are counted by themselves. The result is one JSON
 * object.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define CONNECTIONS_MAX 1024
#define CLASSES_MAX 8
#define ANSWER_MAX 32768
#define SECOND_NS INT64_C(1000000000)
#define SILENCE_MS 15000 /* until the run is given up */

struct request {
	const char *bytes;
	uint32_t len;
	uint16_t status;
	uint16_t class;
};

struct connection {
	int fd;        /* -1: to be opened */
	bool busy;     /* a request is under way */
	bool retried;  /* it was sent a second time: the first met a close */
	size_t index;  /* its number */
	int64_t began; /* ns */
	size_t len;
	char answer[ANSWER_MAX];
};

/* What became of the requests of one class. */
struct tally {
	size_t len;
	size_t cap;
	int64_t *took; /* ns */
	size_t wrong;
};

struct load {
	struct sockaddr_in address;
	struct request *requests;
	size_t requests_len;
	size_t next; /* to be sent; counts on when the file is over */
	size_t busy_len;
	size_t late; /* begun later than they were due by more than 1 ms */
	bool loops;
	int64_t start;
	int64_t counted_from;
	int64_t stop_at; /* 0: at the end of the file */
	int64_t last;    /* when the last counted answer came */
	double rate;     /* 0: as fast as it goes */
	int64_t *times;
	int epoll;
	size_t connections_len;
	struct connection connections[CONNECTIONS_MAX];
	struct tally tallies[CLASSES_MAX];
	unsigned wrong_status; /* the first one */
};

static void
die(const char *what)
{
	fprintf(stderr, "load: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void *
allocate(void *old, size_t count, size_t size)
{
	void *p = reallocarray(old, count, size);

	if (p == NULL)
		die("memory");
	return p;
}

static int64_t
now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * SECOND_NS + ts.tv_nsec;
}

static void
read_requests(struct load *load, const char *path)
{
	int fd = open(path, O_RDONLY);
	struct stat st;
	const char *p;
	const char *end;
	size_t cap = 0;

	if (fd < 0 || fstat(fd, &st) != 0)
		die(path);
	p = mmap(NULL, (size_t)st.st_size, PROT_READ,
		MAP_PRIVATE | MAP_POPULATE, fd, 0);
	if (p == MAP_FAILED)
		die(path);
	close(fd);
	end = p + st.st_size;
	while (p < end) {
		struct request r;
		char *at;

		/* strtoul stops at the byte behind the number. */
		r.status = (uint16_t)strtoul(p, &at, 10);
		r.class = (uint16_t)strtoul(at, &at, 10);
		r.len = (uint32_t)strtoul(at, &at, 10);
		r.bytes = at + 1;
		if (*at != '\n' || r.class >= CLASSES_MAX
			|| end - r.bytes < (ptrdiff_t)r.len) {
			errno = EINVAL;
			die(path);
		}
		if (load->requests_len == cap) {
			cap = cap != 0 ? cap * 2 : 4096;
			load->requests = allocate(load->requests, cap,
				sizeof(*load->requests));
		}
		load->requests[load->requests_len++] = r;
		p = r.bytes + r.len;
	}
}

static void
open_connection(struct load *load, struct connection *c)
{
	struct epoll_event ev = { .events = EPOLLIN, .data.ptr = c };
	int on = 1;

	c->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (c->fd < 0
		|| connect(c->fd, (struct sockaddr *)&load->address,
			   sizeof(load->address))
			!= 0
		|| setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on))
			!= 0
		|| epoll_ctl(load->epoll, EPOLL_CTL_ADD, c->fd, &ev) != 0)
		die("connect");
}

static void
send_request(struct load *load, struct connection *c)
{
	const struct request *r =
		&load->requests[c->index % load->requests_len];
	size_t sent = 0;

	if (c->fd < 0)
		open_connection(load, c);
	c->len = 0;
	while (sent < r->len) {
		ssize_t n = send(c->fd, r->bytes + sent, r->len - sent,
			MSG_NOSIGNAL);

		if (n < 0 && (errno == EPIPE || errno == ECONNRESET))
			return; /* what is read next says so as well */
		if (n < 0)
			die("send");
		sent += (size_t)n;
	}
}

/* Whether there is a request to begin at this time. */
static bool
begin_next(struct load *load, struct connection *c, int64_t began)
{
	if ((load->stop_at != 0 && began >= load->stop_at)
		|| (!load->loops && load->next >= load->requests_len))
		return false;
	c->index = load->next++;
	c->began = began;
	c->busy = true;
	c->retried = false;
	load->busy_len++;
	if (load->times != NULL)
		load->times[c->index % load->requests_len] = now_ns();
	send_request(load, c);
	return true;
}

static void
close_connection(struct connection *c)
{
	close(c->fd);
	c->fd = -1;
}

/*
 * The length of a whole answer, or 0. nginx gives a Content-Length, or, to a
 * FastCGI program's answer that has none, chunks.
 */
static size_t
answer_length(const char *text, size_t len)
{
	const char *end = memmem(text, len, "\r\n\r\n", 4);
	const char *field;
	size_t head;

	if (end == NULL)
		return 0;
	head = (size_t)(end - text) + 4;
	field = memmem(text, head, "\r\nContent-Length:", 17);
	if (field == NULL)
		field = memmem(text, head, "\r\ncontent-length:", 17);
	if (field != NULL) {
		size_t whole = head + strtoul(field + 17, NULL, 10);

		return whole <= len ? whole : 0;
	}
	return len - head >= 5 && memcmp(text + len - 5, "0\r\n\r\n", 5) == 0
		? len
		: 0;
}

static void
count_answer(struct load *load, const struct connection *c, int64_t now)
{
	const struct request *r =
		&load->requests[c->index % load->requests_len];
	struct tally *t = &load->tallies[r->class];
	unsigned status = 0;

	if (c->len > 12)
		status = (unsigned)strtoul(c->answer + 9, NULL, 10);
	if (status != r->status) {
		t->wrong++;
		if (load->wrong_status == 0)
			load->wrong_status = status;
	}
	if (c->began < load->counted_from)
		return;
	if (t->len == t->cap) {
		t->cap = t->cap != 0 ? t->cap * 2 : 4096;
		t->took = allocate(t->took, t->cap, sizeof(*t->took));
	}
	t->took[t->len++] = now - c->began;
	load->last = now;
}

static void
go_on(struct load *load, struct connection *c, int64_t now)
{
	c->busy = false;
	load->busy_len--;
	if (load->rate == 0)
		begin_next(load, c, now);
}

static void
connection_ready(struct load *load, struct connection *c)
{
	ssize_t n = recv(c->fd, c->answer + c->len, ANSWER_MAX - c->len,
		MSG_DONTWAIT);
	const char *close_field;
	size_t whole;
	int64_t now;

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		/* nginx ends a connection after keepalive_requests of them. */
		close_connection(c);
		if (!c->busy)
			return;
		if (c->len != 0 || c->retried) {
			errno = ECONNRESET;
			die("an answer was cut off");
		}
		c->retried = true;
		send_request(load, c);
		return;
	}
	c->len += (size_t)n;
	whole = answer_length(c->answer, c->len);
	if (whole == 0 && c->len < ANSWER_MAX)
		return;
	now = now_ns();
	count_answer(load, c, now);
	close_field = memmem(c->answer, c->len, "\r\nConnection: close\r\n",
		21);
	if (close_field != NULL)
		close_connection(c);
	go_on(load, c, now);
}

static int64_t
due_at(const struct load *load)
{
	return load->start
		+ (int64_t)((double)load->next * (double)SECOND_NS
			/ load->rate);
}

/* Begins what is due. False: there is nothing more to come. */
static bool
begin_due(struct load *load)
{
	int64_t now = now_ns();
	int64_t due;

	while ((due = due_at(load)) <= now) {
		size_t i = 0;

		while (i < load->connections_len && load->connections[i].busy)
			i++;
		if (i == load->connections_len)
			return true;
		load->late += now - due > SECOND_NS / 1000;
		if (!begin_next(load, &load->connections[i], due))
			return false;
	}
	return load->loops || load->next < load->requests_len;
}

static void
run(struct load *load)
{
	struct epoll_event events[CONNECTIONS_MAX];
	bool more = true;

	for (size_t i = 0; i < load->connections_len; i++)
		open_connection(load, &load->connections[i]);
	load->start = now_ns();
	load->counted_from += load->start;
	if (load->stop_at != 0)
		load->stop_at += load->start;
	for (size_t i = 0; load->rate == 0 && i < load->connections_len; i++)
		begin_next(load, &load->connections[i], load->start);
	while (load->busy_len != 0 || (load->rate != 0 && more)) {
		struct timespec wait = { .tv_sec = SILENCE_MS / 1000 };
		int n;

		if (load->rate != 0 && more) {
			int64_t left;

			more = begin_due(load);
			left = due_at(load) - now_ns();
			if (more)
				wait = (struct timespec){
					.tv_nsec = left > 0 ? left : 100000
				};
		}
		n = epoll_pwait2(load->epoll, events, CONNECTIONS_MAX, &wait,
			NULL);
		if (n == 0 && (load->rate == 0 || !more)) {
			errno = ETIMEDOUT;
			die("no answer");
		}
		for (int i = 0; i < n; i++)
			connection_ready(load, events[i].data.ptr);
	}
}

static int
compare(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a;
	int64_t y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

static double
quantile_ms(const struct tally *t, double q)
{
	size_t i = (size_t)(q * (double)t->len);

	if (t->len == 0)
		return 0;
	return (double)t->took[i < t->len ? i : t->len - 1] / 1e6;
}

static size_t
report(struct load *load)
{
	double seconds = (double)(load->last - load->counted_from) / 1e9;
	const char *comma = "";
	size_t wrong = 0;

	printf("{\"seconds\":%.3f,\"sent\":%zu,\"late\":%zu,\"classes\":{",
		seconds, load->next, load->late);
	for (size_t i = 0; i < CLASSES_MAX; i++) {
		struct tally *t = &load->tallies[i];

		wrong += t->wrong;
		if (t->len == 0 && t->wrong == 0)
			continue;
		qsort(t->took, t->len, sizeof(*t->took), compare);
		printf("%s\"%zu\":{\"count\":%zu,\"rate\":%.1f,\"wrong\":%zu,"
		       "\"p50\":%.3f,\"p90\":%.3f,\"p99\":%.3f,"
		       "\"p999\":%.3f,\"max\":%.3f}",
			comma, i, t->len, (double)t->len / seconds, t->wrong,
			quantile_ms(t, 0.5), quantile_ms(t, 0.9),
			quantile_ms(t, 0.99), quantile_ms(t, 0.999),
			quantile_ms(t, 1));
		comma = ",";
	}
	printf("},\"wrong\":%zu,\"wrong_status\":%u}\n", wrong,
		load->wrong_status);
	return wrong;
}

static void
write_times(const struct load *load, const char *path)
{
	FILE *file = fopen(path, "w");

	if (file == NULL
		|| fwrite(load->times, sizeof(*load->times), load->requests_len,
			   file)
			!= load->requests_len
		|| fclose(file) != 0)
		die(path);
}

int
main(int argc, char **argv)
{
	static struct load load = { .connections_len = 64 };
	const char *times = NULL;
	int option;

	while ((option = getopt(argc, argv, "c:s:w:r:t:l")) != -1) {
		double number = optarg != NULL ? strtod(optarg, NULL) : 0;

		switch (option) {
		case 'c':
			load.connections_len = (size_t)number;
			break;
		case 's':
			load.stop_at = (int64_t)(number * (double)SECOND_NS);
			break;
		case 'w':
			load.counted_from = (int64_t)(number
				* (double)SECOND_NS);
			break;
		case 'r':
			load.rate = number;
			break;
		case 't':
			times = optarg;
			break;
		case 'l':
			load.loops = true;
			break;
		default:
			return 2;
		}
	}
	if (argc - optind != 2 || load.connections_len == 0
		|| load.connections_len > CONNECTIONS_MAX
		|| (load.loops && load.stop_at == 0)) {
		fputs("usage: load [options] PORT FILE; see load.c\n", stderr);
		return 2;
	}
	load.address = (struct sockaddr_in){ .sin_family = AF_INET,
		.sin_port = htons((uint16_t)strtoul(argv[optind], NULL, 10)),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	read_requests(&load, argv[optind + 1]);
	if (times != NULL) {
		load.times = allocate(NULL, load.requests_len,
			sizeof(*load.times));
		memset(load.times, 0, load.requests_len * sizeof(*load.times));
	}
	prctl(PR_SET_TIMERSLACK, 1);
	load.epoll = epoll_create1(EPOLL_CLOEXEC);
	if (load.epoll < 0)
		die("epoll");
	run(&load);
	if (times != NULL)
		write_times(&load, times);
	return report(&load) == 0 ? 0 : 1;
}
