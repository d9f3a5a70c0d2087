/* SPDX-License-Identifier: MIT */
/*
 * The main() of every program: its arguments, its configuration, and how it
 * runs. This is the only file of the library that sets limits and signals of the
 * process or aborts it, and that keeps state in a static; beside the dry run
 * (check_delivery.c) and the operator's questions (query.c) it is the only one
 * that prints.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <syslog.h>
#include <unistd.h>

#include <openssl/rand.h>

#include "core/clock.h"
#include "core/file.h"
#include "server/cgi.h"
#include "server/loop.h"
#include "server/main.h"
#include "server/metrics.h"
#include "server/query.h"

/* The build says it; the first line of nginx/debian/changelog is its home. */
#ifndef UM_VERSION
#define UM_VERSION "unknown"
#endif

/*
 * Buffers RAND_bytes: a call costs 6,700 instructions, whatever its length,
 * which is 8% of a completion. The callback has no argument, so this is state
 * of the process. Without random bytes no request can be answered safely.
 */
static struct {
	uint8_t bytes[256];
	size_t left; /* at the beginning, not yet used */
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

/* FastCGI programs get a listening socket as standard input. */
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

/* REQUEST_METHOD is in every request; fcgiwrap passes on what it was given. */
bool
um_is_cgi(void)
{
	return getenv("REQUEST_METHOD") != NULL
		|| getenv("GATEWAY_INTERFACE") != NULL;
}

static void
usage(const char *name)
{
	printf("usage: %s [--check | --config KEY | --keys FILE | --socket "
	       "PATH |\n"
	       "       --conninfo | --pages | --help | --version]\n\n"
	       "Serves its route of urlmode: as FastCGI where standard input "
	       "is a\n"
	       "listening socket (spawn-fcgi, systemd), as plain CGI "
	       "otherwise.\n\n"
	       "  --check       read the configuration and the keys, say what "
	       "is wrong\n"
	       "  --config KEY  print one value of the configuration\n"
	       "  --keys FILE   read a keys file, print the ids of its keys\n"
	       "  --socket PATH say whether somebody listens there\n"
	       "  --conninfo    read a connection string, print what it "
	       "says\n"
	       "  --pages       print nginx's own pages in the look of the "
	       "configuration,\n"
	       "                for /etc/nginx/urlmode/pages.conf\n"
	       "  --version     say which version this is\n\n"
	       "URLMODE_CONFIG names the configuration; default %s.\n",
		name, UM_CONFIG_FILE);
}

/*
 * The program cannot start. Like its log, this goes to syslog where standard
 * error is the web server's, or nobody's.
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

/* The arguments of an operator, --check apart. */
static int
answer_arguments(const char *name, const char *path, int argc, char **argv)
{
	struct um_error err = { "" };

	if (um_query_is_meant(argc, argv))
		return um_query_answer(argv, path, &err)
			? 0
			: fail(name, &err, false);
	if (argc == 2 && strcmp(argv[1], "--version") == 0) {
		printf("%s (urlmode) %s\n", name, UM_VERSION);
		return 0;
	}
	usage(name);
	return argc == 2 && strcmp(argv[1], "--help") == 0 ? 0 : 2;
}

/* Whether a start could open the files that the programs write. */
static bool
can_append_files(const struct um_config *config, struct um_error *err)
{
	return (config->log_file == NULL
		       || um_file_can_append(config->log_file, err))
		&& (config->metrics_file == NULL
			|| um_file_can_append(config->metrics_file, err));
}

/* Answers requests until the end, or the one of CGI. */
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
		/* --check refuses it; what ran until now goes on. */
		if (!is_cgi && !um_config_is_private(path, &err))
			um_log_trouble(&log, err.text, um_clock_wall_ms());
		status = is_cgi
			? um_cgi_run(program, context, &log)
			: um_loop_run(program, context, &log, STDIN_FILENO);
		um_log_close(&log);
	}
	um_metrics_close(context->metrics);
	return status;
}

int
um_program_main(const struct um_program *program, int argc, char **argv)
{
	const char *path = getenv("URLMODE_CONFIG");
	/* RLIMIT_CORE 0 does not stop a core handler behind a pipe; 1 does. */
	const struct rlimit no_core = { 1, 1 };
	bool is_cgi = um_is_cgi() && !is_fastcgi();
	/*
	 * A web server may pass a query without `=` as arguments (RFC 3875
	 * section 4.4): they come from the browser, not from the operator.
	 */
	bool check = !is_cgi && argc == 2 && strcmp(argv[1], "--check") == 0;
	struct um_context context = { .random = random_bytes };
	struct um_config *config = NULL;
	struct um_error err = { "" };
	int status;

	if (path == NULL)
		path = UM_CONFIG_FILE;
	setrlimit(RLIMIT_CORE, &no_core);
	if (!is_cgi && argc > 1 && !check)
		return answer_arguments(program->name, path, argc, argv);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGALRM, SIG_DFL);
	if (!um_config_load(&config, path, &err)
		|| !um_keys_load(&context.keys, config->keys_file, &err)
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
	um_config_free(config);
	return status;
}
