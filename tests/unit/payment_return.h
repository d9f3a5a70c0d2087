/* SPDX-License-Identifier: MIT */
/* The steps of cgi-bin/payment-return, and what their tests share. */
#ifndef TEST_PAYMENT_RETURN_H
#define TEST_PAYMENT_RETURN_H

#include "program_case.h"

#define main program_main
#include "../../cgi-bin/payment-return.c" // NOLINT(bugprone-suspicious-include)
#undef main

#define BACK "/payment/shop/return"
#define CANCEL "/payment/shop/cancel"
#define FOLLOWS "<h1>Waiting for confirmation</h1>"

static char accept[] = "accept", gave_up[] = "cancel";
static char none[] = "", expired[] = "expired";

static const struct tested_program payment_return = {
	{ .name = "payment-return", .routes = routes, .measures = UM_OP_NONE },
	UM_PURPOSE_RETURN,
	"shop",
};

static const struct tested_program payment_cancel = {
	{ .name = "payment-return", .routes = routes, .measures = UM_OP_NONE },
	UM_PURPOSE_CANCEL,
	"shop",
};

#endif
