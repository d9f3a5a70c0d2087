/* Generated from lib/contract by `make contract`: change it there. */
/* SPDX-License-Identifier: MIT */
/* clang-format off */
#include "api/calls.h"

#include <stddef.h>

const struct um_call um_call_abandon = {
	.name = "abandon",
	.sql = "SELECT outcome FROM urlmode.abandon($1, $2, $3, $4)",
	.types = { UM_CALL_UUID, UM_CALL_BYTEA, UM_CALL_TEXT, UM_CALL_TEXT },
	.each = true,
};

const struct um_call um_call_answer_recheck = {
	.name = "answer_recheck",
	.sql = "SELECT outcome FROM urlmode.answer_recheck($1, $2, $3, $4, $5, $6)",
	.types = { UM_CALL_UUID, UM_CALL_BYTEA, UM_CALL_INT4, UM_CALL_INT4, UM_CALL_JSONB, UM_CALL_JSONB },
};

const struct um_call um_call_begin_ask = {
	.name = "begin_ask",
	.sql = "SELECT urlmode.begin_ask($1, $2, $3, $4)",
	.types = { UM_CALL_UUID, UM_CALL_BYTEA, UM_CALL_BYTEA, UM_CALL_BOOL },
};

const struct um_call um_call_begin_lease = {
	.name = "begin_lease",
	.sql = "SELECT outcome, claimed_reference, fence, leased_ms FROM urlmode.begin_lease($1, $2, "
	       "$3, $4, $5, $6, $7, $8)",
	.types = { UM_CALL_UUID, UM_CALL_BYTEA, UM_CALL_TEXT, UM_CALL_INT8, UM_CALL_INT8, UM_CALL_UUID,
		UM_CALL_BOOL, UM_CALL_INT8 },
};

const struct um_call um_call_begin_lease_fulfilled = {
	.name = "begin_lease_fulfilled",
	.sql = "SELECT outcome, claimed_reference, fence, leased_ms, fulfilled FROM "
	       "urlmode.begin_lease($1, $2, $3, $4, $5, $6, $7, $8)",
	.types = { UM_CALL_UUID, UM_CALL_BYTEA, UM_CALL_TEXT, UM_CALL_INT8, UM_CALL_INT8, UM_CALL_UUID,
		UM_CALL_BOOL, UM_CALL_INT8 },
	.large = true,
};

const struct um_call um_call_begin_recheck = {
	.name = "begin_recheck",
	.sql = "SELECT lease, rechecks, event_type, to_jsonb(unproven_references), provider, expected, "
	       "checkout FROM urlmode.begin_recheck($1, $2, $3, $4)",
	.types = { UM_CALL_UUID, UM_CALL_BYTEA, UM_CALL_INT8, UM_CALL_INT8 },
};

const struct um_call um_call_claim_outcome = {
	.name = "claim_outcome",
	.sql = "SELECT outcome, claimed_reference, leased_ms FROM urlmode.claim_outcome($1, $2, $3, "
	       "$4, $5, $6, $7)",
	.types = { UM_CALL_UUID, UM_CALL_BYTEA, UM_CALL_TEXT, UM_CALL_INT8, UM_CALL_TEXT, UM_CALL_BOOL,
		UM_CALL_INT8 },
};

const struct um_call um_call_confirm_claim = {
	.name = "confirm_claim",
	.sql = "SELECT urlmode.confirm_claim($1, $2, $3, $4)",
	.types = { UM_CALL_UUID, UM_CALL_BYTEA, UM_CALL_INT8, UM_CALL_INT8 },
};

const struct um_call um_call_continue_lease = {
	.name = "continue_lease",
	.sql = "SELECT outcome, claimed_reference, next_fence FROM urlmode.continue_lease($1, $2, $3, "
	       "$4)",
	.types = { UM_CALL_UUID, UM_CALL_BYTEA, UM_CALL_INT8, UM_CALL_INT8 },
};

const struct um_call um_call_create_elicitation = {
	.name = "create_elicitation",
	.sql = "SELECT floor(extract(epoch FROM expires_at) * 1000), outcome FROM "
	       "urlmode.create_elicitation($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, "
	       "$14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25)",
	.types = { UM_CALL_UUID, UM_CALL_TEXT, UM_CALL_TEXT, UM_CALL_TEXT, UM_CALL_TEXT, UM_CALL_BYTEA,
		UM_CALL_TEXT, UM_CALL_TEXT, UM_CALL_JSONB, UM_CALL_BYTEA, UM_CALL_INT8, UM_CALL_BOOL,
		UM_CALL_TEXT, UM_CALL_BOOL, UM_CALL_BYTEA, UM_CALL_TEXT, UM_CALL_TEXT, UM_CALL_INT2,
		UM_CALL_BYTEA, UM_CALL_JSONB, UM_CALL_INT4, UM_CALL_TEXT, UM_CALL_TEXT, UM_CALL_TEXT,
		UM_CALL_BYTEA },
	.each = true,
};

