/* SPDX-License-Identifier: MIT */
/*
 * The log: one JSON object per line, of this program's own words, ids and
 * numbers. Nothing that a request contains is logged.
 */
#ifndef UM_LOG_H
#define UM_LOG_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "app/exchange.h"
#include "core/str.h"
#include "server/readers.h"

struct um_log {
	int fd;           /* -1: syslog(3) */
	const char *path; /* of its file, or NULL; the configuration's */
	struct um_readers readers;
	const char *program;
	struct um_buf lines; /* not yet written */
	time_t second;       /* of the last line */
	char time[32];       /* its time as text; "": there was no line yet */
};

/* Whether standard error is open, and not /dev/null, as under spawn-fcgi. */
bool um_log_stderr_is_kept(void);

/*
 * Opens the configuration's log_file, which outlives the log, or takes standard
 * error where it names none. Syslog replaces a standard error that nobody keeps,
 * and that of plain CGI, which a web server would log together with the request
 * line. False: the file cannot be opened.
 *
 * FastCGI programs keep the file open: um_log_reopen() follows one that was
 * renamed, um_log_flush() waits while one is copied.
 */
bool um_log_open(struct um_log *log, const char *program,
	const struct um_config *config, bool is_cgi, struct um_error *err);

/*
 * One request: `wall_ms` is Unix time in milliseconds, `took_us` the duration
 * in microseconds.
 */
void um_log_request(struct um_log *log, const struct um_exchange *ex,
	int64_t wall_ms, int64_t took_us);

/* Something that an operator should know; what is not ASCII becomes `?`. */
void um_log_trouble(struct um_log *log, const char *text, int64_t wall_ms);

/*
 * Writes the lines so far; they are lost if they cannot be written. False: they
 * must wait, since somebody copies the file (server/readers.h). `now` is of a
 * clock that never jumps; INT64_MAX waits for nobody.
 */
bool um_log_flush(struct um_log *log, int64_t now);

/*
 * Opens the file that has the log's name now, if it is a file; the lines so far
 * go to the one that had it. False: it cannot be opened, and the log stays where
 * it was.
 */
bool um_log_reopen(struct um_log *log, struct um_error *err);

/* Closes the file and frees the lines; what was not flushed is lost. */
void um_log_close(struct um_log *log);

#endif
