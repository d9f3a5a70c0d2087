/* SPDX-License-Identifier: MIT */
/*
 * A call of the api, the name of a method and a body: whatever it holds, its plan
 * refuses it with JSON, requests one call of the database, or waits.
 */
#include "fuzz.h"

#include <string.h>

#include "api/api.h"
#include "api/ask.h"
#include "api/ask_back.h"
#include "api/claim.h"
#include "api/lease.h"
#include "api/ledger.h"
#include "api/lists.h"
#include "api/settle.h"
#include "api/wait.h"
#include "core/json.h"

/* Of tests/fuzz/api-keys. */
#define AUTHORIZATION "Bearer umk_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"

/* All but create, which has a fuzzer of its own. */
static const struct {
	const char *name;
	um_step *plan;
} methods[] = {
	{ "wait", um_wait_plan },
	{ "complete", um_complete_plan },
	{ "cancel", um_cancel_plan },
	{ "abandon", um_abandon_plan },
	{ "claim", um_claim_plan },
	{ "begin_claim", um_begin_claim_plan },
	{ "renew_claim", um_renew_claim_plan },
	{ "fulfil_claim", um_fulfil_claim_plan },
	{ "confirm_claim", um_confirm_claim_plan },
	{ "release_claim", um_release_claim_plan },
	{ "begin_ask", um_begin_ask_plan },
	{ "end_ask", um_end_ask_plan },
	{ "end_check", um_end_check_plan },
	{ "end_recheck", um_end_recheck_plan },
	{ "unclaimed", um_unclaimed_plan },
	{ "refunds", um_refunds_plan },
	{ "ledger", um_ledger_plan },
	{ "entitlements", um_entitlements_plan },
	{ "paid", um_paid_plan },
};

static struct um_keys *keys;
static struct um_api api;

static void
unload(void)
{
	um_keys_free(keys);
	um_api_keys_free(api.keys);
	um_watched_free(&api.watched);
}

static void
load(void)
{
	struct um_error err;

	HOLDS(um_keys_parse(&keys,
		"1 AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", "keys", &err));
	HOLDS(um_api_keys_load(&api.keys, "tests/fuzz/api-keys", &err));
	um_watched_begin(&api.watched);
	atexit(unload);
}

static void
random_bytes(void *out, size_t len)
{
	memset(out, 1, len);
}

static const char *
get(const char *name, void *arg)
{
	(void)arg;
	return strcmp(name, "HTTP_AUTHORIZATION") == 0 ? AUTHORIZATION : NULL;
}

static void
check(const struct um_exchange *ex)
{
	struct um_str body = um_buf_str(&ex->response.body);
	struct um_json_node *json;

	HOLDS(ex->refusal == UM_REFUSAL_NONE);
	if (ex->then != NULL) {
		HOLDS(ex->response.status == 0);
		HOLDS(ex->is_parked || ex->ops_len == 1);
		HOLDS(!ex->op.args.failed);
		return;
	}
	HOLDS(ex->response.status == 400);
	json = um_json_parse_with_nul(body, UM_JSON_VALUES_MAX, NULL);
	HOLDS(json != NULL && um_str_is_text(body));
	free(json);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct um_config config;
	struct um_str rest = { (const char *)data, size };
	struct um_str method, body;
	struct um_context context = { .config = &config,
		.random = random_bytes };

	if (keys == NULL)
		load();
	context.keys = keys;
	context.side = &api;
	method = fuzz_line(&rest);
	body = fuzz_rest(&rest);
	for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++) {
		struct um_exchange ex = { .request = { .get = get } };

		if (!um_str_is(method, methods[i].name))
			continue;
		ex.request.body = body;
		um_exchange_step(&context, &ex, methods[i].plan);
		check(&ex);
		um_exchange_free(&ex);
	}
	fuzz_free(body);
	fuzz_free(method);
	return 0;
}
