/* SPDX-License-Identifier: MIT */
/*
 * The main() of every program: its arguments, its configuration, and how it
 * runs. This is the only file of the library that sets signals of the process,
 * aborts it, or keeps state in a static. Apart from operate/ it is the only one
 * that prints.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <syslog.h>
#include <unistd.h>

#include <openssl/rand.h>

#include "config/api.h"
#include "config/console.h"
#include "config/environment.h"
#include "core/clock.h"
#include "core/coredump.h"
#include "core/file.h"
#include "http/request.h"
#include "server/cgi.h"
#include "server/listener.h"
#include "server/loop.h"
#include "server/main.h"
#include "server/metrics.h"

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

/* Where its configuration is by default. */
static const char *
config_file(const struct um_program *program)
{
	switch (program->login) {
	case UM_LOGIN_SERVER:
		return um_config_api_file();
	case UM_LOGIN_OPERATOR:
		return um_config_console_file();
	case UM_LOGIN_CALLBACK:
		break;
	}
	return UM_CONFIG_FILE;
}

static void
usage(const struct um_program *program)
{
	printf("usage: %s [--check | --help | --version]\n"
	       "       %s --listen PATH | HOST:PORT [--remote]\n\n"
	       "Serves its route of urlmode: as FastCGI where standard input "
	       "is a\n"
	       "listening socket (spawn-fcgi, systemd) or with --listen, as "
	       "plain CGI\n"
	       "otherwise.\n\n"
	       "  --listen   listen on this unix socket or loopback address\n"
	       "  --remote   other hosts may reach the address: anyone who "
	       "connects\n"
	       "             can say who the user is\n"
	       "  --check    read the configuration and the keys, say what is "
	       "wrong\n"
	       "  --version  say which version this is\n\n"
	       "URLMODE_CONFIG names the configuration; default %s.\n",
		program->name, program->name, config_file(program));
}

/* How a program was started. */
struct start {
	const char *name;
	bool is_cgi;
	bool check;
	const char *listen; /* or NULL */
	bool remote;
};

/* One line of the log for each reason. */
static void
log_reasons(const char *name, const struct um_error *err)
{
	struct um_log log = { .fd = STDERR_FILENO, .program = name };
	struct um_str rest = um_str(err->text);

	while (rest.ptr != NULL) {
		struct um_str line = um_str_cut(&rest, "\n");
		char *text = strndup(line.ptr, line.len);

		if (text != NULL)
			um_log_notice(&log, text, um_clock_wall_ms());
		free(text);
	}
	um_log_flush(&log);
	um_log_close(&log);
}

/*
 * The program cannot start. Like its log, this goes to syslog if standard error
 * belongs to the web server, is closed, or is /dev/null.
 */
static int
fail(const struct start *start, const struct um_error *err)
{
	if (start->is_cgi || (is_fastcgi() && !um_log_stderr_is_kept())) {
		openlog("urlmode", LOG_PID, LOG_DAEMON);
		syslog(LOG_ERR, "%s: %s", start->name, err->text);
	} else if (start->listen != NULL) {
		log_reasons(start->name, err);
	} else {
		fprintf(stderr, "urlmode %s: %s\n", start->name, err->text);
	}
	if (start->is_cgi) {
		printf("Status: 500\r\nContent-Type: text/plain\r\n"
		       "Cache-Control: no-store\r\n\r\n"
		       "urlmode is not set up; the system log says why.\n");
		return 0;
	}
	return 1;
}

/*
 * Takes --check or --listen. False: the arguments are others, which are answered
 * here, with the exit status *status.
 */
static bool
take_arguments(struct start *start, const struct um_program *program, int argc,
	char **argv, int *status)
{
	const char *what = argc > 1 ? argv[1] : "";

	start->check = argc == 2 && strcmp(what, "--check") == 0;
	start->remote = argc == 4 && strcmp(argv[3], "--remote") == 0;
	if (strcmp(what, "--listen") == 0 && argc == (start->remote ? 4 : 3))
		start->listen = argv[2];
	if (argc <= 1 || start->check || start->listen != NULL)
		return true;
	*status = 0;
	if (argc == 2 && strcmp(what, "--version") == 0) {
		printf("%s (urlmode) %s\n", start->name, um_version());
		return false;
	}
	usage(program);
	if (argc != 2 || strcmp(what, "--help") != 0)
		*status = 2;
	return false;
}

