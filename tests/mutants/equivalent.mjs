// Mistakes with which the program does the same, each with the line as the mistake leaves it; `before` is what the mistake
// changes, where the line does not tell.

export const EQUIVALENT = [
	{ file: 'lib/core/base64.c', line: 'uint8_t c[BLOCK], all = 1;', why: 'only the bits of NO_VALUE of it are read' },
	{ file: 'lib/description/scheme_load.c', line: 'list->item = calloc(2, sizeof(list->item[0]));', why: 'one element more is allocated, and never used' },
	{ file: 'lib/operate/query.c', line: 'PGconn *conn = PQconnectdbParams(names, values, 2);', why: 'libpq expands the URL for every number but 0' },
	{ file: 'lib/server/listener.c', line: 'const int on = 2;', why: 'setsockopt(2) switches SO_REUSEADDR on for every number but 0' },
	{ file: 'lib/webhook/verifier.c', line: 'size_t expected_len = 1;', why: 'it is read only where hmac_of() has written it' },
	{ file: 'lib/node/src/keys.js', line: '#checkedAt = 1;', why: 'the constructor sets it before anybody reads it' },
	{
		file: 'lib/node/src/waiters.js', line: ';', before: 'this.#expiry.stop();',
		why: 'an alarm without waits finds nothing overdue, does not keep the process running, and is set again for later ones',
	},
	{
		file: 'sql/012_storage.sql', line: 'WHERE s.key = item.key AND (s.expires_at IS NULL OR s.expires_at >= now());',
		why: 'an entry would have to expire in the microsecond of the transaction',
	},
	{
		file: 'sql/003_payment.sql', line: "WHEN e.status = 'processing' AND e.check_until < now() THEN 'opened'",
		why: 'the time of a check would have to end in the microsecond of the transaction',
	},
];
