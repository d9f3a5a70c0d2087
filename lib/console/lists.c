/* SPDX-License-Identifier: MIT */
#include "console/lists.h"

#include <stddef.h>

#define LIST(word, name)                                                       \
	word, UM_TEXT_CONSOLE_##name, UM_TEXT_CONSOLE_##name##_HELP
#define AT                                                                     \
	{                                                                      \
		UM_TEXT_CONSOLE_TIME, UM_COLUMN_TIME, "at"                     \
	}
#define ID                                                                     \
	{                                                                      \
		UM_TEXT_CONSOLE_ELICITATION, UM_COLUMN_ID, "elicitation"       \
	}
#define PROVIDER                                                               \
	{                                                                      \
		UM_TEXT_CONSOLE_PROVIDER, UM_COLUMN_PROVIDER, "provider_name"  \
	}
#define TENANT                                                                 \
	{                                                                      \
		UM_TEXT_CONSOLE_TENANT, UM_COLUMN_TEXT, "tenant_name"          \
	}
#define ITEM                                                                   \
	{                                                                      \
		UM_TEXT_CONSOLE_ITEM, UM_COLUMN_TEXT, "item"                   \
	}
#define REFERENCE                                                              \
	{                                                                      \
		UM_TEXT_CONSOLE_REFERENCE, UM_COLUMN_TEXT, "reference"         \
	}
#define REASON                                                                 \
	{                                                                      \
		UM_TEXT_CONSOLE_REASON, UM_COLUMN_CODE, "reason"               \
	}
#define AMOUNT                                                                 \
	{                                                                      \
		UM_TEXT_CONSOLE_AMOUNT, UM_COLUMN_MONEY, "amount"              \
	}
#define GONE_BACK                                                              \
	{                                                                      \
		UM_TEXT_CONSOLE_GONE_BACK, UM_COLUMN_MONEY, "refunded"         \
	}

const struct um_console_list um_console_lists[UM_CONSOLE_LISTS_LEN] = {
	{ LIST("unclaimed", UNCLAIMED),
		{ AT, ID, PROVIDER, TENANT, ITEM, REFERENCE, AMOUNT,
			GONE_BACK } },
	{ LIST("held", HELD),
		{ AT, ID, PROVIDER, TENANT, ITEM, REFERENCE, AMOUNT,
			GONE_BACK } },
	{ LIST("undelivered", UNDELIVERED),
		{ AT, ID, PROVIDER, TENANT, ITEM, REFERENCE, AMOUNT,
			GONE_BACK } },
	{ LIST("unreadable", UNREADABLE),
		{ AT, PROVIDER, REASON,
			{ UM_TEXT_CONSOLE_PLACE, UM_COLUMN_TEXT, "place" },
			{ UM_TEXT_CONSOLE_REQUEST, UM_COLUMN_CODE, "request" },
			{ UM_TEXT_CONSOLE_NUMBER, UM_COLUMN_NUMBER,
				"times" } } },
	{ LIST("unknown", UNKNOWN),
		{ AT, ID, PROVIDER, TENANT,
			{ UM_TEXT_CONSOLE_TYPE, UM_COLUMN_CODE, "name" },
			REASON, REFERENCE, AMOUNT } },
	{ LIST("approvals", APPROVALS),
		{ { UM_TEXT_CONSOLE_EXPIRES, UM_COLUMN_TIME, "at" }, ID,
			PROVIDER, TENANT, ITEM } },
	{ LIST("reconnect", RECONNECT),
		{ AT, PROVIDER, TENANT,
			{ UM_TEXT_CONSOLE_USER, UM_COLUMN_TEXT, "subject" },
			REFERENCE, REASON } },
};

const struct um_console_list *
um_console_list_of(struct um_str word)
{
	for (size_t i = 0; i < UM_CONSOLE_LISTS_LEN; i++)
		if (um_str_is(word, um_console_lists[i].word))
			return &um_console_lists[i];
	return NULL;
}
