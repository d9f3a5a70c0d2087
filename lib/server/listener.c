/* SPDX-License-Identifier: MIT */
#include "server/listener.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* Binds, and listens. */
static bool
listen_at(struct um_listener *listener, const struct sockaddr *address,
	socklen_t len)
{
	const int on = 1;

	listener->fd = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC,
		0);
	return listener->fd >= 0
		/* TCP: connections of a program that has ended may linger. */
		&& setsockopt(listener->fd, SOL_SOCKET, SO_REUSEADDR, &on,
			   sizeof(on))
		== 0
		/* Of a unix socket: what bind() gives it, less the umask. */
		&& (address->sa_family != AF_UNIX
			|| fchmod(listener->fd, UM_LISTENER_MODE) == 0)
		&& bind(listener->fd, address, len) == 0;
}

/*
 * Takes the lock, which ends with the process at the latest. Two programs that
 * start at the same moment would else both find a socket on which nobody
 * listens, and the second would remove that of the first. False, with errno.
 */
static bool
take_path(struct um_listener *listener, const char *path)
{
	const char *name = listener->lock_path;
	struct stat held;
	struct stat there;
	int fd;

	snprintf(listener->lock_path, sizeof(listener->lock_path),
		"%s" UM_LISTENER_LOCK, path);
	for (;;) {
		fd = open(name, O_RDONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW,
			0640);
		if (fd < 0)
			return false;
		if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
			close(fd);
			errno = EADDRINUSE;
			return false;
		}
		if (fstat(fd, &held) == 0 && stat(name, &there) == 0
			&& held.st_ino == there.st_ino
			&& held.st_dev == there.st_dev)
			break;
		/* Who had it has removed it since it was opened here. */
		close(fd);
	}
	listener->path = path;
	listener->lock = fd;
	return true;
}

/* Removes a socket that nobody listens on. False, with errno: it must stay. */
static bool
remove_stale(const struct sockaddr_un *address)
{
	struct stat st;
	int fd;
	bool stale;

	if (lstat(address->sun_path, &st) != 0)
		return errno == ENOENT;
	if (!S_ISSOCK(st.st_mode)) {
		errno = ENOTSOCK;
		return false;
	}
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return false;
	stale = connect(fd, (const struct sockaddr *)address, sizeof(*address))
			!= 0
		&& errno == ECONNREFUSED;
	close(fd);
	if (stale)
		return unlink(address->sun_path) == 0 || errno == ENOENT;
	errno = EADDRINUSE;
	return false;
}

static bool
open_unix(struct um_listener *listener, const char *path, struct um_error *err)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	size_t len = strlen(path);
	struct stat st;

	if (len >= sizeof(address.sun_path))
		return um_error(err, "--listen %s: over %zu bytes", path,
			sizeof(address.sun_path) - 1);
	memcpy(address.sun_path, path, len + 1);
	if (!take_path(listener, path) || !remove_stale(&address)
		|| !listen_at(listener, (const struct sockaddr *)&address,
			sizeof(address)))
		return false;
	/* The umask may have taken the group's right to connect. */
	if (chmod(path, UM_LISTENER_MODE) != 0 || stat(path, &st) != 0)
		return false;
	listener->made = um_file_version(&st);
	return true;
}

static bool
is_loopback(const struct sockaddr *address)
{
	if (address->sa_family == AF_INET) {
		const struct sockaddr_in *in = (const void *)address;

		return ntohl(in->sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
	}
	if (address->sa_family == AF_INET6) {
		const struct sockaddr_in6 *in6 = (const void *)address;

		return IN6_IS_ADDR_LOOPBACK(&in6->sin6_addr);
	}
	return false;
}

/* Cuts HOST:PORT in two, without the brackets of IPv6. */
static bool
split(char *text, const char **host, const char **port)
{
	char *colon = strrchr(text, ':');
	size_t len;

	if (colon == NULL || colon == text)
		return false;
	*colon = '\0';
	*host = text;
	*port = colon + 1;
	len = strlen(text);
	if (text[0] == '[' && text[len - 1] == ']') {
		text[len - 1] = '\0';
		*host = text + 1;
	} else if (strchr(text, ':') != NULL) {
		return false;
	}
	return strspn(*port, "0123456789") == strlen(*port)
		&& strlen(*port) <= 5 && strtoul(*port, NULL, 10) - 1 < 65535;
}

static bool
open_tcp(struct um_listener *listener, const char *where, bool remote,
	struct um_error *err)
{
	const struct addrinfo hints = { .ai_socktype = SOCK_STREAM,
		.ai_flags = AI_PASSIVE | AI_NUMERICSERV };
	struct addrinfo *found = NULL;
	char *text = strdup(where);
	const char *host;
	const char *port;
	int status;
	bool ok = false;

	if (text == NULL || !split(text, &host, &port)) {
		um_error(err,
			"--listen %s: neither a path with a slash nor "
			"HOST:PORT",
			where);
	} else if ((status = getaddrinfo(host, port, &hints, &found)) != 0) {
		um_error(err, "--listen %s: %s", where, gai_strerror(status));
	} else if (!remote && !is_loopback(found->ai_addr)) {
		um_error(err,
			"--listen %s: not a loopback address; anyone who "
			"can connect can say who the user is (--remote allows "
			"it)",
			where);
	} else {
		ok = listen_at(listener, found->ai_addr, found->ai_addrlen);
	}
	if (found != NULL)
		freeaddrinfo(found);
	free(text);
	return ok;
}

bool
um_listener_open(struct um_listener *listener, const char *where, bool remote,
	struct um_error *err)
{
	*listener = (struct um_listener){ .fd = -1, .own = true };
	err->text[0] = '\0';
	if ((strchr(where, '/') != NULL
			    ? open_unix(listener, where, err)
			    : open_tcp(listener, where, remote, err))
		&& listen(listener->fd, UM_LISTENER_BACKLOG) == 0)
		return true;
	if (err->text[0] == '\0')
		um_error(err, "--listen %s: %s", where, strerror(errno));
	um_listener_close(listener);
	return false;
}

void
um_listener_withdraw(struct um_listener *listener)
{
	if (listener->path == NULL)
		return;
	if (!um_file_changed(&listener->made, listener->path))
		unlink(listener->path);
	unlink(listener->lock_path);
	close(listener->lock);
	listener->path = NULL;
}

void
um_listener_close(struct um_listener *listener)
{
	if (!listener->own)
		return;
	um_listener_withdraw(listener);
	if (listener->fd >= 0)
		close(listener->fd);
	listener->fd = -1;
}
