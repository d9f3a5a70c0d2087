/* SPDX-License-Identifier: MIT */
/* The values that the configuration adds to a provider's description. */
#ifndef UM_PROVIDER_ENV_H
#define UM_PROVIDER_ENV_H

#include <stdbool.h>
#include <stddef.h>

/* The provider's mode whose events the site takes. */
enum um_mode {
	UM_MODE_DEFAULT, /* the configuration does not say: live */
	UM_MODE_LIVE,
	UM_MODE_TEST,
};

/*
 * A constant of the site ({"site": "webhook_id"}), which may have several values
 * while one is replaced by the next: the value at `index`, or NULL.
 */
typedef const char *um_constant(const char *name, size_t index, void *arg);

struct um_provider_env {
	/* Secrets, any of which may match: they can be rotated. */
	const char *const *secrets;
	size_t secrets_len;
	/* For the `return` part; where there are none, `secrets`. */
	const char *const *return_secrets;
	size_t return_secrets_len;
	enum um_mode mode;
	/*
	 * Its webhook is not set up: of a description with `oauth`, the rest is
	 * not used.
	 */
	bool has_no_webhook;
	/* It is of another kind than payment: what is paid there ends nothing. */
	bool takes_no_payments;
	/* The accounts that count where events name theirs; perhaps none. */
	const char *const *accounts;
	size_t accounts_len;
	const char *certificate; /* PEM file of pinned certificates, or NULL */
	const char *jwks_file;   /* of the provider's public keys, or NULL */
	um_constant *constant;
	void *arg;
};

#endif
