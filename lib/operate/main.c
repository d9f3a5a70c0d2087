/* SPDX-License-Identifier: MIT */
#include "operate/main.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

#include "config/config.h"
#include "core/coredump.h"
#include "http/request.h"
#include "operate/ask_program.h"
#include "operate/check_delivery.h"
#include "operate/issuer.h"
#include "operate/query.h"
#include "operate/reconcile.h"
#include "operate/walk.h"

/* Whether this part is asked for, with so many arguments. */
static bool
asks(char **args, size_t len, const char *part, size_t arguments)
{
	return len == arguments + 1 && strcmp(args[0], part) == 0;
}

/* Whether the arguments are a part that reads the configuration, with as many as it takes. */
static bool
needs_config(char **args, size_t len)
{
	static const struct {
		const char *name;
		size_t least, most;
	} parts[] = {
		{ "config", 1, SIZE_MAX },
		{ "reconcile", 2, SIZE_MAX },
		{ "compared", 1, 1 },
		{ "state", 1, 1 },
		{ "sql", 0, 0 },
		{ "pages", 0, 0 },
		{ "database-address", 0, 0 },
		{ "walk-row", 0, 0 },
		{ "walk-cookies", 0, 0 },
		{ "walk-delivery", 0, 0 },
		{ "walk-result", 2, 2 },
	};

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (strcmp(args[0], parts[i].name) == 0)
			return len - 1 >= parts[i].least
				&& len - 1 <= parts[i].most;
	return false;
}

static bool
answer_of(char **args, size_t len, const struct um_config *config,
	struct um_error *err)
{
	const char *what = args[0];

	if (strcmp(what, "config") == 0)
		return um_query_config(args + 1, len - 1, config, err);
	if (strcmp(what, "reconcile") == 0)
		return um_reconcile_print(args[1], args + 2, len - 2, config,
			err);
	if (strcmp(what, "compared") == 0)
		return um_query_compared(args[1], config, err);
	if (strcmp(what, "state") == 0)
		return um_query_state(args[1], config, err);
	if (strcmp(what, "sql") == 0)
		return um_query_sql(config, err);
	if (strcmp(what, "pages") == 0)
		return um_query_pages(config, err);
	if (strcmp(what, "database-address") == 0)
		return um_query_database_address(config, err);
	if (strcmp(what, "walk-row") == 0)
		return um_walk_print_row(config, err);
	if (strcmp(what, "walk-cookies") == 0)
		return um_walk_print_cookies(config, err);
	if (strcmp(what, "walk-delivery") == 0)
		return um_walk_print_delivery(config, err);
	return um_walk_print_result(args[1], args[2], config, err);
}

/* Without the configuration. */
static bool
answer_alone(char **args, size_t len, struct um_error *err, int *status)
{
	if (asks(args, len, "keys", 1))
		return um_query_keys(args[1], err);
	if (asks(args, len, "api-config", 1))
		return um_query_api_config(args[1], err);
	if (asks(args, len, "api-keys", 1))
		return um_query_api_keys(args[1], err);
	if (asks(args, len, "listen", 2))
		return um_walk_listen(args[1], args[2], err);
	if (asks(args, len, "program", 2))
		return um_ask_program(args[1], args[2], err);
	if (asks(args, len, "jwks", 1))
		return um_issuer_print_keys(args[1], err);
	if (asks(args, len, "discovery", 2))
		return um_issuer_print_discovery(args[1], args[2], err);
	if (asks(args, len, "socket", 1))
		return um_query_socket(args[1], err);
	if (asks(args, len, "conninfo", 0))
		return um_query_conninfo(err);
	if (len >= 2 && strcmp(args[0], "address") == 0)
		return um_query_address(args[1], args + 2, len - 2, err);
	*status = EX_USAGE;
	return um_error(err, "a part of the command urlmode");
}

static int
answer(char **args, size_t len, const char *path, struct um_error *err)
{
	struct um_config *config = NULL;
	int status = 1;
	bool ok;

	if (len != 0 && strcmp(args[0], "delivery") == 0)
		return um_check_delivery(args + 1, len - 1, path, err);
	if (len == 0 || !needs_config(args, len))
		ok = answer_alone(args, len, err, &status);
	else
		ok = um_config_load(&config, path, err)
			&& answer_of(args, len, config, err);
	um_config_free(config);
	return ok ? 0 : status;
}

int
um_operate_main(int argc, char **argv)
{
	const char *config = getenv("URLMODE_CONFIG");
	struct um_error err = { "" };
	int status = 1;

	um_forbid_core_dumps();
	if (um_request_in_environment())
		um_error(&err, "this is not a CGI program");
	else
		status = answer(argv + 1, argc > 1 ? (size_t)argc - 1 : 0,
			config != NULL ? config : UM_CONFIG_FILE, &err);
	if (err.text[0] != '\0')
		fprintf(stderr, "urlmode: %s\n", err.text);
	return status;
}