static void
warn(const char *text, void *arg)
{
	const char *name = arg;

	fprintf(stderr, "urlmode %s: %s\n", name, text);
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

/* What --check looks at beside what a start needs. */
static bool
is_checked(struct um_context *context, const struct um_config *config,
	const char *path, struct um_error *err)
{
	return (config->user_check != UM_USER_OPENID
		       || um_jwks_load(&context->jwks, config->openid.jwks_file,
			       err))
		&& um_config_is_private(path, err)
		&& can_append_files(config, err);
}

/* The callback host shows those of its programs alone. */
static bool
open_metrics(struct um_metrics **out, const struct um_config *config,
	const struct um_program *program, struct um_error *err)
{
	return program->login != UM_LOGIN_CALLBACK
		? um_metrics_open_own(out, config, program->name, err)
		: um_metrics_open(out, config, program->name, err);
}

/* Serves until a signal ends it, or the one request of CGI. */
static int
serve(const struct um_program *program, const struct start *start,
	struct um_context *context, const struct um_config *config,
	const char *path)
{
	struct um_listener listener = { .fd = STDIN_FILENO };
	struct um_error err;
	struct um_log log;
	int status;

	context->config = config;
	if ((start->listen != NULL
		    && !um_listener_open(&listener, start->listen,
			    start->remote, &err))
		|| !open_metrics(&context->metrics, config, program, &err)
		|| !um_log_open(&log, program->name, config, start->is_cgi,
			&err)) {
		status = fail(start, &err);
	} else {
		/* --check refuses it; a service that runs goes on. */
		if (!start->is_cgi && !um_config_is_private(path, &err))
			um_log_notice(&log, err.text, um_clock_wall_ms());
		status = start->is_cgi
			? um_cgi_run(program, context, &log)
			: um_loop_run(program, context, &log, &listener);
		um_log_close(&log);
	}
	um_metrics_close(context->metrics);
	um_listener_close(&listener);
	return status;
}

/* The first process of a container ignores this signal unless it handles it. */
static void
end_now(int number)
{
	kill(getpid(), number);
	_exit(128 + number);
}

static void
end_on_alarm(void)
{
	const struct sigaction action = { .sa_handler = end_now,
		.sa_flags = (int)SA_RESETHAND | SA_NODEFER };

	sigaction(SIGALRM, &action, NULL);
}

/*
 * Plain CGI shares its environment with what a web server and its other programs
 * put there, so that secrets in it are refused.
 */
static bool
may_be_cgi(const struct um_program *program, struct um_error *err)
{
	return program->login == UM_LOGIN_CALLBACK
		|| um_error(err, "the %s does not run as plain CGI",
			program->name);
}

static bool
environment_is_clean(struct um_error *err)
{
	struct um_environment environment;
	bool clean = um_environment_take(&environment)
		&& environment.keys == NULL && environment.database_url == NULL;

	um_environment_free(&environment);
	return clean
		|| um_error(err,
			"%s and %s are not for plain CGI: use keys_file and "
			"database_url",
			UM_ENVIRONMENT_KEYS, UM_ENVIRONMENT_DATABASE);
}

static bool
load_config(struct um_config **out, const struct um_program *program,
	const char *path, struct um_error *err)
{
	switch (program->login) {
	case UM_LOGIN_SERVER:
		return um_config_load_api(out, path, err);
	case UM_LOGIN_OPERATOR:
		return um_config_load_console(out, path, err);
	case UM_LOGIN_CALLBACK:
		break;
	}
	return um_config_load(out, path, err);
}

/* The Makefile says it. */
#ifndef UM_VERSION
#define UM_VERSION "unknown"
#endif

const char *
um_version(void)
{
	return UM_VERSION;
}

int
um_program_main(const struct um_program *program, int argc, char **argv)
{
	const char *path = getenv("URLMODE_CONFIG");
	bool is_request = um_request_in_environment();
	struct start start = { .name = program->name,
		.is_cgi = is_request && !is_fastcgi() };
	struct um_context context = { .random = random_bytes };
	struct um_config *config = NULL;
	struct um_error err = { "" };
	sigset_t signals;
	int status;

	if (path == NULL)
		path = config_file(program);
	um_forbid_core_dumps();
	if (!is_request
		&& !take_arguments(&start, program, argc, argv, &status))
		return status;
	um_loop_signals(&signals);
	if (start.listen != NULL)
		sigprocmask(SIG_BLOCK, &signals, NULL);
	signal(SIGPIPE, SIG_IGN);
	end_on_alarm();
	if ((start.is_cgi
		    && (!may_be_cgi(program, &err)
			    || !environment_is_clean(&err)))
		|| !load_config(&config, program, path, &err)
		|| !um_config_load_keys(&context.keys, config, &err)
		|| (start.check && !is_checked(&context, config, path, &err))) {
		status = fail(&start, &err);
	} else if (start.check) {
		status = um_config_check_certificates(config,
				 um_clock_wall_ms(), warn,
				 (void *)program->name)
			? 0
			: 1;
	} else if (start.is_cgi || is_fastcgi() || start.listen != NULL) {
		status = serve(program, &start, &context, config, path);
	} else {
		usage(program);
		status = 2;
	}
	um_keys_free(context.keys);
	um_jwks_free(context.jwks);
	um_config_free(config);
	return status;
}
