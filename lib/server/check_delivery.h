/* SPDX-License-Identifier: MIT */
/* The dry run: how a saved request would be read. It writes nothing. */
#ifndef UM_CHECK_DELIVERY_H
#define UM_CHECK_DELIVERY_H

#include <stdbool.h>

/* Whether these are the arguments of a dry run: --delivery is among them. */
bool um_check_delivery_is_meant(int argc, char **argv);

/*
 * Reads the arguments and prints to standard output. The exit status: 0 if the
 * delivery is good, 1 if not, or if something cannot be read, 2 for arguments
 * that make no sense.
 */
int um_check_delivery(int argc, char **argv);

#endif
