/* SPDX-License-Identifier: MIT */
/* The steps of cgi-bin/oauth-return, and the requests that their tests send. */
#ifndef TEST_OAUTH_RETURN_H
#define TEST_OAUTH_RETURN_H

#include "program_case.h"

#define main program_main
#include "../../cgi-bin/oauth-return.c" // NOLINT(bugprone-suspicious-include)
#undef main

#define RETURN "/oauth/demo/return"
#define ISS "&iss=https%3A%2F%2Fissuer.example"
#define CODE "&code=" SECRET "-code"
#define GOOD "state={bound}" CODE ISS

static const struct tested_program oauth_return = {
	{ .name = "oauth-return", .routes = routes, .measures = UM_OP_NONE },
	UM_PURPOSE_RETURN,
	"demo",
};

/* Initializers of a struct program_case. */
#define REFUSED(its_name, its_query, its_status, its_reason)                   \
	{                                                                      \
		.name = (its_name), .path = RETURN, .query = (its_query),      \
		.status = (its_status), .reason = (its_reason)                 \
	}
#define COMPLETES(its_name, its_action, its_query)                             \
	.name = (its_name), .path = RETURN, .query = (its_query),              \
	.asks = UM_OP_COMPLETE, .action = (its_action), .says = "completed",   \
	.status = 303, .location = "/done"

#endif
