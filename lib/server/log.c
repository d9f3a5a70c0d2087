/* SPDX-License-Identifier: MIT */
#include "server/log.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <syslog.h>
#include <time.h>
#include <unistd.h>

#include "core/file.h"
#include "core/json_put.h"

static int
open_file(const char *path, struct um_error *err)
{
	int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0640);

	if (fd < 0)
		um_error(err, "%s: %s", path, strerror(errno));
	return fd;
}

bool
um_log_stderr_is_kept(void)
{
	struct stat err;
	struct stat null;

	return fstat(STDERR_FILENO, &err) == 0
		&& (stat("/dev/null", &null) != 0 || !S_ISCHR(err.st_mode)
			|| err.st_rdev != null.st_rdev);
}

bool
um_log_open(struct um_log *log, const char *program,
	const struct um_config *config, bool is_cgi, struct um_error *err)
{
	bool to_syslog = is_cgi || !um_log_stderr_is_kept();

	*log = (struct um_log){ .fd = to_syslog ? -1 : STDERR_FILENO,
		.path = config->log_file,
		.program = program };
	if (log->path != NULL) {
		log->fd = open_file(log->path, err);
		if (log->fd < 0)
			return false;
	} else if (to_syslog) {
		openlog("urlmode", LOG_PID, LOG_DAEMON);
	}
	return true;
}

/* Three decimal digits: the thousandths of a number. */
static void
put_digits(char out[static 3], int64_t n)
{
	out[0] = (char)('0' + n / 100 % 10);
	out[1] = (char)('0' + n / 10 % 10);
	out[2] = (char)('0' + n % 10);
}

static void
begin_line(struct um_log *log, int64_t wall_ms)
{
	time_t second = (time_t)(wall_ms / 1000);

	if (log->time[0] == '\0' || second != log->second) {
		struct tm tm;

		gmtime_r(&second, &tm);
		strftime(log->time, sizeof(log->time), "%Y-%m-%dT%H:%M:%S.000Z",
			&tm);
		log->second = second;
	}
	put_digits(log->time + sizeof("2026-11-20T06:00:00.") - 1, wall_ms);
	um_json_put_begin(&log->lines);
	um_json_put_member(&log->lines, "time", um_str(log->time));
	um_json_put_member(&log->lines, "program", um_str(log->program));
}

static void
end_line(struct um_log *log)
{
	um_json_put_end(&log->lines);
	um_buf_puts(&log->lines, "\n");
}

void
um_log_request(struct um_log *log, const struct um_exchange *ex,
	int64_t wall_ms, int64_t took_us)
{
	struct um_buf *line = &log->lines;
	const char *provider = ex->provider != NULL ? ex->provider->name : NULL;
	char uuid[UM_UUID_TEXT_LEN + 1] = "";
	char thousandths[] = ".000";

	if (ex->has_token)
		um_uuid_format(uuid, ex->token.id);
	begin_line(log, wall_ms);
	um_json_put_member(line, "request", um_str(ex->request.id));
	if (ex->request.traceparent[0] != '\0')
		um_json_put_member(line, "traceparent",
			um_str(ex->request.traceparent));
	um_json_put_member(line, "provider", um_str(provider));
	um_json_put_member(line, "elicitation", um_str(uuid));
	um_json_put_key(line, um_str("status"));
	um_json_put_int(line, ex->response.status);
	um_json_put_member(line, "outcome", um_str(ex->outcome));
	um_json_put_member(line, "reason", um_str(ex->reason));
	if (ex->fault.text[0] != '\0')
		um_json_put_member(line, "detail", um_str(ex->fault.text));
	um_json_put_key(line, um_str("ms"));
	um_json_put_int(line, took_us / 1000);
	put_digits(thousandths + 1, took_us);
	um_buf_puts(line, thousandths);
	end_line(log);
}

void
um_log_notice(struct um_log *log, const char *text, int64_t wall_ms)
{
	struct um_buf ascii = { 0 };

	um_buf_puts(&ascii, text);
	for (size_t i = 0; i < ascii.len; i++)
		if (ascii.ptr[i] < ' ' || ascii.ptr[i] > '~')
			ascii.ptr[i] = '?';
	begin_line(log, wall_ms);
	um_json_put_member(&log->lines, "notice", um_buf_str(&ascii));
	end_line(log);
	um_buf_free(&ascii);
}

void
um_log_flush(struct um_log *log)
{
	const struct um_buf *lines = &log->lines;

	/* A full disk must not stop requests. */
	if (log->fd >= 0)
		um_file_write(log->fd, um_buf_str(lines));
	else if (lines->len != 0)
		syslog(LOG_INFO, "%.*s", (int)lines->len, lines->ptr);
	log->lines.len = 0;
	log->lines.failed = false;
}

bool
um_log_reopen(struct um_log *log, struct um_error *err)
{
	int fd;

	if (log->path == NULL)
		return true;
	fd = open_file(log->path, err);
	if (fd < 0)
		return false;
	um_log_flush(log);
	close(log->fd);
	log->fd = fd;
	return true;
}

void
um_log_close(struct um_log *log)
{
	if (log->path != NULL && log->fd >= 0)
		close(log->fd);
	um_buf_free(&log->lines);
}
