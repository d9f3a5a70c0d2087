/* SPDX-License-Identifier: MIT */
/*
 * The main() of every program: its arguments, its configuration, and how it
 * runs. This is the only file of the library that sets limits and signals of the
 * process or aborts it, and that keeps state in a static; beside the dry run
 * (check_delivery.c) it is the only one that prints.
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

#include "http/nginx_pages.h"
#include "server/cgi.h"
#include "server/loop.h"
#include "server/main.h"
#include "server/metrics.h"

#define DEFAULT_CONFIG "/etc/urlmode/config.json"

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

static void
usage(const char *name)
{
	printf("usage: %s [--check | --pages | --help]\n\n"
	       "Serves its route of urlmode: as FastCGI where standard input "
	       "is a\n"
	       "listening socket (spawn-fcgi, systemd), as plain CGI "
	       "otherwise.\n\n"
	       "  --check  read the configuration and the keys, say what is "
	       "wrong\n"
	       "  --pages  print nginx's own pages in the look of the "
	       "configuration,\n"
	       "           for /etc/nginx/urlmode/pages.conf\n\n"
	       "URLMODE_CONFIG names the configuration; default %s.\n",
		name, DEFAULT_CONFIG);
}

/*
 * The program cannot start. As CGI it says so in syslog: the web server would
 * log standard error together with the request line.
 */
static int
fail(const char *name, const struct um_error *err, bool is_cgi)
{
	if (is_cgi) {
		openlog("urlmode", LOG_PID, LOG_DAEMON);
		syslog(LOG_ERR, "%s: %s", name, err->text);
		printf("Status: 500\r\nContent-Type: text/plain\r\n"
		       "Cache-Control: no-store\r\n\r\n"
		       "urlmode is not set up; the system log says why.\n");
		return 0;
	}
	fprintf(stderr, "urlmode %s: %s\n", name, err->text);
	return 1;
}

static int
print_pages(const struct um_config *config)
{
	struct um_buf text = { 0 };
	bool ok;

	um_nginx_pages_put(&text, &config->brand);
	ok = !text.failed && fwrite(text.ptr, 1, text.len, stdout) == text.len
		&& fflush(stdout) == 0;
	um_buf_free(&text);
	return ok ? 0 : 1;
}

int
um_program_main(const struct um_program *program, int argc, char **argv)
{
	const char *path = getenv("URLMODE_CONFIG");
	/* RLIMIT_CORE 0 does not stop a core handler behind a pipe; 1 does. */
	const struct rlimit no_core = { 1, 1 };
	bool is_cgi = getenv("GATEWAY_INTERFACE") != NULL && !is_fastcgi();
	/*
	 * A web server may pass a query without `=` as arguments (RFC 3875
	 * section 4.4): they come from the browser, not from the operator.
	 */
	const char *option = !is_cgi && argc == 2 ? argv[1] : "";
	bool check = strcmp(option, "--check") == 0;
	bool pages = strcmp(option, "--pages") == 0;
	struct um_context context = { .random = random_bytes };
	struct um_config *config = NULL;
	struct um_error err = { "" };
	struct um_log log;
	int status;

	if (!is_cgi && argc > 1 && !check && !pages) {
		usage(program->name);
		return strcmp(option, "--help") == 0 ? 0 : 2;
	}
	setrlimit(RLIMIT_CORE, &no_core);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGALRM, SIG_DFL);
	if (!um_config_load(&config, path != NULL ? path : DEFAULT_CONFIG, &err)
		|| !um_keys_load(&context.keys, config->keys_file, &err)
		|| !um_metrics_open(&context.metrics, config->metrics_file,
			program->name, &err)
		|| !um_log_open(&log, program->name, config, is_cgi, &err)) {
		status = fail(program->name, &err, is_cgi);
		goto out;
	}
	context.config = config;
	if (check) {
		status = 0;
	} else if (pages) {
		status = print_pages(config);
	} else if (is_cgi) {
		status = um_cgi_run(program, &context, &log);
	} else if (is_fastcgi()) {
		status = um_loop_run(program, &context, &log, STDIN_FILENO);
	} else {
		usage(program->name);
		status = 2;
	}
	um_buf_free(&log.lines);
out:
	um_metrics_close(context.metrics);
	um_keys_free(context.keys);
	um_config_free(config);
	return status;
}
