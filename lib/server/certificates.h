/* SPDX-License-Identifier: MIT */
/* The certificates and public keys that verify the signatures of providers. */
#ifndef UM_CERTIFICATES_H
#define UM_CERTIFICATES_H

#include <stdint.h>

#include "config/config.h"

#define UM_CERTIFICATES_MS 86400000 /* between two looks: a day */
#define UM_SIGNING_KEYS_MS 1000     /* between two looks at the files of keys */

/*
 * Says which certificates have expired or expire soon, unless that was said less
 * than UM_CERTIFICATES_MS before: `*at` is when, 0 to begin with; `now` is
 * monotonic. Only the program that verifies webhooks says it.
 */
void um_certificates_look(const struct um_config *config, const char *program,
	int64_t *at, int64_t now, void (*say)(const char *text, void *arg),
	void *arg);

/*
 * Before the plan of a request: reads the providers' files of public keys again
 * that have changed, so that a key that was added is found and one that was
 * removed is not trusted any more. Looks at most once in UM_SIGNING_KEYS_MS:
 * `*at` is when it did, 0 to begin with; `now` is monotonic. A file that is
 * refused is said once, and its keys stay as they were.
 */
void um_signing_keys_look(const struct um_config *config, int64_t *at,
	int64_t now, void (*say)(const char *text, void *arg), void *arg);

#endif
