/* SPDX-License-Identifier: MIT */
/* The entry `openid`: the provider at which users sign in. */
#ifndef UM_OPENID_H
#define UM_OPENID_H

#include <stdbool.h>
#include <stdint.h>

#include "core/conf.h"
#include "jose/id_token.h"

#define UM_OPENID_TEXT_MAX 512 /* bytes of the issuer and of the client's id */

/*
 * What the name of the file has after that of jwks_file in which `urlmode jwks
 * refresh` keeps the end_session_endpoint of the discovery document.
 */
#define UM_OPENID_SIGN_OUT_SUFFIX ".sign-out"

/* NULL where an optional text is missing. */
struct um_openid {
	char *issuer; /* as `iss` has it */
	char *client_id;
	char *authorization_endpoint;
	char *end_session_endpoint; /* or NULL */
	char *jwks_file;
	char *refresh_file; /* or NULL */
	char *scope;
	char claim[UM_ID_TOKEN_CLAIM_MAX + 1];
	char *prompt;     /* or NULL */
	char *login_hint; /* or NULL */
	int64_t max_age;  /* seconds; 0: not asked for */
	int64_t session;  /* seconds */
};

/*
 * Reads the entry; every mistake is a line of the error. An issuer of Entra is
 * refused where it is not that of one tenant, and with it the claim `email`,
 * which the administrators of a tenant can set to anything. The caller frees
 * *openid with um_openid_free(), also after a failure.
 */
bool um_openid_load(struct um_openid *openid, const struct um_conf_loc *at,
	json_t *node);

void um_openid_free(struct um_openid *openid);

#endif
