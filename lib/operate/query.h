/* SPDX-License-Identifier: MIT */
/*
 * Prints values for the operator's command, because a shell cannot read JSON and
 * connection strings. The answers go to standard output, and may be secrets.
 * Each function returns false if it refuses a file, with the reason and without
 * any value.
 */
#ifndef UM_QUERY_H
#define UM_QUERY_H

#include <stdbool.h>

#include <libpq-fe.h>

#include "config/config.h"
#include "core/str.h"

/*
 * The value of a key of the configuration, and nothing for one that is not set.
 * Of `providers` one line each: name, kind, grace in seconds; of `pages` the
 * name; of `openid` one line for each key that the command needs: name, value; of
 * `programs` the names of those that the providers need, one a line. Each line of
 * several keys begins with its key and a blank.
 */
bool um_query_config(char **keys, size_t len, const struct um_config *config,
	struct um_error *err);

/*
 * Of each provider whose description was not compared with the documentation in
 * the year before this day (YYYY-MM-DD; "" for today), a line: its name, the day
 * of the comparison, and the file. A description may name no day.
 */
bool um_query_compared(const char *day, const struct um_config *config,
	struct um_error *err);

/* The ids of the keys in a keys file, one a line, the one that seals first. */
bool um_query_keys(const char *path, struct um_error *err);

/*
 * The configuration of the api, without the address of its database: a line for
 * each key that it has, `key value`.
 */
bool um_query_api_config(const char *path, struct um_error *err);

/* Prints nothing; true: the api accepts this file of keys, or it is not there. */
bool um_query_api_keys(const char *path, struct um_error *err);

/* Connects to a unix socket: a descriptor, or -1. */
int um_query_connect(const char *path, struct um_error *err);

/* Prints nothing; true: somebody listens on this socket. */
bool um_query_socket(const char *path, struct um_error *err);

/*
 * The connection string on standard input as a section's lines of libpq's
 * service file, `key=value`.
 */
bool um_query_conninfo(struct um_error *err);

/*
 * The state of a link to /connect with a provider of the configuration, of an
 * elicitation that does not exist.
 */
bool um_query_state(const char *provider, const struct um_config *config,
	struct um_error *err);

/* A connection to the database as the programs have it, which the caller ends. */
PGconn *um_query_connect_database(const struct um_config *config);

/*
 * Connects to the database as the programs do, runs the statement on standard
 * input, and prints its rows, a line each, with a blank between the fields.
 */
bool um_query_sql(const struct um_config *config, struct um_error *err);

/*
 * The numeric address of the database's host, as the programs connect to it;
 * nothing: it is a unix socket.
 */
bool um_query_database_address(const struct um_config *config,
	struct um_error *err);

/* Prints nothing; true: one of these prefixes (ADDRESS/BITS) has the address. */
bool um_query_address(const char *address, char **prefixes, size_t len,
	struct um_error *err);

/* nginx's own pages in the look of the configuration. */
bool um_query_pages(const struct um_config *config, struct um_error *err);

#endif
