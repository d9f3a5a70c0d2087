/* SPDX-License-Identifier: MIT */
#include "operate/main.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

#include "config/config.h"
#include "core/coredump.h"
#include "http/request.h"
#include "operate/check_delivery.h"
#include "operate/issuer.h"
#include "operate/query.h"
#include "operate/reconcile.h"

/* Whether this part is asked for, with so many arguments. */
static bool
asks(char **args, size_t len, const char *part, size_t arguments)
{
	return len == arguments + 1 && strcmp(args[0], part) == 0;
}

static int
answer(char **args, size_t len, const char *path, struct um_error *err)
{
	const char *what = len != 0 ? args[0] : "";
	struct um_config *config = NULL;
	bool ok;

	if (strcmp(what, "delivery") == 0)
		return um_check_delivery(args + 1, len - 1, path, err);
	if (strcmp(what, "config") == 0 && len >= 2)
		ok = um_config_load(&config, path, err)
			&& um_query_config(args + 1, len - 1, config, err);
	else if (asks(args, len, "compared", 1))
		ok = um_config_load(&config, path, err)
			&& um_query_compared(args[1], config, err);
	else if (asks(args, len, "keys", 1))
		ok = um_query_keys(args[1], err);
	else if (asks(args, len, "state", 1))
		ok = um_config_load(&config, path, err)
			&& um_query_state(args[1], config, err);
	else if (asks(args, len, "jwks", 1))
		ok = um_issuer_print_keys(args[1], err);
	else if (asks(args, len, "discovery", 2))
		ok = um_issuer_print_discovery(args[1], args[2], err);
	else if (asks(args, len, "socket", 1))
		ok = um_query_socket(args[1], err);
	else if (asks(args, len, "conninfo", 0))
		ok = um_query_conninfo(err);
	else if (strcmp(what, "reconcile") == 0 && len >= 3)
		ok = um_config_load(&config, path, err)
			&& um_reconcile_print(args[1], args + 2, len - 2,
				config, err);
	else if (asks(args, len, "sql", 0))
		ok = um_config_load(&config, path, err)
			&& um_query_sql(config, err);
	else if (asks(args, len, "pages", 0))
		ok = um_config_load(&config, path, err)
			&& um_query_pages(config, err);
	else
		return um_error(err, "a part of the command urlmode"), EX_USAGE;
	um_config_free(config);
	return ok ? 0 : 1;
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
