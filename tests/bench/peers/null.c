/* SPDX-License-Identifier: MIT */
/*
 * The null responder: what nginx, FastCGI and libfcgi cost when nothing is
 * done. One thread around epoll, kept connections; libfcgi reads a request
 * as soon as its connection is readable, and every answer is the same.
 *
 *   null FILE
 *
 * FILE holds that answer, from its Status on.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <fcgiapp.h>

#define EVENTS_MAX 128

static char answer[65536];
static int answer_len;

static void
read_answer(const char *path)
{
	FILE *file = fopen(path, "r");

	if (file == NULL)
		abort();
	answer_len = (int)fread(answer, 1, sizeof(answer), file);
	fclose(file);
}

static void
open_connection(int epoll)
{
	FCGX_Request *request = malloc(sizeof(*request));
	struct epoll_event ev = { .events = EPOLLIN, .data.ptr = request };
	int fd = accept4(STDIN_FILENO, NULL, NULL, SOCK_CLOEXEC);

	if (fd < 0 || request == NULL || FCGX_InitRequest(request, -1, 0) != 0)
		abort();
	request->ipcFd = fd;
	request->keepConnection = 1;
	epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &ev);
	/* epoll has the request: NOLINTNEXTLINE(clang-analyzer-unix.Malloc) */
}

static void
serve(FCGX_Request *request)
{
	char byte;

	if (recv(request->ipcFd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) <= 0
		|| FCGX_Accept_r(request) < 0) {
		close(request->ipcFd);
		free(request);
		return;
	}
	FCGX_PutStr(answer, answer_len, request->out);
	FCGX_Finish_r(request);
	if (request->ipcFd < 0)
		free(request);
}

int
main(int argc, char **argv)
{
	struct epoll_event events[EVENTS_MAX];
	int epoll = epoll_create1(EPOLL_CLOEXEC);
	struct epoll_event listener = { .events = EPOLLIN };

	if (argc != 2)
		return 1;
	read_answer(argv[1]);
	setenv("LIBFCGI_OS_CLOSE_POLL_TIMEOUT", "0", 1);
	if (FCGX_Init() != 0
		|| epoll_ctl(epoll, EPOLL_CTL_ADD, STDIN_FILENO, &listener)
			!= 0)
		return 1;
	for (;;) {
		int n = epoll_wait(epoll, events, EVENTS_MAX, -1);

		for (int i = 0; i < n; i++) {
			if (events[i].data.ptr == NULL)
				open_connection(epoll);
			else
				serve(events[i].data.ptr);
		}
	}
}
