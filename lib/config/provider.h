/* SPDX-License-Identifier: MIT */
/* A provider: its entry in the configuration, and its description. */
#ifndef UM_PROVIDER_H
#define UM_PROVIDER_H

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

#include "core/conf.h"
#include "crypto/token.h"
#include "webhook/spec.h"

enum um_kind {
	UM_KIND_OAUTH,
	UM_KIND_PAYMENT,
	UM_KIND_SIGNATURE,
	UM_KIND_INPUT,
	UM_KIND_APPROVAL,
	UM_KINDS /* how many */
};

/* Their words in the configuration and in the database, then NULL. */
extern const char *const um_kind_words[UM_KINDS + 1];

/* Of `urlmode check` alone: no entry of a configuration has this name. */
#define UM_PROVIDER_OF_CHECK "urlmode-check"

struct um_provider {
	char *name; /* ^[a-z0-9][a-z0-9_-]{0,63}$ */
	enum um_kind kind;
	char *display_name; /* for people; the name by default */
	char *issuer;       /* RFC 9207, or NULL */
	bool sends_iss;     /* authorization_response_iss_parameter_supported */
	/* What its responses say in its own words (description/authorization.h). */
	json_t *response;
	/*
	 * For how long after its expiry an opened payment or signature waits
	 * for the provider, in milliseconds; 0 for an account.
	 */
	int64_t grace_ms;
	/* How its webhook is read; NULL where there is none (oauth only). */
	struct um_spec *spec;
	char *description; /* the file of its description, or NULL */
	/*
	 * Approval: user_check names users as MCP servers do in `subject`, so
	 * that somebody else than the subject is another person.
	 */
	bool four_eyes;
	/*
	 * The tenants that may use it, separated by commas; an empty one is the
	 * rows without a tenant. NULL: all. A payment provider has one at most.
	 */
	char *tenants;
};

/*
 * The provider whose elicitations `urlmode check` makes (kind approval): a
 * constant, which every configuration has without an entry.
 */
const struct um_provider *um_provider_of_check(void);

/* Whether its page is ours: of kind input or approval. */
bool um_provider_has_form(const struct um_provider *provider);

/*
 * Loads the provider `name` from its entry in the configuration, which stands
 * at `at`, and loads its description: NAME.json in `providers_dir`, or a file
 * of the site's own. Its webhook's address is below `base_url`. The secrets are
 * wiped in `entry` in every case. Free the provider in every case.
 */
bool um_provider_load(struct um_provider *provider,
	const struct um_conf_loc *at, const char *name, json_t *entry,
	const char *base_url, const char *providers_dir);
void um_provider_free(struct um_provider *provider);

#endif
