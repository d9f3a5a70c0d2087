// Purging among ten million rows: how long a batch takes, what completions
// notice of it meanwhile, and what autovacuum makes of the table.
//
//     make bench-build && node tests/bench/retention.mjs [ROWS]
//
// Half of the rows have been over for ninety days, the other half has not.

import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import pg from 'pg';

import { Bed } from './bed.mjs';
import { load } from './load.mjs';
import { FOLDER } from './paths.mjs';
import { quantiles } from './statistics.mjs';

const ROWS = Number(process.argv[2] ?? 10_000_000);
const LIVE = 60_000;
const ROUND = { rate: 2_000, count: 10_000 };
const VACUUM_TIMEOUT_S = 300;

/** A row of a minute ago is the last one. Of a hundred, 90 are accounts, 9 payments that were claimed, 1 documents. */
const ROW = `
	WITH made AS (
		SELECT gen_random_uuid() AS id, n, now() - interval '1 minute' - ($3 - n) * interval '210 days' / $3 AS at,
			CASE WHEN n % 100 < 90 THEN 'oauth' WHEN n % 100 < 99 THEN 'payment' ELSE 'signature' END AS kind
		FROM generate_series($1::integer, $2::integer) n
	), rows AS (
		INSERT INTO urlmode.elicitation (id, provider, kind, subject, binding, requester, target_url, expected,
			status, action, created_at, opened_at, expires_at, completed_at, claimed_at)
		SELECT id, 'demo', kind, 'user-' || n, substr(sha256(n::text::bytea), 1, 16), 'Bench',
			'https://provider.example.com/authorize?' || repeat('x', 200),
			CASE kind WHEN 'payment' THEN '"any"'::jsonb END,
			'completed', 'accept', at, at, at + interval '5 minutes', at + interval '1 minute', at + interval '2 minutes'
		FROM made
	), payments AS (
		INSERT INTO urlmode.payment (provider, reference, elicitation, amount, currency, matches, late, proven_at, claimed_at)
		SELECT 'demo', 'cs_live_' || md5(n::text) || n, id, 4200, 'EUR', true, false, at + interval '1 minute', at + interval '2 minutes'
		FROM made WHERE kind = 'payment'
	)
	INSERT INTO urlmode.event (provider, identity, type, elicitation, received_at, action)
	SELECT 'demo', 'evt_' || n, 'checkout.session.completed', id, at + interval '1 minute', 'accept'
	FROM made WHERE kind <> 'oauth'`;

const began = Date.now();
const say = (text) => process.stderr.write(`${String(Math.round((Date.now() - began) / 1_000)).padStart(5)} s  ${text}\n`);
const mb = (bytes) => `${Math.round(bytes / 1e6).toLocaleString('en')} MB`;
const ms = ({ p50, p99, max }) => `p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms, at most ${max.toFixed(1)} ms`;

const bed = await Bed.open(LIVE, { peers: false });
const operator = new pg.Client({ connectionString: bed.stack.env.URLMODE_OPERATOR_DATABASE_URL });
try {
	await bed.giveMemory('1GB');
	await operator.connect();
	await fill();
	let round = 0;
	const completions = async (name) => {
		const { rate, count } = ROUND;
		const range = { from: round * count, to: (round + 1) * count };
		const file = path.join(FOLDER, 'retention.requests');
		round += 1;
		await bed.writeReturns(file, range.from, range.to);
		await bed.fill('urlmode', { ...range, keep: true });
		const { classes: { 0: tally } } = await load({ port: bed.port, file, rate });
		say(`completions, ${rate.toLocaleString('en')} a second, ${name}: ${ms(tally)}`);
	};
	await completions('before');
	await report('before');
	const purging = purge();
	await sleep(2_000);
	await completions('while rows are purged');
	await completions('while rows are purged');
	const { batches, rows, seconds } = await purging;
	say(`purged ${rows.toLocaleString('en')} rows in ${Math.round(seconds)} s, ${Math.round(rows / seconds).toLocaleString('en')} a second`);
	say(`a batch of 1,000 of each kind: ${ms(quantiles(batches.slice(0, -1)))}; the last, which finds nothing: ${batches.at(-1).toFixed(0)} ms`);
	await vacuumed();
	await report('after autovacuum');
	await completions('after that');
	await bed.sql(ROW, [ROWS + 1, ROWS * 1.1, ROWS * 1.1]);
	await report(`after ${(ROWS / 10).toLocaleString('en')} more rows, which take the place of those`);
	say(`a purge with nothing to do: ${(await purge()).batches.at(-1).toFixed(0)} ms`);
} finally {
	await operator.end();
	await bed.close();
}

/** Without indexes, which are quicker built at once. */
async function fill() {
	const indexes = await bed.sql(`SELECT indexrelid::regclass AS name, pg_get_indexdef(indexrelid) AS definition FROM pg_index
		WHERE indrelid IN ('urlmode.elicitation'::regclass, 'urlmode.event'::regclass, 'urlmode.payment'::regclass) AND NOT indisprimary`);
	await bed.sql('ALTER TABLE urlmode.elicitation SET (autovacuum_enabled = false)');
	for (const { name } of indexes) await bed.sql(`DROP INDEX ${name}`);
	for (let from = 1; from <= ROWS; from += 1_000_000) {
		await bed.sql(ROW, [from, Math.min(ROWS, from + 999_999), ROWS]);
		say(`${Math.min(ROWS, from + 999_999).toLocaleString('en')} rows`);
	}
	for (const { definition } of indexes) await bed.sql(definition);
	await bed.sql('ALTER TABLE urlmode.elicitation RESET (autovacuum_enabled)');
	await bed.sql('VACUUM ANALYZE');
	await bed.sql('CHECKPOINT');
}

/** Calls purge until there is no more, as `urlmode purge` does. */
async function purge() {
	const begin = performance.now();
	const batches = [];
	let rows = 0;
	for (let taken = NaN; taken !== 0; rows += taken) {
		const at = performance.now();
		taken = (await operator.query('SELECT urlmode.purge()::integer AS taken')).rows[0].taken;
		batches.push(performance.now() - at);
	}
	return { batches, rows, seconds: (performance.now() - begin) / 1_000 };
}

/** Waits until autovacuum has been at the table since the last deletion. */
async function vacuumed() {
	const begin = Date.now();
	const dead = async () => (await bed.sql(`SELECT n_dead_tup::integer AS dead, autovacuum_count::integer AS count
		FROM pg_stat_user_tables WHERE relid = 'urlmode.elicitation'::regclass`))[0];
	for (;;) {
		const { dead: left, count } = await dead();
		const [{ running }] = await bed.sql(`SELECT count(*)::integer AS running FROM pg_stat_progress_vacuum
			WHERE relid = 'urlmode.elicitation'::regclass`);
		if ((count > 0 && running === 0 && left < ROWS / 50) || Date.now() - begin > VACUUM_TIMEOUT_S * 1_000) {
			say(`autovacuum was at it ${count} times, and left ${left.toLocaleString('en')} dead rows; waited ${Math.round((Date.now() - begin) / 1_000)} s`);
			return;
		}
		await sleep(1_000);
	}
}

async function report(when) {
	const [size] = await bed.sql(`SELECT pg_relation_size('urlmode.elicitation')::float AS rows,
		pg_indexes_size('urlmode.elicitation')::float AS indexes, pg_total_relation_size('urlmode.event')::float AS events,
		pg_total_relation_size('urlmode.payment')::float AS payments`);
	say(`${when}: elicitations ${mb(size.rows)} and indexes ${mb(size.indexes)}, events ${mb(size.events)}, payments ${mb(size.payments)}`);
}
