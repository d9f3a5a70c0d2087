/* SPDX-License-Identifier: MIT */
/*
 * The waiting side over HTTP, for servers in every language: POST /v1/<method>,
 * JSON in and out, with a key of the file `api-keys`. It reads results, so it is no
 * program of the callback host: it has a configuration, a socket, a user and a
 * login (urlmode_server) of its own.
 */
#include "api/api.h"
#include "api/calls.h"
#include "api/create.h"
#include "server/main.h"

#define KB ((size_t)1024)

static const struct um_route routes[] = {
	{ .prefix = "/v1/create",
		.methods = "POST",
		.body_max = 64 * KB,
		.plan = um_create_plan },
	{ 0 },
};

int
main(int argc, char **argv)
{
	static const struct um_program program = { .name = "api",
		.routes = routes,
		.calls = um_api_calls,
		.side = &um_api_side };

	return um_program_main(&program, argc, argv);
}
