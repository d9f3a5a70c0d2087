/* SPDX-License-Identifier: MIT */
/*
 * What an SDK does, over HTTP, for servers in every language: POST /v1/<method>,
 * JSON in and out, with a key of the file `api-keys`. It reads results, so it is no
 * program of the callback host: it has a configuration, a socket, a user and a
 * login (urlmode_server) of its own.
 */
#include "api/api.h"
#include "api/ask.h"
#include "api/ask_back.h"
#include "api/calls.h"
#include "api/claim.h"
#include "api/create.h"
#include "api/lease.h"
#include "api/ledger.h"
#include "api/lists.h"
#include "api/settle.h"
#include "api/wait.h"
#include "server/main.h"

#define KB ((size_t)1024)

static const struct um_route routes[] = {
	{ .prefix = "/v1/create",
		.methods = "POST",
		.body_max = 64 * KB,
		.plan = um_create_plan },
	{ .prefix = "/v1/wait",
		.methods = "POST",
		.body_max = 8 * KB * KB,
		.plan = um_wait_plan },
	{ .prefix = "/v1/complete",
		.methods = "POST",
		.body_max = 64 * KB,
		.plan = um_complete_plan },
	{ .prefix = "/v1/cancel",
		.methods = "POST",
		.body_max = 64 * KB,
		.plan = um_cancel_plan },
	{ .prefix = "/v1/abandon",
		.methods = "POST",
		.body_max = 64 * KB,
		.plan = um_abandon_plan },
	{ .prefix = "/v1/claim",
		.methods = "POST",
		.body_max = 64 * KB,
		.plan = um_claim_plan },
	{ .prefix = "/v1/begin_claim",
		.methods = "POST",
		.body_max = 64 * KB,
		.plan = um_begin_claim_plan },
	{ .prefix = "/v1/renew_claim",
		.methods = "POST",
		.body_max = 64 * KB,
		.plan = um_renew_claim_plan },
	{ .prefix = "/v1/fulfil_claim",
		.methods = "POST",
		.body_max = 32 * KB * KB,
		.plan = um_fulfil_claim_plan },
	{ .prefix = "/v1/confirm_claim",
		.methods = "POST",
		.body_max = 64 * KB,
		.plan = um_confirm_claim_plan },
	{ .prefix = "/v1/release_claim",
		.methods = "POST",
		.body_max = 64 * KB,
		.plan = um_release_claim_plan },
	{ .prefix = "/v1/end_check",
		.methods = "POST",
		.body_max = 64 * KB,
		.plan = um_end_check_plan },
	{ .prefix = "/v1/end_recheck",
		.methods = "POST",
		.body_max = 64 * KB,
		.plan = um_end_recheck_plan },
	{ .prefix = "/v1/begin_ask",
		.methods = "POST",
		.body_max = 64 * KB,
		.plan = um_begin_ask_plan },
	{ .prefix = "/v1/end_ask",
		.methods = "POST",
		.body_max = 64 * KB,
		.plan = um_end_ask_plan },
	{ .prefix = "/v1/unclaimed",
		.methods = "POST",
		.body_max = 64 * KB,
		.plan = um_unclaimed_plan },
	{ .prefix = "/v1/refunds",
		.methods = "POST",
		.body_max = 64 * KB,
		.plan = um_refunds_plan },
	{ .prefix = "/v1/ledger",
		.methods = "POST",
		.body_max = 64 * KB,
		.plan = um_ledger_plan },
	{ .prefix = "/v1/entitlements",
		.methods = "POST",
		.body_max = 64 * KB,
		.plan = um_entitlements_plan },
	{ .prefix = "/v1/paid",
		.methods = "POST",
		.body_max = 64 * KB,
		.plan = um_paid_plan },
	{ 0 },
};

int
main(int argc, char **argv)
{
	static const struct um_program program = { .name = "api",
		.routes = routes,
		.login = UM_LOGIN_SERVER,
		.calls = um_api_calls,
		.side = &um_api_side };

	return um_program_main(&program, argc, argv);
}