const struct um_call um_call_end_ask = {
	.name = "end_ask",
	.sql = "SELECT urlmode.end_ask($1, $2, $3, $4)",
	.types = { UM_CALL_UUID, UM_CALL_BYTEA, UM_CALL_BYTEA, UM_CALL_TEXT },
};

const struct um_call um_call_end_check = {
	.name = "end_check",
	.sql = "SELECT urlmode.end_check($1, $2, $3, $4, $5)",
	.types = { UM_CALL_UUID, UM_CALL_BYTEA, UM_CALL_INT4, UM_CALL_BYTEA, UM_CALL_BOOL },
};

const struct um_call um_call_end_exchange = {
	.name = "end_exchange",
	.sql = "SELECT urlmode.end_exchange($1, $2, $3)",
	.types = { UM_CALL_UUID, UM_CALL_BYTEA, UM_CALL_TEXT },
};

const struct um_call um_call_end_recheck = {
	.name = "end_recheck",
	.sql = "SELECT urlmode.end_recheck($1, $2, $3, $4, $5)",
	.types = { UM_CALL_UUID, UM_CALL_BYTEA, UM_CALL_INT4, UM_CALL_INT4, UM_CALL_BOOL },
};

const struct um_call um_call_expire = {
	.name = "expire",
	.sql = "SELECT urlmode.expire($1, $2)",
	.types = { UM_CALL_UUIDS, UM_CALL_BYTEAS },
};

const struct um_call um_call_find_created = {
	.name = "find_created",
	.sql = "SELECT content, floor(extract(epoch FROM expires_at) * 1000), link_kid FROM "
	       "urlmode.find_created($1, $2)",
	.types = { UM_CALL_UUID, UM_CALL_BYTEA },
	.each = true,
};

const struct um_call um_call_fulfil_lease = {
	.name = "fulfil_lease",
	.sql = "SELECT urlmode.fulfil_lease($1, $2, $3, $4, $5, $6, $7)",
	.types = { UM_CALL_UUID, UM_CALL_BYTEA, UM_CALL_INT8, UM_CALL_BYTEA, UM_CALL_TEXT, UM_CALL_TEXT,
		UM_CALL_INT8 },
};

const struct um_call um_call_mark_shown = {
	.name = "mark_shown",
	.sql = "SELECT urlmode.mark_shown($1, $2, $3)",
	.types = { UM_CALL_UUIDS, UM_CALL_BYTEAS, UM_CALL_INT8 },
};

const struct um_call um_call_page_of_entitlements_since = {
	.name = "page_of_entitlements_since",
	.sql = "SELECT item, cursor FROM urlmode.page_of_entitlements_since($1, $2, $3, $4, $5, $6)",
	.types = { UM_CALL_TEXT, UM_CALL_TEXT, UM_CALL_TEXT, UM_CALL_TIME, UM_CALL_TEXT, UM_CALL_INT4 },
};

const struct um_call um_call_page_of_ledger_since = {
	.name = "page_of_ledger_since",
	.sql = "SELECT outcome, wait_ms, item, cursor FROM urlmode.page_of_ledger_since($1, $2, $3, "
	       "$4, $5, $6, $7)",
	.types = { UM_CALL_TEXT, UM_CALL_TEXT, UM_CALL_INT8, UM_CALL_INT8, UM_CALL_TIME, UM_CALL_INT8,
		UM_CALL_INT4 },
};

const struct um_call um_call_page_of_paid = {
	.name = "page_of_paid",
	.sql = "SELECT paid, item, cursor FROM urlmode.page_of_paid($1, $2, $3, $4, $5, $6, $7)",
	.types = { UM_CALL_TEXT, UM_CALL_TEXT, UM_CALL_TEXT, UM_CALL_TIME, UM_CALL_BOOL, UM_CALL_TEXT,
		UM_CALL_INT4 },
};

