/* SPDX-License-Identifier: MIT */
/* Says how a saved request would be read, and writes nothing. */
#ifndef UM_CHECK_DELIVERY_H
#define UM_CHECK_DELIVERY_H

#include <stddef.h>

#include "core/str.h"

/*
 * Reads the arguments that `urlmode help delivery` lists, and prints to standard
 * output. `config` is the path of the configuration. The exit status: 0 if the
 * delivery is good, 1 if not, or if something cannot be read, EX_USAGE for
 * arguments that make no sense. *err says why, where it is not empty.
 */
int um_check_delivery(char **args, size_t len, const char *config,
	struct um_error *err);

#endif
