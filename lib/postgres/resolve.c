/* SPDX-License-Identifier: MIT */
#include "postgres/resolve.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <libpq-fe.h>

#include "postgres/leader.h"

struct um_resolve {
	atomic_int holders; /* its owner and its thread */
	int fd;             /* of eventfd(2) */
	char *conninfo;     /* to ask who leads, or NULL */
	char *hosts;        /* as the connection string has them, or NULL */
	char *hostaddrs;    /* the same, or NULL */
	char *ports;        /* the same, or NULL */

	/* The thread writes these, and its owner reads them afterwards. */
	struct um_buf host;
	struct um_buf hostaddr;
	struct um_buf port;
	size_t found;
	size_t answered; /* of those that were asked */
	size_t leaders;  /* that take writes, each with a timeline of its own */
	char timeline[UM_TIMELINE_LEN + 1]; /* the highest of them */
	int error; /* of getaddrinfo(3), the last one */
};

/* Neither the path of a socket nor an address. */
static bool
is_name(struct um_str host)
{
	char text[INET6_ADDRSTRLEN];
	uint8_t address[sizeof(struct in6_addr)];

	if (host.len == 0 || host.ptr[0] == '/' || host.ptr[0] == '@')
		return false;
	if (host.len >= sizeof(text))
		return true;
	memcpy(text, host.ptr, host.len);
	text[host.len] = '\0';
	return inet_pton(AF_INET, text, address) != 1
		&& inet_pton(AF_INET6, text, address) != 1;
}

/* Cuts the next element off a list, which may be NULL. */
static struct um_str
next(struct um_str *list)
{
	struct um_str element = um_str_cut(list, ",");

	return element.ptr != NULL ? element : um_str("");
}

/* As libpq counts hosts: one more than there are commas. */
static size_t
count_of(const char *hosts, const char *hostaddrs)
{
	size_t count = 1;

	for (const char *at = hostaddrs != NULL ? hostaddrs : hosts;
		(at = strchr(at, ',')) != NULL; at++)
		count++;
	return count;
}

/* Whether a name among them has no address. */
static bool
has_name(const char *hosts, const char *hostaddrs)
{
	struct um_str names = um_str(hosts);
	struct um_str addresses = um_str(hostaddrs);

	for (size_t i = count_of(hosts, hostaddrs); i-- != 0;) {
		bool named = is_name(next(&names));

		if (next(&addresses).len == 0 && named)
			return true;
	}
	return false;
}

/* Adds an element to a list, as its first or its last. */
static void
add(struct um_buf *list, struct um_str element, bool first, bool alone)
{
	struct um_buf all = { 0 };

	um_buf_put(&all, first ? element.ptr : list->ptr,
		first ? element.len : list->len);
	um_buf_puts(&all, alone ? "" : ",");
	um_buf_put(&all, first ? list->ptr : element.ptr,
		first ? list->len : element.len);
	all.failed |= list->failed;
	um_buf_free(list);
	*list = all;
}

/* Whether it has a higher timeline than those before, if anybody asks. */
static bool
leads(struct um_resolve *resolve, struct um_str host, struct um_str hostaddr,
	struct um_str port)
{
	char timeline[sizeof(resolve->timeline)] = "";
	char *name = strndup(host.ptr, host.len);
	char *address = strndup(hostaddr.ptr, hostaddr.len);
	char *number = port.ptr != NULL ? strndup(port.ptr, port.len) : NULL;
	enum um_leader says = name != NULL && address != NULL
		? um_leader_ask(resolve->conninfo, name, address, number,
			timeline)
		: UM_LEADER_SILENT;

	resolve->answered += says != UM_LEADER_SILENT;
	/* A promotion begins a timeline: with the same one it is one server. */
	resolve->leaders += says == UM_LEADER_WRITES
		&& strcmp(timeline, resolve->timeline) != 0;
	free(name);
	free(address);
	free(number);
	if (strcmp(timeline, resolve->timeline) <= 0)
		return false;
	memcpy(resolve->timeline, timeline, sizeof(timeline));
	return true;
}

static void
put(struct um_resolve *resolve, struct um_str host, struct um_str hostaddr,
	struct um_str port)
{
	bool alone = resolve->found++ == 0;
	bool first = resolve->conninfo != NULL
		&& leads(resolve, host, hostaddr, port);

	add(&resolve->host, host, first, alone);
	add(&resolve->hostaddr, hostaddr, first, alone);
	add(&resolve->port, port, first, alone);
}

static void
look_up(struct um_resolve *resolve, struct um_str host, struct um_str port)
{
	const struct addrinfo hints = { .ai_socktype = SOCK_STREAM };
	char *name = strndup(host.ptr, host.len);
	struct addrinfo *all = NULL;
	int error = name != NULL ? getaddrinfo(name, NULL, &hints, &all)
				 : EAI_MEMORY;

	if (error != 0)
		resolve->error = error;
	for (struct addrinfo *one = all; one != NULL; one = one->ai_next) {
		char text[NI_MAXHOST];

		if (getnameinfo(one->ai_addr, one->ai_addrlen, text,
			    sizeof(text), NULL, 0, NI_NUMERICHOST)
			== 0)
			put(resolve, host, um_str(text), port);
	}
	if (all != NULL)
		freeaddrinfo(all);
	free(name);
}

