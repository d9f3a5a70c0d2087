/* SPDX-License-Identifier: MIT */
#include "server/log.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <syslog.h>
#include <time.h>
#include <unistd.h>

bool
um_log_open(struct um_log *log, const char *program,
	const struct um_config *config, bool is_cgi, struct um_error *err)
{
	*log = (struct um_log){ .fd = is_cgi ? -1 : STDERR_FILENO,
		.program = program };
	if (config->log_file != NULL) {
		log->fd = open(config->log_file,
			O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0640);
		if (log->fd < 0)
			return um_error(err, "%s: %s", config->log_file,
				strerror(errno));
	} else if (is_cgi) {
		openlog("urlmode", LOG_PID, LOG_DAEMON);
	}
	return true;
}

/* The last three digits of a number. */
static void
three_digits(char out[static 4], int64_t n)
{
	out[0] = (char)('0' + n / 100 % 10);
	out[1] = (char)('0' + n / 10 % 10);
	out[2] = (char)('0' + n % 10);
	out[3] = '\0';
}

static void
line_begin(struct um_log *log, int64_t wall_ms)
{
	time_t second = (time_t)(wall_ms / 1000);
	char millis[4];

	three_digits(millis, wall_ms);
	if (log->time[0] == '\0' || second != log->second) {
		struct tm tm;

		gmtime_r(&second, &tm);
		strftime(log->time, sizeof(log->time), "%Y-%m-%dT%H:%M:%S",
			&tm);
		log->second = second;
	}
	um_buf_cat(&log->lines, "{\"time\":\"", log->time, ".", millis,
		"Z\",\"program\":\"", log->program, "\"");
}

void
um_log_request(struct um_log *log, const struct um_exchange *ex,
	int64_t wall_ms, int64_t took_us)
{
	struct um_buf *line = &log->lines;
	char uuid[UM_UUID_TEXT_LEN + 1] = "";
	char micros[4];

	if (ex->has_token)
		um_uuid_format(uuid, ex->token.id);
	line_begin(log, wall_ms);
	um_buf_cat(line, ",\"request\":\"", ex->request.id,
		"\",\"provider\":\"",
		ex->provider != NULL ? ex->provider->name : "",
		"\",\"elicitation\":\"", uuid, "\",\"status\":");
	um_buf_int(line, ex->response.status);
	um_buf_cat(line, ",\"outcome\":\"",
		ex->outcome != NULL ? ex->outcome : "", "\",\"reason\":\"",
		ex->reason != NULL ? ex->reason : "", "\",\"ms\":");
	um_buf_int(line, took_us / 1000);
	three_digits(micros, took_us);
	um_buf_cat(line, ".", micros, "}\n");
}

void
um_log_trouble(struct um_log *log, const char *text, int64_t wall_ms)
{
	line_begin(log, wall_ms);
	um_buf_puts(&log->lines, ",\"trouble\":\"");
	for (; *text != '\0'; text++) {
		unsigned char c = (unsigned char)*text;

		if (c == '"' || c == '\\')
			um_buf_printf(&log->lines, "\\%c", c);
		else
			um_buf_printf(&log->lines, "%c",
				c < 0x20 || c > 0x7e ? '?' : c);
	}
	um_buf_puts(&log->lines, "\"}\n");
}

void
um_log_flush(struct um_log *log)
{
	struct um_str rest = um_buf_str(&log->lines);

	if (log->fd < 0 && rest.len != 0)
		syslog(LOG_INFO, "%.*s", (int)rest.len, rest.ptr);
	while (log->fd >= 0 && rest.len != 0) {
		ssize_t n = write(log->fd, rest.ptr, rest.len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break; /* a full disk must not stop the requests */
		rest.ptr += n;
		rest.len -= (size_t)n;
	}
	log->lines.len = 0;
	log->lines.failed = false;
}
