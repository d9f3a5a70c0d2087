/* SPDX-License-Identifier: MIT */
/*
 * The main() of every program: its arguments, its configuration, and how it
 * runs. This is the only file of the library that sets limits and signals of
 * the process, aborts it, or keeps state in a static. Apart from operate/ it is
 * the only one that prints.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <syslog.h>
#include <unistd.h>

#include <openssl/rand.h>

#include "core/clock.h"
#include "core/file.h"
#include "http/request.h"
#include "server/cgi.h"
#include "server/loop.h"
#include "server/main.h"
#include "server/metrics.h"
#include "server/version.h"

/*
 * Buffers RAND_bytes: a call costs 6,700 instructions, whatever its length,
 * which is 8% of a completion. The callback has no argument, so this is state
 * of the process. Without random bytes no request can be answered safely.
 */
static struct {
	uint8_t bytes[256];
	size_t left; /* the first ones, which are not yet used */
} buffered;

static void
random_bytes(void *out, size_t len)
{
	if (len > sizeof(buffered.bytes))
		abort();
	if (len > buffered.left) {
		if (RAND_bytes(buffered.bytes, sizeof(buffered.bytes)) != 1)
			abort();
		buffered.left = sizeof(buffered.bytes);
	}
	buffered.left -= len;
	memcpy(out, buffered.bytes + buffered.left, len);
	explicit_bzero(buffered.bytes + buffered.left, len);
}

/* A FastCGI program has a listening socket as standard input. */
static bool
is_fastcgi(void)
{
	int listening = 0;
	socklen_t len = sizeof(listening);

	return getsockopt(STDIN_FILENO, SOL_SOCKET, SO_ACCEPTCONN, &listening,
		       &len)
		== 0
		&& listening != 0;
}

static void
usage(const char *name)
{
	printf("usage: %s [--check | --help | --version]\n\n"
	       "Serves its route of urlmode: as FastCGI where standard input "
	       "is a\n"
	       "listening socket (spawn-fcgi, systemd), as plain CGI "
	       "otherwise.\n\n"
	       "  --check    read the configuration and the keys, say what is "
	       "wrong\n"
	       "  --version  say which version this is\n\n"
	       "URLMODE_CONFIG names the configuration; default %s.\n",
		name, UM_CONFIG_FILE);
}

/*
 * The program cannot start. Like its log, this goes to syslog if standard error
 * belongs to the web server, is closed, or is /dev/null.
 */
static int
fail(const char *name, const struct um_error *err, bool is_cgi)
{
	if (is_cgi || (is_fastcgi() && !um_log_stderr_is_kept())) {
		openlog("urlmode", LOG_PID, LOG_DAEMON);
		syslog(LOG_ERR, "%s: %s", name, err->text);
	} else {
		fprintf(stderr, "urlmode %s: %s\n", name, err->text);
	}
	if (is_cgi) {
		printf("Status: 500\r\nContent-Type: text/plain\r\n"
		       "Cache-Control: no-store\r\n\r\n"
		       "urlmode is not set up; the system log says why.\n");
		return 0;
	}
	return 1;
}

/* The arguments of an operator, except for --check. */
static int
answer_arguments(const char *name, int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "--version") == 0) {
		printf("%s (urlmode) %s\n", name, um_version());
		return 0;
	}
	usage(name);
	return argc == 2 && strcmp(argv[1], "--help") == 0 ? 0 : 2;
}

/* Whether a program that starts could open the files that it writes. */
static bool
can_append_files(const struct um_config *config, struct um_error *err)
{
	return (config->log_file == NULL
		       || um_file_can_append(config->log_file, err))
		&& (config->metrics_file == NULL
			|| um_file_can_append(config->metrics_file, err));
}

/* Serves until a signal ends it, or the one request of CGI. */
static int
serve(const struct um_program *program, struct um_context *context,
	const struct um_config *config, const char *path, bool is_cgi)
{
	struct um_error err;
	struct um_log log;
	int status;

	context->config = config;
	if (!um_metrics_open(&context->metrics, config, program->name, &err)
		|| !um_log_open(&log, program->name, config, is_cgi, &err)) {
		status = fail(program->name, &err, is_cgi);
	} else {
		/* --check refuses it; a service that runs goes on. */
		if (!is_cgi && !um_config_is_private(path, &err))
			um_log_notice(&log, err.text, um_clock_wall_ms());
		status = is_cgi
			? um_cgi_run(program, context, &log)
			: um_loop_run(program, context, &log, STDIN_FILENO);
		um_log_close(&log);
	}
	um_metrics_close(context->metrics);
	return status;
}

/*
 * A core handler that the kernel pipes cores to ignores a limit of 0, but not of
 * 1 (core(5)). Where the hard limit is 0, as in many containers, it cannot be
 * raised to 1. The process is made undumpable there.
 */
static void
forbid_core_dumps(void)
{
	const struct rlimit limit = { 1, 1 };

	if (setrlimit(RLIMIT_CORE, &limit) != 0)
		prctl(PR_SET_DUMPABLE, 0);
}

int
um_program_main(const struct um_program *program, int argc, char **argv)
{
	const char *path = getenv("URLMODE_CONFIG");
	bool is_request = um_request_in_environment();
	bool is_cgi = is_request && !is_fastcgi();
	bool check = !is_request && argc == 2
		&& strcmp(argv[1], "--check") == 0;
	struct um_context context = { .random = random_bytes };
	struct um_config *config = NULL;
	struct um_error err = { "" };
	int status;

	if (path == NULL)
		path = UM_CONFIG_FILE;
	forbid_core_dumps();
	if (!is_request && argc > 1 && !check)
		return answer_arguments(program->name, argc, argv);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGALRM, SIG_DFL);
	if (!um_config_load(&config, path, &err)
		|| !um_keys_load(&context.keys, config->keys_file, &err)
		|| (check && config->user_check == UM_USER_OPENID
			&& !um_jwks_load(&context.jwks,
				config->openid.jwks_file, &err))
		|| (check
			&& (!um_config_is_private(path, &err)
				|| !can_append_files(config, &err)))) {
		status = fail(program->name, &err, is_cgi);
	} else if (check) {
		status = 0;
	} else if (is_cgi || is_fastcgi()) {
		status = serve(program, &context, config, path, is_cgi);
	} else {
		usage(program->name);
		status = 2;
	}
	um_keys_free(context.keys);
	um_jwks_free(context.jwks);
	um_config_free(config);
	return status;
}
