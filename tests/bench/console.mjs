// How long a page of the console takes among ten million rows, through nginx and the program, one after the other, at the 99th percentile. And
// what its indexes cost a browser's return: `complete` with them and without them, in turns.
// (tests/sql/console.sql proves that its updates are heap-only.)
//
//     DEMO=0 CONSOLE=1 tests/stack/up, and . RUN_DIR/env; node tests/bench/console.mjs [ROWS [pages|returns]]
//
// Ten million rows need 14 GB of disk and ten minutes. PostgreSQL has to be on this machine. The rows stay: use a stack that is thrown away.

import { randomBytes, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { setTimeout as sleep } from 'node:timers/promises';

import { Console } from '../support/console.mjs';

const { Client } = createRequire(new URL('../../lib/node/package.json', import.meta.url))('pg');
const ROWS = Number(process.argv[2] ?? 10_000_000);
/** Both, if it does not say which. */
const [pages, returns] = ['pages', 'returns'].map((part) => [undefined, part].includes(process.argv[3]));
const BATCH = 200_000;
const SAMPLES = 300;
const COMPLETIONS = 1_000;
const ROUNDS = 31;
const MOST_MS = 200;
/** Of the median of the rounds: so much more may a completion take with the indexes. */
const MOST_RATIO = 1.02;
const INDEXES = ['elicitation_subject', 'elicitation_of_item'];

/**
 * Row n of $3; the last one is of a minute ago, the first of ninety days ago. Of a hundred, 85 are accounts, 14 payments, 1 approvals. Of the
 * payments five in fourteen are for one item, and one in a hundred was never claimed; one row in a hundred is of one user.
 */
const MADE = `SELECT n, md5('elicitation ' || n)::uuid AS id, now() - interval '1 minute' - ($3 - n) * interval '90 days' / $3 AS at, 'p' || n % 12 AS provider,
	CASE WHEN n % 100 < 85 THEN 'oauth' WHEN n % 100 < 99 THEN 'payment' ELSE 'approval' END AS kind,
	CASE n % 100 WHEN 86 THEN 'user-busy' ELSE 'user-' || n % ($3::bigint / 20 + 1) END AS subject,
	CASE WHEN n % 100 < 85 THEN NULL WHEN n % 100 BETWEEN 90 AND 94 THEN 'credits' ELSE 'report:' || n END AS item,
	n % 10000 BETWEEN 85 AND 100 AND n % 100 < 99 AS unclaimed
	FROM generate_series($1::bigint, $2::bigint) n`;
const FILLS = [
	`INSERT INTO urlmode.elicitation (id, provider, kind, subject, binding, requester, target_url, expected, checkout, item,
		status, action, created_at, opened_at, expires_at, completed_at, claimed_at)
	SELECT id, provider, kind, subject, substr(sha256(n::text::bytea), 1, 16), 'Bench', 'https://provider.example.com/' || repeat('x', 200),
		CASE kind WHEN 'payment' THEN '{"amount": 4200, "currency": "EUR"}'::jsonb END, CASE kind WHEN 'payment' THEN 'cs_' || n END, item,
		'completed', 'accept', at, at, at + interval '5 minutes', at + interval '1 minute', at FROM (${MADE}) made`,
	`INSERT INTO urlmode.payment (provider, reference, elicitation, checkout, amount, currency, matches, late, proven_at, claimed_at, held, subject, item)
	SELECT provider, 'pay_' || n, id, 'cs_' || n, 4200, 'EUR', true, false, at, CASE WHEN NOT unclaimed THEN at END, unclaimed AND n % 100 = 85, subject, item
	FROM (${MADE}) made WHERE kind = 'payment'`,
	`INSERT INTO urlmode.event (provider, identity, type, elicitation, received_at, action, request)
	SELECT provider, 'evt_' || n, 'type.' || n % 30, id, at, 'accept', md5(n::text) FROM (${MADE}) made WHERE kind = 'payment'`,
];
/** What waits, of each list more than is counted; and one elicitation with ten thousand events. Row 90 is a payment. */
const WAITING_ROWS = [
	`INSERT INTO urlmode.lease (elicitation, reference, fence, ends_at, fulfilled_at)
	SELECT elicitation, reference, 1, now() - interval '1 hour', proven_at FROM urlmode.payment WHERE claimed_at IS NULL AND NOT held LIMIT 3000`,
	`INSERT INTO urlmode.form (elicitation, expires_at, definition)
	SELECT md5('elicitation ' || n * 100 + 99)::uuid, now() + n * interval '1 minute', CASE WHEN n < 3000 THEN '\\x00'::bytea END FROM generate_series(0, 20000) n`,
	`INSERT INTO urlmode.unreadable_delivery (provider, digest, reason, place, request, times)
	SELECT 'p' || n % 12, substr(sha256(n::text::bytea), 1, 16), 'json_invalid', '', md5('u' || n), 3 FROM generate_series(1, 12000) n`,
	`INSERT INTO urlmode.unknown_event (provider, identity, type, effect, reference, amount, currency)
	SELECT 'p' || n % 12, 'unknown_' || n, 'type.1', 'paid', 'unknown_' || n, 4200, 'EUR' FROM generate_series(1, 10000) n`,
	`INSERT INTO urlmode.account (subject, provider, account, state, reason, scopes, requested, connected_at, tokens)
	SELECT 'user-' || n, 'p' || n % 12, 'account', CASE WHEN n % 50 = 0 THEN 'reconnect' ELSE 'connected' END, '', '{}', '{}', now() - n * interval '30 s', decode(repeat('00', 200), 'hex') FROM generate_series(1, 200000) n`,
	`INSERT INTO urlmode.event (provider, identity, type, elicitation, received_at, action, request)
	SELECT 'p6', 'long_' || n, 'type.' || n % 30, md5('elicitation 90')::uuid, now() - n * interval '1 minute', 'ignored', md5('l' || n) FROM generate_series(1, 10000) n`,
];

/** What the purge would have counted: each hour and day has each reason and type of each of twelve providers. */
const TIMES = `generate_series(0, 11) p, (
	SELECT 'hour' AS unit, date_trunc('hour', now(), 'UTC') - h * interval '1 hour' AS at FROM generate_series(0, 71) h
	UNION ALL SELECT 'day', date_trunc('day', now(), 'UTC') - d * interval '1 day' FROM generate_series(0, 39) d) t`;
const COUNTS = `INSERT INTO urlmode.ended_count (provider, unit, begins_at, kind, action, reason, number)
	SELECT 'p' || p, unit, at, 'oauth', 'accept', 'reason_' || r, 10 FROM ${TIMES}, generate_series(1, 10) r ON CONFLICT DO NOTHING;
	INSERT INTO urlmode.event_count (provider, unit, begins_at, type, action, number, last_at)
	SELECT 'p' || p, unit, at, 'type.' || y, 'accept', 10, at FROM ${TIMES}, generate_series(0, 29) y ON CONFLICT DO NOTHING`;

const admin = new Client({ connectionString: process.env.URLMODE_ADMIN_DATABASE_URL });
const programs = new Client({ connectionString: process.env.URLMODE_PROGRAMS_DATABASE_URL });
await Promise.all([admin.connect(), programs.connect()]);

const quantile = (all, part) => [...all].sort((a, b) => a - b)[Math.min(all.length - 1, Math.floor(all.length * part))];
const say = (name, text) => console.log(`${name.padEnd(34)} ${text}`);
let failed = false;

/** An index that is made at once takes a third of the time. */
async function fill() {
	const { rows: indexes } = await admin.query(`SELECT indexrelid::regclass::text AS name, pg_get_indexdef(indexrelid) AS made FROM pg_index
		WHERE indrelid = ANY ('{urlmode.elicitation, urlmode.payment, urlmode.event}'::regclass[]) AND NOT indisprimary`);
	for (const { name } of indexes) await admin.query(`DROP INDEX ${name}`);
	for (const rows of FILLS) for (let n = 1; n <= ROWS; n += BATCH) await admin.query(rows, [n, Math.min(ROWS, n + BATCH - 1), ROWS]);
	await admin.query("SET maintenance_work_mem = '1GB'");
	for (const { made } of indexes) await admin.query(made);
	await admin.query('VACUUM ANALYZE');
	for (const rows of WAITING_ROWS) await admin.query(rows);
	await admin.query(COUNTS);
	await admin.query('VACUUM ANALYZE');
}
const { rowCount: isThere } = await admin.query("SELECT FROM urlmode.elicitation WHERE id = md5('elicitation ' || $1)::uuid", [ROWS]);
if (isThere === 0) await fill();

const number = () => 1 + Math.floor(Math.random() * ROWS);
/** Of a payment. */
const paid = () => Math.min(ROWS, Math.floor(number() / 100) * 100 + 90);
const WAITING = ['unclaimed', 'held', 'undelivered', 'unreadable', 'unknown', 'approvals', 'reconnect'];
const find = (term) => `/console/search?${new URLSearchParams({ q: term })}`;
const show = async (n) => `/console/elicitation?${new URLSearchParams({ id: (await admin.query("SELECT md5('elicitation ' || $1)::uuid AS id", [n])).rows[0].id })}`;
const list = (filters) => `/console/list?${new URLSearchParams(filters)}`;
const day = () => new Date(Date.now() - Math.random() * 80 * 86_400_000).toISOString().slice(0, 10);
const PAGES = {
	overview: () => '/console/',
	'search, an id': () => find(randomUUID()),
	'search, a user': () => find(`user-${number() % Math.floor(ROWS / 20 + 1)}`),
	'search, the busiest user': () => find('user-busy'),
	'search, an item': () => find(`report:${Math.floor(paid() / 100) * 100 + 87}`),
	'search, the item of many': () => find('credits'),
	'search, a reference': () => find(`pay_${paid()}`),
	'search, a checkout': () => find(`cs_${paid()}`),
	'search, a request': () => find(randomBytes(16).toString('hex')),
	'search, nothing': () => find(`nobody ${number()}`),
	...Object.fromEntries(WAITING.map((what) => [`list, ${what}`, () => list({ what })])),
	'list, as CSV': () => list({ what: WAITING[number() % WAITING.length], format: 'csv' }),
	'list, from a day on': () => list({ what: 'unclaimed', since: day() }),
	'list, of one provider': () => list({ what: 'unclaimed', provider: `p${number() % 12}` }),
	'list, of no tenant': () => list({ what: 'unclaimed', tenant: 'nobody' }),
	providers: () => '/console/provider',
	provider: () => `/console/provider?name=p${number() % 12}`,
	elicitation: () => show(paid()),
	'elicitation, ten thousand events': () => show(90),
};
const site = new Console({ env: process.env });
const TYPES = /^(text\/html|text\/csv);/;
/** Processor time of a session of PostgreSQL so far, in ms: what else a busy machine does is not in it. */
const spentBy = (pid) => Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[0]) / 1e6;
const spent = async () => (await admin.query("SELECT pid FROM pg_stat_activity WHERE usename = 'urlmode_operator'")).rows.reduce((sum, { pid }) => sum + spentBy(pid), 0);
for (const [name, address] of pages ? Object.entries(PAGES) : []) {
	const took = [];
	const before = await spent();
	for (let n = 0; n < SAMPLES; n += 1) {
		const path = await address();
		const begun = performance.now();
		const { status, headers } = await site.ask(path);
		took.push(performance.now() - begun);
		// nginx lets fifty a second pass.
		await sleep(Math.max(0, 25 - took.at(-1)));
		if (status !== 200 || !TYPES.test(headers.get('content-type'))) throw new Error(`${path}: ${status}`);
	}
	const p99 = quantile(took, 0.99);
	if (p99 > MOST_MS) failed = true;
	const busy = (await spent() - before) / SAMPLES;
	say(name, `p50 ${quantile(took, 0.5).toFixed(1)} ms, p99 ${p99.toFixed(1)} ms, of the database's processor ${busy.toFixed(1)} ms${p99 > MOST_MS ? `: over ${MOST_MS} ms` : ''}`);
}

