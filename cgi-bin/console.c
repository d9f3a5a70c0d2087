/* SPDX-License-Identifier: MIT */
/*
 * /console/
 *
 * The pages for those who answer "where is my payment?": what waits for somebody, what
 * happened to an elicitation, and the decisions about a payment that is held. It lists
 * rows, so it is no program of the callback host: it has a configuration, keys, a
 * socket, a user and a login (urlmode_operator) of its own. It cannot read results.
 *
 * GET   shows a page to a user whom `console.operators` names, and changes nothing.
 * POST  is the answer of the provider at which operators sign in, or a decision: of
 *       this site, of a fresh sign-in where there is one, with a reason.
 */
#include "app/signin.h"
#include "console/calls.h"
#include "console/pages.h"
#include "console/session.h"
#include "server/main.h"

#define FIELD_MAX 4096        /* bytes of a field */
#define ACT_BODY_MAX 32768    /* bytes; nginx's limit is the same */
#define SIGNIN_BODY_MAX 24576 /* bytes, as of /signin/return */

static const struct um_route routes[] = {
	{ .prefix = "/console/",
		.methods = "GET, HEAD",
		.value_max = FIELD_MAX,
		.plan = um_console_overview_plan },
	{ .prefix = "/console/search",
		.methods = "GET, HEAD",
		.value_max = FIELD_MAX,
		.plan = um_console_search_plan },
	{ .prefix = "/console/elicitation",
		.methods = "GET, HEAD",
		.value_max = FIELD_MAX,
		.plan = um_console_elicitation_plan },
	{ .prefix = "/console/list",
		.methods = "GET, HEAD",
		.value_max = FIELD_MAX,
		.plan = um_console_list_plan },
	{ .prefix = "/console/provider",
		.methods = "GET, HEAD",
		.value_max = FIELD_MAX,
		.plan = um_console_provider_plan },
	{ .prefix = "/console/act",
		.methods = "GET, HEAD, POST",
		.body_max = ACT_BODY_MAX,
		.value_max = FIELD_MAX,
		.plan = um_console_act_plan },
	{ .prefix = "/console/signin",
		.methods = "POST",
		.body_max = SIGNIN_BODY_MAX,
		.value_max = UM_JWS_MAX,
		.plan = um_console_signed_in },
	{ 0 },
};

int
main(int argc, char **argv)
{
	static const struct um_program program = { .name = "console",
		.routes = routes,
		.login = UM_LOGIN_OPERATOR,
		.calls = um_console_calls };

	return um_program_main(&program, argc, argv);
}
