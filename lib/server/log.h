/* SPDX-License-Identifier: MIT */
/*
 * The log: one JSON object a line. Only words of ours, ids and numbers go
 * in; nothing that a request brought.
 */
#ifndef UM_LOG_H
#define UM_LOG_H

#include <stdint.h>
#include <time.h>

#include "app/exchange.h"
#include "core/str.h"

struct um_log {
	int fd; /* -1: syslog(3) */
	const char *program;
	struct um_buf lines; /* not written yet */
	time_t second;       /* of the last line */
	char time[32];       /* the same as text; "": there was none yet */
};

/*
 * Standard error, or the configuration's log_file. Plain CGI without one
 * uses syslog: a web server puts a CGI program's standard error into its own
 * log, beside the whole request line. False: the file cannot be opened.
 */
bool um_log_open(struct um_log *log, const char *program,
	const struct um_config *config, bool is_cgi, struct um_error *err);

/* One request; `wall_ms` is Unix time, `took_us` what it took. */
void um_log_request(struct um_log *log, const struct um_exchange *ex,
	int64_t wall_ms, int64_t took_us);

/* Something that an operator should know. */
void um_log_trouble(struct um_log *log, const char *text, int64_t wall_ms);

/* Writes the lines so far, each of them whole. */
void um_log_flush(struct um_log *log);

#endif
