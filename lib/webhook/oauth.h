/* SPDX-License-Identifier: MIT */
/*
 * The `oauth` part of a description: how an account at the provider is
 * connected. The Node package uses all of it. Here it is checked, and the
 * return of the browser is compared with its issuer.
 */
#ifndef UM_OAUTH_H
#define UM_OAUTH_H

#include <stdbool.h>

#include <jansson.h>

#include "core/conf.h"

/* Zeroed to begin with: there is no such part. */
struct um_oauth {
	/* NULL if it is not said, or if a variable is in it. */
	char *issuer;
	bool sends_iss; /* authorization_response_iss_parameter_supported */
};

/* Loads the part that stands at `at`. Free it in every case. */
bool um_oauth_load(struct um_oauth *oauth, const struct um_conf_loc *at,
	json_t *node);
void um_oauth_free(struct um_oauth *oauth);

#endif
