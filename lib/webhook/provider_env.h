/* SPDX-License-Identifier: MIT */
/* What a site's configuration adds to a provider's description. */
#ifndef UM_PROVIDER_ENV_H
#define UM_PROVIDER_ENV_H

#include <stddef.h>

struct um_provider_env {
	/* Secrets, any of which may match: they can be rotated. */
	const char *const *secrets;
	size_t secrets_len;
	/* For the `return` part; where there are none, `secrets`. */
	const char *const *return_secrets;
	size_t return_secrets_len;
	const char *certificate; /* PEM file of pinned certificates, or NULL */
	/* The constant of this name ({"site": "webhook_id"}), or NULL. */
	const char *(*constant)(const char *name, void *arg);
	void *arg;
};

#endif
