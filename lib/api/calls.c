/* SPDX-License-Identifier: MIT */
#include "api/calls.h"

#include <stddef.h>

const struct um_call um_call_claim = {
	.name = "claim",
	.sql = "SELECT urlmode.claim($1, $2, $3, $4, $5, $6)",
	.types = { UM_CALL_UUID, UM_CALL_BYTEA, UM_CALL_TEXT, UM_CALL_INT8,
		UM_CALL_TEXT, UM_CALL_BOOL },
};

const struct um_call um_call_create = {
	.name = "create_elicitation",
	.sql = "SELECT outcome, floor(extract(epoch FROM expires_at) * "
	       "1000) "
	       "FROM urlmode.create_elicitation($1, $2, $3, $4, $5, $6, $7, "
	       "$8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, "
	       "$21, $22, $23, $24, $25)",
	.types = { UM_CALL_UUID, UM_CALL_TEXT, UM_CALL_TEXT, UM_CALL_TEXT,
		UM_CALL_TEXT, UM_CALL_BYTEA, UM_CALL_TEXT, UM_CALL_TEXT,
		UM_CALL_JSONB, UM_CALL_BYTEA, UM_CALL_INT8, UM_CALL_BOOL,
		UM_CALL_TEXT, UM_CALL_BOOL, UM_CALL_BYTEA, UM_CALL_TEXT,
		UM_CALL_TEXT, UM_CALL_INT2, UM_CALL_BYTEA, UM_CALL_JSONB,
		UM_CALL_INT4, UM_CALL_TEXT, UM_CALL_TEXT, UM_CALL_TEXT,
		UM_CALL_BYTEA },
	.each = true,
};

const struct um_call um_call_find_created = {
	.name = "find_created",
	.sql = "SELECT content, floor(extract(epoch FROM expires_at) * "
	       "1000), "
	       "link_kid FROM urlmode.find_created($1, $2)",
	.types = { UM_CALL_UUID, UM_CALL_BYTEA },
	.each = true,
};

const struct um_call um_call_resume_for = {
	.name = "resume_for",
	.sql = "SELECT id, status, floor(extract(epoch FROM expires_at) * "
	       "1000), link_kid FROM urlmode.resume_for($1, $2, $3, "
	       "$4, "
	       "$5, $6, $7, $8)",
	.types = { UM_CALL_BYTEA, UM_CALL_TEXT, UM_CALL_TEXT, UM_CALL_TEXT,
		UM_CALL_BOOL, UM_CALL_BYTEA, UM_CALL_TEXT, UM_CALL_JSONB },
	.each = true,
};

const struct um_call *const um_api_calls[] = { &um_call_claim, &um_call_create,
	&um_call_find_created, &um_call_resume_for, NULL };
