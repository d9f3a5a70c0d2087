/* SPDX-License-Identifier: MIT */
/* The certificates and public keys that verify the signatures of providers. */
#ifndef UM_CERTIFICATES_H
#define UM_CERTIFICATES_H

#include <stdint.h>

#include "app/exchange.h"
#include "config/config.h"

#define UM_CERTIFICATES_MS 86400000 /* between two looks: a day */

/*
 * Says which certificates have expired or expire soon, unless that was said less
 * than UM_CERTIFICATES_MS before: `*at` is when, 0 to begin with; `now` is
 * monotonic. Only the program that verifies webhooks says it.
 */
void um_certificates_look(const struct um_config *config, const char *program,
	int64_t *at, int64_t now, void (*say)(const char *text, void *arg),
	void *arg);

/*
 * After a response: where a delivery was refused because its key is missing,
 * reads the provider's file of keys again, so that the repeated delivery finds
 * it. False: the file is refused.
 */
bool um_signing_keys_look(const struct um_exchange *ex, struct um_error *err);

#endif
