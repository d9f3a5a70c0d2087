/* SPDX-License-Identifier: MIT */
/*
 * Questions of the operator's command, whose shell reads neither JSON nor
 * connection strings itself. Answers go to standard output, and may be secrets.
 */
#ifndef UM_QUERY_H
#define UM_QUERY_H

#include <stdbool.h>

#include "core/str.h"

/* Whether these are the arguments of a question. */
bool um_query_is_meant(int argc, char **argv);

/*
 * Answers one of
 *
 *   --config KEY   the value of this key of the configuration `path`, and
 *                  nothing for one that is not set. Of `providers` one line
 *                  each: name, kind, grace in seconds; of `pages` the name
 *   --keys FILE    the ids of the keys in this keys file, one a line, the one
 *                  that seals first
 *   --socket PATH  nothing; true: somebody listens there
 *   --conninfo     the connection string on standard input as a section's
 *                  lines of libpq's service file, `key=value`
 *   --pages        nginx's own pages in the look of the configuration `path`
 *
 * False, with the reason and never a value, when what it reads is refused.
 */
bool um_query_answer(char **argv, const char *path, struct um_error *err);

#endif