const struct um_call um_call_page_of_refunds = {
	.name = "page_of_refunds",
	.sql = "SELECT item, cursor FROM urlmode.page_of_refunds($1, $2, $3, $4, $5)",
	.types = { UM_CALL_TEXT, UM_CALL_TEXT, UM_CALL_TIME, UM_CALL_TEXT, UM_CALL_INT4 },
};

const struct um_call um_call_page_of_unclaimed = {
	.name = "page_of_unclaimed",
	.sql = "SELECT item, cursor FROM urlmode.page_of_unclaimed($1, $2, $3, $4, $5)",
	.types = { UM_CALL_TEXT, UM_CALL_TEXT, UM_CALL_TIME, UM_CALL_TEXT, UM_CALL_INT4 },
};

const struct um_call um_call_purge = {
	.name = "purge",
	.sql = "SELECT urlmode.purge($1)",
	.types = { UM_CALL_INT8 },
};

const struct um_call um_call_purge_results = {
	.name = "purge_results",
	.sql = "SELECT urlmode.purge_results($1)",
	.types = { UM_CALL_INT8 },
};

const struct um_call um_call_read_waiting = {
	.name = "read_waiting",
	.sql = "SELECT id, provider, kind, status, action, reason, late, result, verifier, "
	       "closes_in_ms, failed_attempts, awaits_recheck, recheck_in_ms, payment_reference, "
	       "amount, currency, floor(extract(epoch FROM expires_at) * 1000) FROM "
	       "urlmode.read_waiting($1, $2)",
	.types = { UM_CALL_UUIDS, UM_CALL_BYTEAS },
};

const struct um_call um_call_release_claim = {
	.name = "release_claim",
	.sql = "SELECT urlmode.release_claim($1, $2, $3)",
	.types = { UM_CALL_UUID, UM_CALL_BYTEA, UM_CALL_INT8 },
};

const struct um_call um_call_renew_lease = {
	.name = "renew_lease",
	.sql = "SELECT urlmode.renew_lease($1, $2, $3, $4)",
	.types = { UM_CALL_UUID, UM_CALL_BYTEA, UM_CALL_INT8, UM_CALL_INT8 },
};

const struct um_call um_call_resume_for = {
	.name = "resume_for",
	.sql = "SELECT id, status, floor(extract(epoch FROM expires_at) * 1000), link_kid FROM "
	       "urlmode.resume_for($1, $2, $3, $4, $5, $6, $7, $8)",
	.types = { UM_CALL_BYTEA, UM_CALL_TEXT, UM_CALL_TEXT, UM_CALL_TEXT, UM_CALL_BOOL, UM_CALL_BYTEA,
		UM_CALL_TEXT, UM_CALL_JSONB },
	.each = true,
};

const struct um_call um_call_settle = {
	.name = "settle",
	.sql = "SELECT urlmode.settle($1, $2, $3, $4, $5, $6, $7, $8)",
	.types = { UM_CALL_UUID, UM_CALL_BYTEA, UM_CALL_TEXT, UM_CALL_TEXT, UM_CALL_BYTEA, UM_CALL_INT8,
		UM_CALL_TEXT, UM_CALL_TEXT },
};

const struct um_call um_call_take_check = {
	.name = "take_check",
	.sql = "SELECT lease, result, left_ms FROM urlmode.take_check($1, $2)",
	.types = { UM_CALL_UUID, UM_CALL_BYTEA },
};

const struct um_call *const um_api_calls[] = {
	&um_call_abandon,
	&um_call_answer_recheck,
	&um_call_begin_ask,
	&um_call_begin_lease,
	&um_call_begin_lease_fulfilled,
	&um_call_begin_recheck,
	&um_call_claim_outcome,
	&um_call_confirm_claim,
	&um_call_continue_lease,
	&um_call_create_elicitation,
	&um_call_end_ask,
	&um_call_end_check,
	&um_call_end_exchange,
	&um_call_end_recheck,
	&um_call_expire,
	&um_call_find_created,
	&um_call_fulfil_lease,
	&um_call_mark_shown,
	&um_call_page_of_entitlements_since,
	&um_call_page_of_ledger_since,
	&um_call_page_of_paid,
	&um_call_page_of_refunds,
	&um_call_page_of_unclaimed,
	&um_call_purge,
	&um_call_purge_results,
	&um_call_read_waiting,
	&um_call_release_claim,
	&um_call_renew_lease,
	&um_call_resume_for,
	&um_call_settle,
	&um_call_take_check,
	NULL
};
