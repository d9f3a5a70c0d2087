/* SPDX-License-Identifier: MIT */
/* The configuration: one JSON file, read at start. */
#ifndef UM_CONFIG_H
#define UM_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "config/openid.h"
#include "config/pages.h"
#include "config/provider.h"
#include "core/str.h"
#include "core/strlist.h"
#include "crypto/keys.h"

/* The file, unless URLMODE_CONFIG names another one; the build may say so. */
#ifndef UM_CONFIG_FILE
#define UM_CONFIG_FILE "/etc/urlmode/config.json"
#endif

/* How /connect finds out who the user is. */
enum um_user_check {
	UM_USER_REMOTE,  /* REMOTE_USER, from the web server's authentication */
	UM_USER_CONFIRM, /* the confirm page asks; anyone may answer */
	UM_USER_TICKET,  /* the MCP server's own session: see ticket.h */
	UM_USER_OPENID,  /* sign-in at an OpenID provider: see app/signin.h */
};

/* Its word in the configuration; a constant. */
const char *um_user_check_name(enum um_user_check check);

struct um_config {
	char *path;      /* of its file */
	char *base_url;  /* https, or http on loopback; no slash at the end */
	char *keys_file; /* or NULL: `keys` */
	char *keys;      /* of the environment, or NULL */
	char *database_url;            /* for libpq */
	bool database_url_given;       /* by the environment */
	char *log_file;                /* or NULL */
	char *metrics_file;            /* or NULL */
	char *providers_dir;           /* holds NAME.json for provider NAME */
	enum um_user_check user_check; /* UM_USER_REMOTE by default */
	struct um_openid openid;       /* of UM_USER_OPENID */
	struct um_brand brand;         /* of the pages */
	struct um_provider *providers;
	size_t providers_len;

	/* Of the api alone (config/api.h). */
	char *listen_url;    /* for LISTEN, past a pooler, or NULL */
	char *api_keys_file; /* who may call it */
	char *server_name;   /* who asks, for people to read */
	/* Entries that have not the name of their description: both names, … */
	struct um_strlist described;

	/* Of the console alone (config/console.h): who may open it. */
	struct um_strlist operators;
	/* When descriptions were compared with their sources: name, day, … */
	struct um_strlist compared;
};

/*
 * Takes the secrets of the environment (config/environment.h), which stand in
 * place of keys_file and database_url, and reads the file. A value in both
 * places is refused. Whatever is unknown, missing or of the wrong type is refused
 * with the file's name, the place as a JSON pointer (RFC 6901) and the reason;
 * so is a provider whose description is refused. Paths in the file are relative
 * to its own folder. The caller frees *out with um_config_free().
 */
bool um_config_load(struct um_config **out, const char *path,
	struct um_error *err);

/*
 * Whether the files of a configuration that is in use would be accepted again,
 * with the same secrets of the environment: otherwise a program that ends cannot
 * start again. False, with the reasons as um_config_load() has them.
 */
bool um_config_try(const struct um_config *config, struct um_error *err);

/*
 * A number that changes when the file of the configuration changes, or that of a
 * provider's description, or when one of them is not there any more. Costs a
 * stat(2) for each.
 */
uint64_t um_config_version(const struct um_config *config);

/*
 * A digest of what is in these files now: the first bytes of a SHA-256. Reads all
 * of them.
 */
uint64_t um_config_digest(const struct um_config *config);

/*
 * Loads keys_file, or the keys of the environment. The caller frees *out with
 * um_keys_free().
 */
bool um_config_load_keys(struct um_keys **out, const struct um_config *config,
	struct um_error *err);

/*
 * The file holds secrets. False, with its name and the reason: others than its
 * owner and group have a right on it, or it is not there.
 */
bool um_config_is_private(const char *path, struct um_error *err);

/* A host and perhaps a port, with nothing after them. */
bool um_config_is_base_url(const char *url);

/* libpq can read it. */
bool um_config_is_database_url(const char *text);

/* The provider of this name, which may be that of `urlmode check`, or NULL. */
const struct um_provider *um_config_provider(const struct um_config *config,
	struct um_str name);

/*
 * Whether the program of this name is needed: `oauth-return` by a provider of
 * kind oauth, `form` by one of kind input or approval, `payment-return` by one of
 * another kind, `webhook` by one whose description has a webhook, and
 * `signin-return` where users sign in at an OpenID provider. Each other program
 * is needed always.
 */
bool um_config_needs(const struct um_config *config, const char *program);

#define UM_CERTIFICATE_SOON_DAYS 14

/*
 * Says of each certificate for signatures of a provider that has expired at this
 * Unix time, or expires in UM_CERTIFICATE_SOON_DAYS, what to do. Whether none
 * has expired.
 */
bool um_config_check_certificates(const struct um_config *config,
	int64_t now_ms, void (*say)(const char *text, void *arg), void *arg);

/* How the files of a configuration are read (config/base.c). */

struct um_environment;

/*
 * Reads "base_url", "keys_file", "database_url", "log_file", "metrics_file",
 * "user_check", "openid" and "pages".
 */
bool um_config_read_base(const struct um_conf_loc *at, json_t *root,
	struct um_config *config, struct um_environment *environment);

/* Reads the whole file; takes the values of the environment. */
typedef bool um_config_reader(const struct um_conf_loc *at, json_t *root,
	struct um_config *config, struct um_environment *environment);

/* The caller frees *out with um_config_free(). False, with the reasons. */
bool um_config_load_as(struct um_config **out, const char *path,
	um_config_reader *read, struct um_error *err);

/* The same with values that were in the environment before. */
bool um_config_load_with(struct um_config **out, const char *path,
	um_config_reader *read, struct um_environment *environment,
	struct um_error *err);

/* Wipes and frees; NULL is fine. */
void um_config_free(struct um_config *config);

#endif