/** Of the session of the programs: so much a completion takes of its processor, in µs, and of the log, in bytes. */
async function completions() {
	const { rows } = await admin.query(`INSERT INTO urlmode.elicitation (id, provider, kind, subject, binding, requester, target_url, status, item, expires_at)
		SELECT gen_random_uuid(), 'p0', 'oauth', 'user-' || n, substr(sha256(n::text::bytea), 1, 16), 'Bench', 'https://provider.example.com/', 'opened', 'thing:' || n, now() + interval '1 hour'
		FROM generate_series(1, $1) n RETURNING id, binding`, [COMPLETIONS]);
	const { rows: [{ pid }] } = await programs.query('SELECT pg_backend_pid() AS pid');
	const written = async () => Number((await admin.query("SELECT pg_current_wal_insert_lsn() - '0/0' AS bytes")).rows[0].bytes);
	const [busy, wal] = [spentBy(pid), await written()];
	for (const { id, binding } of rows) {
		const { rows: [{ outcome }] } = await programs.query({ name: 'complete', text: 'SELECT * FROM urlmode.complete($1, $2, $3, $4, $5, $6, $7)',
			values: [[id], [binding], ['p0'], ['accept'], [''], [Buffer.alloc(200)], [null]] });
		if (outcome !== 'completed') throw new Error(`a completion has ended as ${outcome}`);
	}
	return { busy: (spentBy(pid) - busy) * 1_000 / COMPLETIONS, wal: (await written() - wal) / COMPLETIONS };
}

