/* SPDX-License-Identifier: MIT */
/* The configuration: one JSON file, read at start. */
#ifndef UM_CONFIG_H
#define UM_CONFIG_H

#include <stdbool.h>
#include <stddef.h>

#include "core/str.h"
#include "crypto/token.h"
#include "webhook/spec.h"

enum um_kind { UM_KIND_OAUTH, UM_KIND_PAYMENT, UM_KIND_SIGNATURE, UM_KIND_ANY };

struct um_provider {
	char *name; /* ^[a-z0-9][a-z0-9_-]{0,63}$ */
	enum um_kind kind;
	char *display_name; /* for people; the name where none is given */
	char *issuer;       /* RFC 9207, or NULL */
	bool sends_iss;     /* authorization_response_iss_parameter_supported */
	/* How its webhook is read; NULL where it has none (oauth only). */
	struct um_spec *spec;
};

/* How /connect makes sure who the user is. */
enum um_user_check {
	UM_USER_REMOTE,  /* REMOTE_USER, from the web server's authentication */
	UM_USER_CONFIRM, /* the confirm page: whoever clicks */
	UM_USER_TICKET,  /* the MCP server's own session: see ticket.h */
};

struct um_config {
	char *base_url; /* https, or http on loopback; no slash at the end */
	char *keys_file;
	char *database_url;            /* for libpq */
	char *log_file;                /* or NULL */
	char *metrics_file;            /* or NULL */
	char *providers_dir;           /* where NAME.json describes NAME */
	enum um_user_check user_check; /* UM_USER_REMOTE where none is given */
	struct um_provider *providers;
	size_t providers_len;
};

/*
 * Reads the file. Whatever is not known, missing or of the wrong type is
 * refused with the file's name, the place as a JSON pointer (RFC 6901) and
 * the reason; so is a provider's description that is refused. Paths in it are
 * relative to its own folder. The caller frees *out with um_config_free().
 */
bool um_config_load(struct um_config **out, const char *path,
	struct um_error *err);

/* The provider of this name, or NULL. */
const struct um_provider *um_config_provider(const struct um_config *config,
	struct um_str name);

/* Wipes and frees; NULL is fine. */
void um_config_free(struct um_config *config);

#endif
