/* SPDX-License-Identifier: MIT */
/* Reads a provider's own list of payments: `urlmode reconcile`. */
#ifndef UM_RECONCILE_H
#define UM_RECONCILE_H

#include <stdbool.h>
#include <stddef.h>

#include "config/config.h"
#include "core/str.h"

#define UM_RECONCILE_FILE_MAX 67108864  /* bytes */
#define UM_RECONCILE_VALUES_MAX 4194304 /* of a JSON file */

/*
 * Prints a line for each payment of the files that is settled and of the site's
 * mode and account: reference, Unix milliseconds, amount in minor units, currency
 * and elicitation, with tabs between them; the last three are empty where it
 * names no elicitation. False, with the file, the row and the reason.
 */
bool um_reconcile_print(const char *provider, char **files, size_t len,
	const struct um_config *config, struct um_error *err);

#endif