/** As if they were there, or were not: to make them takes minutes, and a round some seconds. Afterwards they lack rows. */
const setLive = (are) => admin.query(`UPDATE pg_index SET indislive = ${are} WHERE indexrelid IN (${INDEXES.map((name) => `'urlmode.${name}'::regclass`)});
	UPDATE pg_class SET relname = relname WHERE oid = 'urlmode.elicitation'::regclass`);

if (returns) {
	await programs.query('SET synchronous_commit = off');
	await admin.query('ALTER TABLE urlmode.elicitation SET (autovacuum_enabled = off)');
	const sides = { with: [], without: [] };
	for (let round = 0; round < ROUNDS; round += 1) {
		for (const side of round % 2 === 0 ? ['without', 'with'] : ['with', 'without']) {
			await setLive(side === 'with');
			sides[side].push(await completions());
		}
	}
	for (const [what, unit] of [['busy', 'µs of the processor'], ['wal', 'bytes of the log']]) {
		const ratios = sides.with.map((one, i) => one[what] / sides.without[i][what]);
		const ratio = quantile(ratios, 0.5);
		// Of the processor's time, the rounds differ by more.
		if (what === 'wal' && ratio > MOST_RATIO) failed = true;
		say('a completion', `${quantile(sides.with.map((one) => one[what]), 0.5).toFixed(0)} ${unit}, ${ratio.toFixed(3)} times as without the indexes (of ${ROUNDS} rounds, half between ${quantile(ratios, 0.25).toFixed(3)} and ${quantile(ratios, 0.75).toFixed(3)})`);
	}
}
await Promise.all([admin.end(), programs.end()]);
if (failed) process.exitCode = 1;
