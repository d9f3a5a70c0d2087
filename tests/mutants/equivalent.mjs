// Mistakes with which the program does the same, each with the line as the mistake leaves it; `before` is what the mistake
// changes, where the line does not tell.

export const EQUIVALENT = [
	{ file: 'lib/app/signin.c', line: ';', before: 'explicit_bzero(bytes, sizeof(bytes));', why: 'it wipes memory on the stack that nothing reads again' },
	{ file: 'lib/core/encode.c', line: ';', before: 'explicit_bzero(bytes, sizeof(bytes));', why: 'it wipes memory on the stack that nothing reads again' },
	{ file: 'lib/core/encode.c', line: 'uint8_t c[BLOCK], all = 1;', why: 'only the bits of NO_VALUE of it are read' },
	{ file: 'lib/description/scheme_load.c', line: 'list->item = calloc(2, sizeof(list->item[0]));', why: 'one element more is allocated, and never used' },
	{ file: 'lib/operate/query.c', line: ';', before: 'um_buf_free(&text);', why: 'the command ends right after it, which frees its memory' },
	{ file: 'lib/operate/query.c', line: ';', before: 'PQfinish(conn);', why: 'the command ends right after it, which closes the connection' },
	{
		file: 'lib/server/cgi.c', line: ';', before: 'um_store_run(store, false, um_monotonic_ms());',
		why: 'the deadline of a new store has passed, so that the loop runs it at once',
	},
	{ file: 'lib/server/loop.c', line: 'if (loop->alarm_at >= 0 && now + loop->alarm_at < 1000)', why: 'the alarm is put off at each turn, and not once a second' },
	{ file: 'lib/server/loop.c', line: ';', before: 'alarm(0);', why: 'the loop wakes up each second, and puts the alarm off by eleven' },
	{ file: 'lib/server/listener.c', line: 'const int on = 2;', why: 'setsockopt(2) switches SO_REUSEADDR on for every number but 0' },
	{ file: 'lib/core/file.c', line: 'if (n <= 0 && errno == EINTR)', why: 'write(2) returns 0 only where there is nothing to write' },
	{ file: 'lib/server/log.c', line: 'if (log->fd >= 1)', why: 'descriptor 0 is the socket or the body, and never a log' },
	{ file: 'lib/webhook/verifier.c', line: 'size_t expected_len = 1;', why: 'it is read only where hmac_of() has written it' },
	{ file: 'lib/node/src/core/metrics.js', line: 'this.#ended.set(name, (this.#ended.get(name) ?? 1) + 1);', why: 'each name is in the map from the beginning' },
	{ file: 'lib/node/src/core/keys.js', line: '#checkedAt = 1;', why: 'the constructor sets it before anybody reads it' },
	{ file: 'lib/node/src/core/connection.js', line: '#chosen = true;', why: 'the constructor sets it before anybody reads it' },
	{
		file: 'lib/node/src/core/connection.js', line: 'throw errors.find((error) => error instanceof NotWritableError) || errors[0];',
		why: 'what is found is an error, which is never falsy',
	},
	{
		file: 'lib/node/src/core/events.js', line: 'if (emitter.listenerCount(name) >= 0) process.nextTick(() => emitter.emit(name, event));',
		why: 'an event without listeners calls nobody',
	},
	{
		file: 'lib/node/src/core/database-url.js', line: 'return allowed.find((each) => each === value) || refuse(`has ${name}=${value}: supported are ${allowed.join(\', \')}`);',
		why: 'no value that is allowed is empty',
	},
	{ file: 'lib/node/src/core/keys.js', line: ';', before: 'this.#shared.set(purpose, key);', why: 'the same key is derived again, which only takes longer' },
	{ file: 'lib/node/src/core/link.js', line: "return Buffer.from(text.slice(0, 4), 'base64url')[1] || 0;", why: 'it is a number, 0 or not, or undefined' },
	{
		file: 'lib/node/src/core/listener.js', line: "if (error instanceof pg.DatabaseError && UNLISTENABLE_CLASSES.includes((error.code || '').slice(0, 2))) return false;",
		why: 'an empty code is as good as none',
	},
	{ file: 'lib/node/src/core/listener.js', line: 'return this.#connection?.listening || false;', why: 'it is true, false or undefined' },
	{
		file: 'lib/node/src/core/poll.js', line: 'if (performance.now() + delay <= this.#at) this.#schedule(delay);',
		why: 'it would be put off to the same time',
	},
	{ file: 'lib/node/src/core/ask-back.js', line: 'expected: expected || undefined,', why: 'it is an object, a text that is not empty, or null' },
	{
		file: 'lib/node/src/core/refund.js', line: 'reference: row.reference, amount: toNumber(row.amount), currency: row.currency || undefined,',
		why: 'it is a code of three letters, or null',
	},
	{
		file: 'lib/node/src/core/wait.js', line: "if (this.#state === 'settled') return true;",
		why: 'a promise that has been settled ignores that it is settled again',
	},
	{ file: 'lib/node/src/core/waits.js', line: 'for (const entry of this.#entries.get(id) || []) {', why: 'an array is never falsy' },
	{ file: 'lib/node/src/core/waits.js', line: 'const pause = Number(row.recheck_in_ms || 0);', why: 'it is a number in a text that is not empty, or null' },
	{
		file: 'lib/node/src/core/waits.js', line: ';', before: 'this.#expiry.stop();',
		why: 'an alarm without waits finds nothing overdue, does not keep the process running, and is set again for later ones',
	},
	{
		file: 'sql/functions/005_retention.sql', line: 'WHERE e.kind = purge_kind.kind AND e.expires_at < purge_kind.since',
		why: 'the retention would have to end in the microsecond of the transaction',
	},
	{
		file: 'sql/functions/014_vault.sql', line: 'WHEN a.leased_until IS NULL OR a.leased_until < now() THEN true',
		why: 'the lease would have to end in the microsecond of the transaction',
	},
	{
		file: 'sql/frameworks/functions/012_storage.sql', line: 'WHERE s.key = item.key AND (s.expires_at IS NULL OR s.expires_at >= now());',
		why: 'an entry would have to expire in the microsecond of the transaction',
	},
	{
		file: 'sql/functions/003_payment.sql', line: 'SELECT FROM urlmode.form f WHERE f.elicitation = is_check_due.elicitation AND f.check_until < now()',
		why: 'the time of a check would have to end in the microsecond of the transaction',
	},
	{
		file: 'lib/node/src/core/canonical-json.js', line: '.sort(([one], [other]) => (one < other ? -1 : 2));',
		why: 'sort() looks at the sign alone',
	},
];
