// The use of a day (COUNT=, 24,000 elicitations) in 24 portions, between which the database's clock goes two days on, so that
// the purge deletes rows older than seven days while more come: how many rows there are, how much room they take with
// autovacuum, and how long an elicitation takes, at the beginning, when the first rows have gone, and at the end.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { Callback } from '../../lib/node/test/support/database.js';
import { until } from '../support/wait.mjs';
import { Lab } from './lab.mjs';

const COUNT = Number(process.env.COUNT ?? 24_000);
const PORTIONS = 24;
/** From then on, as many rows go as come. */
const STEADY = 8;
const DAY = 86_400;
const STEP = 2 * DAY;
const KEPT = 7 * DAY;
const AT_ONCE = 4;
/** Of the room at the end, in relation to that of the first portion with as many rows. */
const GROWTH = 1.5;

let lab;

before(async () => {
	lab = await Lab.open({ name: 'day', seed: 1, languages: ['node'] });
	await lab.sql("ALTER SYSTEM SET autovacuum_naptime = '1s'");
	await lab.sql('SELECT pg_reload_conf()');
});

after(() => lab?.close());

/** One that a user declines, or lets expire. */
async function live(callback, n) {
	const begin = performance.now();
	const { elicitationId: id } = await lab.fixture.urlmode.create({
		subject: `user-${n}`, provider: 'demo', kind: 'oauth', targetUrl: 'https://provider.example/', ttl: 3_600_000,
	});
	if (n % 5 === 0) return undefined;
	const wait = lab.fixture.urlmode.waitForCompletion(id, { subject: `user-${n}`, timeout: 60_000 });
	await callback.open(id, { subject: `user-${n}` });
	await callback.complete(id, { subject: `user-${n}`, action: 'decline', reason: 'access_denied' });
	assert.equal((await wait).action, 'decline');
	return performance.now() - begin;
}

/** The table of elicitations with its indexes. */
async function size() {
	const [row] = await lab.sql(`SELECT count(*)::integer AS rows, pg_total_relation_size('urlmode.elicitation')::integer AS bytes,
		(SELECT n_dead_tup::integer FROM pg_stat_user_tables WHERE relid = 'urlmode.elicitation'::regclass) AS dead,
		(SELECT autovacuum_count::integer FROM pg_stat_user_tables WHERE relid = 'urlmode.elicitation'::regclass) AS vacuums
		FROM urlmode.elicitation`);
	return row;
}

test(`${COUNT} elicitations over ${PORTIONS * STEP / DAY} days, of which ${KEPT / DAY} are kept`, async (t) => {
	const { URLMODE_ADMIN_DATABASE_URL: url, URLMODE_KEYS_FILE: keys } = lab.stack.env;
	const callbacks = await Promise.all(Array.from({ length: AT_ONCE }, () => Callback.start(t, url, keys)));
	const portions = [];
	t.diagnostic('portion    rows    KiB   dead rows  autovacuums   p50 in ms');
	for (let portion = 1; portion <= PORTIONS; portion += 1) {
		lab.control.setClockAhead(portion * STEP);
		const times = [];
		await Promise.all(callbacks.map(async (callback, first) => {
			for (let n = first; n < COUNT / PORTIONS; n += AT_ONCE) times.push(await live(callback, n));
		}));
		await lab.fixture.purgeResults();
		while (await lab.fixture.urlmode.purge({ olderThan: KEPT * 1_000 }) > 0);
		const { vacuums: before } = portions.at(-1) ?? { vacuums: 0 };
		// In a day it comes between any two portions.
		if (portion > STEADY) await until('autovacuum has come', async () => (await size()).vacuums > before, { timeout: 30_000 }).catch(() => {});
		const lived = times.filter((time) => time !== undefined).sort((one, other) => one - other);
		const this_ = { ...await size(), p50: lived[Math.floor(lived.length / 2)] };
		portions.push(this_);
		t.diagnostic([portion, this_.rows, Math.round(this_.bytes / 1_024), this_.dead, this_.vacuums, this_.p50.toFixed(1)]
			.map((value, n) => String(value).padStart([7, 8, 7, 12, 13, 12][n])).join(''));
	}
	const [steady, last] = [portions[STEADY - 1], portions.at(-1)];
	assert.ok(last.vacuums > 0, 'autovacuum has never come');
	assert.ok(last.rows <= steady.rows, `${steady.rows} rows, then ${last.rows}`);
	assert.ok(last.bytes <= GROWTH * steady.bytes, `${steady.bytes} bytes, then ${last.bytes}`);
});
