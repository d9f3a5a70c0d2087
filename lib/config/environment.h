/* SPDX-License-Identifier: MIT */
/*
 * Secrets that a container gets in its environment, in place of files. They are
 * read with getenv() alone: no parameter of a request gets here.
 */
#ifndef UM_ENVIRONMENT_H
#define UM_ENVIRONMENT_H

#include <stdbool.h>

#define UM_ENVIRONMENT_KEYS "URLMODE_KEYS"
#define UM_ENVIRONMENT_DATABASE "URLMODE_CGI_DATABASE_URL"

struct um_environment {
	char *keys;         /* of URLMODE_KEYS, or NULL */
	char *database_url; /* of URLMODE_CGI_DATABASE_URL, or NULL */
};

/*
 * Takes both out of the environment: their values are overwritten where
 * /proc/PID/environ shows them, and the variables are unset. The caller frees
 * *out with um_environment_free(). False: memory ran out.
 */
bool um_environment_take(struct um_environment *out);

/* Wipes and frees the values. */
void um_environment_free(struct um_environment *environment);

#endif
