/* SPDX-License-Identifier: MIT */
/*
 * The log: one JSON object per line, with this program's own words, ids and
 * numbers. No text of a request is logged.
 */
#ifndef UM_LOG_H
#define UM_LOG_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "app/exchange.h"
#include "core/str.h"

struct um_log {
	int fd;           /* -1: syslog(3) */
	const char *path; /* of its file, or NULL; the configuration's */
	const char *program;
	struct um_buf lines; /* not yet written */
	time_t second;       /* of the last line */
	char time[32];       /* its time as text; "": there was no line yet */
};

/*
 * Whether standard error is open and not /dev/null, as it is under spawn-fcgi.
 */
bool um_log_stderr_is_kept(void);

/*
 * Opens the configuration's log_file, whose name outlives the log, or uses
 * standard error if it has none. Syslog replaces a standard error that is
 * closed or
 * /dev/null, and that of plain CGI, which a web server would log together with
 * the request line. False: the file cannot be opened.
 */
bool um_log_open(struct um_log *log, const char *program,
	const struct um_config *config, bool is_cgi, struct um_error *err);

/*
 * One request: `wall_ms` is Unix time in milliseconds, `took_us` the duration
 * in microseconds.
 */
void um_log_request(struct um_log *log, const struct um_exchange *ex,
	int64_t wall_ms, int64_t took_us);

/* A notice for the operator; characters outside ASCII become `?`. */
void um_log_notice(struct um_log *log, const char *text, int64_t wall_ms);

/* Writes the lines so far; they are lost if they cannot be written. */
void um_log_flush(struct um_log *log);

/*
 * Opens the log's file again, after it was renamed; the lines so far go to the
 * renamed file. False: it cannot be opened, and the log stays as it was. Does
 * nothing for another log.
 */
bool um_log_reopen(struct um_log *log, struct um_error *err);

/* Closes the file and frees the lines, which are lost unless flushed. */
void um_log_close(struct um_log *log);

#endif
