/* SPDX-License-Identifier: MIT */
/* clang-format off */
#include "console/calls.h"

#define ROWS(from) "coalesce((SELECT json_agg(r) FROM (SELECT " from ") r), '[]')"
#define TEXT_OF(number) #number
/* One more than is shown says that there is more. */
#define MORE_THAN(number) TEXT_OF(number) " + 1"
/* In hours: a day of the session's time zone may have 23 or 25 of them. */
#define DAYS "date_trunc('day', now(), 'UTC') - interval '696 h', 'day'"
#define HOURS "date_trunc('hour', now(), 'UTC') - interval '23 h', 'hour'"

const struct um_call um_console_overview_call = {
	.name = "console_overview",
	.sql = "SELECT "
	       ROWS("* FROM urlmode.waiting()") ", "
	       ROWS("* FROM urlmode.count_ended(NULL, " HOURS ")") ", "
	       ROWS("* FROM urlmode.count_ended(NULL, " DAYS ")") ", "
	       "to_json(urlmode.counted_until()), "
	       ROWS("* FROM urlmode.list_checks() LIMIT 5"),
};

const struct um_call um_console_search_call = {
	.name = "console_search",
	.sql = "SELECT "
	       ROWS("* FROM urlmode.find_elicitations($1, "
		    MORE_THAN(UM_CONSOLE_FOUND_MAX) ")"),
	.types = { UM_CALL_TEXT },
};

const struct um_call um_console_elicitation_call = {
	.name = "console_elicitation",
	.sql = "SELECT (SELECT row_to_json(e) FROM (SELECT s.elicitation, s.provider, "
	       "s.kind, s.status, s.action, s.reason, s.subject, s.requester, "
	       "s.expected, s.created_at, s.expires_at, s.exchange, "
	       "urlmode.show_item(s.elicitation) AS item, "
	       "urlmode.tenant_of(s.elicitation) AS tenant "
	       "FROM urlmode.show_elicitation($1) s) e), "
	       ROWS("s.*, e.claim_end FROM urlmode.show_payments($1) s "
		    "JOIN urlmode.show_ends($1) e USING (provider, reference) "
		    "ORDER BY s.proven_at, s.reference LIMIT 20") ", "
	       ROWS("s.subscription, s.status, s.until "
		    "FROM urlmode.show_subscriptions($1) s LIMIT 20") ", "
	       ROWS("* FROM urlmode.show_timeline($1, "
		    MORE_THAN(UM_CONSOLE_EVENTS_MAX) ")"),
	.types = { UM_CALL_UUID },
};

const struct um_call um_console_list_call = {
	.name = "console_list",
	.sql = "SELECT "
	       ROWS("* FROM urlmode.list_waiting($1, $2, $3, $4, $5, $6, $7)"),
	.types = { UM_CALL_TEXT, UM_CALL_TEXT, UM_CALL_TEXT, UM_CALL_TIME,
		UM_CALL_TIME, UM_CALL_TEXT, UM_CALL_INT4 },
};

/* Without a name, the names alone. */
const struct um_call um_console_provider_call = {
	.name = "console_provider",
	.sql = "SELECT "
	       ROWS("* FROM urlmode.known_providers()") ", "
	       "(SELECT row_to_json(p) FROM urlmode.show_provider($1) p "
	       "WHERE $1 IS NOT NULL), "
	       ROWS("* FROM urlmode.count_ended($1, " DAYS ") "
		    "WHERE $1 IS NOT NULL") ", "
	       ROWS("* FROM urlmode.count_events($1, " DAYS ") "
		    "WHERE $1 IS NOT NULL LIMIT 60") ", "
	       ROWS("* FROM urlmode.count_refusals($1) "
		    "WHERE $1 IS NOT NULL LIMIT 30"),
	.types = { UM_CALL_TEXT },
};

const struct um_call um_console_payment_call = {
	.name = "console_payment",
	.sql = "SELECT (SELECT row_to_json(p) FROM (SELECT s.provider, s.reference, "
	       "s.amount, s.currency, s.refunded, urlmode.show_item($1) AS item, "
	       "urlmode.show_state(s.provider, s.reference) AS state "
	       "FROM urlmode.show_payments($1) s "
	       "WHERE s.provider = $2 AND s.reference = $3) p)",
	.types = { UM_CALL_UUID, UM_CALL_TEXT, UM_CALL_TEXT },
};

const struct um_call um_console_decide_call = {
	.name = "console_decide",
	.sql = "SELECT urlmode.decide_shown($1, $2, $3, $4, $5, $6, $7)",
	.types = { UM_CALL_TEXT, UM_CALL_TEXT, UM_CALL_TEXT, UM_CALL_TEXT,
		UM_CALL_TEXT, UM_CALL_TEXT, UM_CALL_TEXT },
};

const struct um_call *const um_console_calls[] = {
	&um_console_overview_call,
	&um_console_search_call,
	&um_console_elicitation_call,
	&um_console_list_call,
	&um_console_provider_call,
	&um_console_payment_call,
	&um_console_decide_call,
	NULL,
};