static void
look_up_all(struct um_resolve *resolve)
{
	struct um_str hosts = um_str(resolve->hosts);
	struct um_str hostaddrs = um_str(resolve->hostaddrs);
	struct um_str ports = um_str(resolve->ports);
	struct um_str port = um_str_cut(&ports, ",");
	/* A single port is for all hosts. */
	bool one_port = ports.ptr == NULL;

	for (size_t i = count_of(resolve->hosts, resolve->hostaddrs);
		i-- != 0;) {
		struct um_str host = next(&hosts);
		struct um_str hostaddr = next(&hostaddrs);

		if (hostaddr.len == 0 && is_name(host))
			look_up(resolve, host, port);
		else
			put(resolve, host, hostaddr, port);
		if (!one_port)
			port = um_str_cut(&ports, ",");
	}
}

static void *
run(void *arg)
{
	struct um_resolve *resolve = arg;

	look_up_all(resolve);
	um_buf_put(&resolve->host, "", 1);
	um_buf_put(&resolve->hostaddr, "", 1);
	um_buf_put(&resolve->port, "", 1);
	eventfd_write(resolve->fd, 1);
	um_resolve_free(resolve);
	return NULL;
}

/* Starts the thread with all signals blocked. */
static bool
start_thread(struct um_resolve *resolve)
{
	pthread_attr_t attr;
	pthread_t thread;
	sigset_t all, before;
	bool ok;

	if (pthread_attr_init(&attr) != 0)
		return false;
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	atomic_fetch_add(&resolve->holders, 1);
	ok = pthread_create(&thread, &attr, run, resolve) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attr);
	if (!ok)
		atomic_fetch_sub(&resolve->holders, 1);
	return ok;
}

/* The value of a keyword, or NULL if the string does not have it. */
static const char *
value_of(const PQconninfoOption *options, const char *keyword)
{
	while (options->keyword != NULL
		&& strcmp(options->keyword, keyword) != 0)
		options++;
	return options->keyword != NULL && options->val != NULL
			&& options->val[0] != '\0'
		? options->val
		: NULL;
}

struct um_resolve *
um_resolve_start(const char *conninfo, bool leader)
{
	PQconninfoOption *options = PQconninfoParse(conninfo, NULL);
	struct um_resolve *resolve = NULL;
	const char *hosts, *hostaddrs, *ports;

	if (options == NULL)
		return NULL;
	hosts = value_of(options, "host");
	hostaddrs = value_of(options, "hostaddr");
	ports = value_of(options, "port");
	if (hosts == NULL && hostaddrs == NULL)
		goto out;
	leader = leader && count_of(hosts, hostaddrs) > 1;
	if ((!leader && !has_name(hosts, hostaddrs))
		|| (resolve = calloc(1, sizeof(*resolve))) == NULL)
		goto out;
	resolve->holders = 1;
	resolve->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	resolve->hosts = hosts != NULL ? strdup(hosts) : NULL;
	resolve->hostaddrs = hostaddrs != NULL ? strdup(hostaddrs) : NULL;
	resolve->ports = ports != NULL ? strdup(ports) : NULL;
	resolve->conninfo = leader ? strdup(conninfo) : NULL;
	if (resolve->fd < 0 || (hosts != NULL && resolve->hosts == NULL)
		|| !start_thread(resolve)) {
		um_resolve_free(resolve);
		resolve = NULL;
	}
out:
	PQconninfoFree(options);
	return resolve;
}

int
um_resolve_fd(const struct um_resolve *resolve)
{
	return resolve->fd;
}

bool
um_resolve_has_ended(const struct um_resolve *resolve)
{
	struct pollfd pfd = { .fd = resolve->fd, .events = POLLIN };

	return poll(&pfd, 1, 0) > 0;
}

bool
um_resolve_take(const struct um_resolve *resolve,
	struct um_addresses *addresses, struct um_error *err)
{
	if (resolve->found == 0)
		return um_error(err, "its name cannot be looked up: %s",
			gai_strerror(resolve->error));
	if (resolve->host.failed || resolve->hostaddr.failed
		|| resolve->port.failed)
		return um_error(err, "out of memory");
	*addresses = (struct um_addresses){ .host = resolve->host.ptr,
		.hostaddr = resolve->hostaddr.ptr,
		.port = resolve->ports != NULL ? resolve->port.ptr : NULL,
		.is_ordered = resolve->conninfo != NULL,
		.is_certain = resolve->error == 0 && resolve->leaders == 1
			&& resolve->answered == resolve->found };
	return true;
}

void
um_resolve_free(struct um_resolve *resolve)
{
	if (resolve == NULL || atomic_fetch_sub(&resolve->holders, 1) != 1)
		return;
	if (resolve->fd >= 0)
		close(resolve->fd);
	um_buf_free(&resolve->host);
	um_buf_free(&resolve->hostaddr);
	um_buf_free(&resolve->port);
	um_wipe_free_text(resolve->conninfo);
	free(resolve->hosts);
	free(resolve->hostaddrs);
	free(resolve->ports);
	free(resolve);
}
