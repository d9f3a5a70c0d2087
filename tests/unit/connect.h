/* SPDX-License-Identifier: MIT */
/* The steps of cgi-bin/connect, and what their tests share. */
#ifndef TEST_CONNECT_H
#define TEST_CONNECT_H

#include "program_case.h"

#define main program_main
#include "../../cgi-bin/connect.c" // NOLINT(bugprone-suspicious-include)
#undef main

#define CONNECT "/connect/demo"
#define COOKIE_END "; Path=/; Max-Age=31536000; Secure; HttpOnly; SameSite=Lax"

static const struct tested_program connect_program = {
	{ .name = "connect", .routes = routes, .measures = UM_OP_NONE },
	UM_PURPOSE_CONNECT,
	"demo",
};

#endif
