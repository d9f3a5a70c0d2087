// Everything at work for SECONDS= (an hour; 28,800 is a night): users connect accounts, pay, type keys, approve and sign, MCP
// servers in each language wait, and what is over is purged. Nothing grows: the memory, open files and connections of all processes,
// the notification queue, and what is logged of each elicitation. What was a while ago becomes as old as what is purged, and no row is left of it.

import assert from 'node:assert/strict';
import { readdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import { Lab } from '../chaos/lab.mjs';
import { PROGRAMS } from '../chaos/faults.mjs';
import { sender } from '../support/deliveries.mjs';
import { buildGo } from '../support/go.mjs';
import { openFiles, processes } from '../support/processes.mjs';

const SECONDS = Number(process.env.SECONDS ?? 3_600);
const SAMPLES = 16;
const EVERY = SECONDS / SAMPLES;
/** How long a row is kept, in seconds, before it is taken for an old one. */
const KEPT = SECONDS / 10;
const WEEK_MS = 7 * 86_400_000;

/** The programs of the MCP servers, as the kernel calls them. */
const SERVERS = { Node: /^node/, Python: /^python/, Go: /^waiting/ };

/**
 * By how much the least of the last quarter may be above the least of the second one: a part of it, and a number. A heap that is
 * collected goes up and down, so that its least counts.
 */
const GROWTH = {
	'program KiB': [0, 256], 'nginx KiB': [0, 512], 'PostgreSQL KiB': [0.1, 8_192],
	'Node KiB': [0.1, 4_096], 'Python KiB': [0.05, 2_048], 'Go KiB': [0.1, 2_048],
	'program files': [0, 2], 'nginx files': [0, 4], 'server files': [0, 2], connections: [0, 2], 'queue %': [0, 0.1],
	'log bytes each': [0.1, 64],
};

/** What stays: payments for ever, so that none is counted twice; accounts until they are disconnected; and what does not come with elicitations. */
const STAYS = ['payment', 'account', 'migration', 'purge_pass', 'counted', 'ended_count', 'event_count', 'uncounted_end', 'host', 'object'];

let lab;
let signing = true;

before(async () => {
	const hasGo = await buildGo('tests/waiting/go', fileURLToPath(new URL('../../build/go/waiting', import.meta.url)));
	lab = await Lab.open({ name: 'soak', seed: 1, languages: ['node', 'python', ...hasGo ? ['go'] : []] });
});

after(async () => {
	signing = false;
	await lab?.close();
});

/** One signs after the other. */
async function sign(outcomes) {
	const provider = sender(lab.fixture, 'docusign');
	for (let n = 0; signing; n += 1) {
		const owner = { subject: `signer-${n}` };
		const { elicitationId: id } = await lab.fixture.urlmode.create({
			...owner, provider: 'docusign', kind: 'signature', item: 'contract', targetUrl: 'https://provider.example/', ttl: 3_600_000,
		});
		const wait = lab.fixture.urlmode.waitForCompletion(id, { ...owner, timeout: 60_000 });
		wait.catch(() => {}); // heard of below
		const { status } = await provider.send(provider.event(id, 'paid'));
		assert.equal(status, 200);
		outcomes.push({ action: (await wait).action, claimed: await lab.fixture.urlmode.claim(id, owner) });
	}
}

/** What was completed a while ago, `kept` seconds or more, was completed long ago. */
async function letTimePass(kept = KEPT) {
	await lab.sql(`WITH old AS (
			UPDATE urlmode.elicitation e SET created_at = created_at - interval '200 days', expires_at = expires_at - interval '200 days',
				opened_at = opened_at - interval '200 days', completed_at = completed_at - interval '200 days',
				claimed_at = claimed_at - interval '200 days'
			WHERE e.status = 'completed' AND e.completed_at BETWEEN now() - interval '100 days' AND now() - $1 * interval '1 second'
			RETURNING e.id)
		UPDATE urlmode.payment p SET proven_at = proven_at - interval '200 days', claimed_at = claimed_at - interval '200 days'
		FROM old WHERE p.elicitation = old.id`, [kept]);
	await lab.sql(`UPDATE urlmode.purge_queue SET due_at = due_at - interval '200 days'
		WHERE due_at BETWEEN now() - interval '100 days' AND now() + interval '1 day' - $1 * interval '1 second'`, [kept]);
	await lab.sql(`UPDATE urlmode.ledger SET entered_at = entered_at - interval '500 days'
		WHERE entered_at BETWEEN now() - interval '100 days' AND now() - $1 * interval '1 second'`, [kept]);
	await lab.sql("UPDATE urlmode.purge_pass SET since = '-infinity', expires_at = '-infinity'");
	while (await lab.fixture.urlmode.purge({ olderThan: WEEK_MS }) > 0);
}

/** Of one process: what is no file's, in KiB, and how many files it has open. 0 where it has ended meanwhile. */
async function sizeOf({ pid }) {
	const rollup = await readFile(`/proc/${pid}/smaps_rollup`, 'utf8').catch(() => '');
	return { memory: Number(/^Pss_Anon:\s+(\d+) kB$/m.exec(rollup)?.[1] ?? 0), files: (await openFiles(pid)).length };
}

/** How many rows each table has whose rows go at some time. */
async function countRows() {
	const tables = await lab.sql(`SELECT relname, oid::regclass AS name FROM pg_class
		WHERE relnamespace IN ('urlmode'::regnamespace, 'urlmode_frameworks'::regnamespace) AND relkind = 'r' AND relname <> ALL ($1)`, [STAYS]);
	const [counts] = await lab.sql(`SELECT ${tables.map(({ relname, name }) => `(SELECT count(*)::integer FROM ${name}) AS ${relname}`).join(', ')}`);
	return counts;
}

async function measure(logged) {
	const all = await processes();
	const below = (parent) => all.filter((each) => each.parent === parent);
	const sizes = (list) => Promise.all(list.map(sizeOf));
	const largest = (list, name) => Math.max(0, ...list.map((each) => each[name]));
	const programs = (await Promise.all(PROGRAMS.map(async (name) => sizes(below(await lab.stack.pid(name)))))).flat();
	const nginx = await sizes(below(await lab.stack.pid('nginx')));
	const postgres = await sizes(below(await lab.stack.pid('postgres')));
	const servers = await Promise.all(Object.values(SERVERS).map((name) => sizes(below(process.pid).filter(({ command }) => name.test(command)))));
	const rows = Object.values(await countRows()).reduce((sum, count) => sum + count, 0);
	const [state] = await lab.sql(`SELECT (SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()) AS connections, 100 * pg_notification_queue_usage() AS queue,
		(SELECT count(*) FROM urlmode.payment) AS payments, pg_total_relation_size('urlmode.payment') AS payment_bytes`);
	const folder = path.join(lab.stack.runDir, 'log');
	const files = await Promise.all((await readdir(folder)).map((name) => stat(path.join(folder, name))));
	const now = { bytes: files.reduce((sum, { size }) => sum + size, 0), stories: lab.users.acknowledged };
	// More users come at one time than at another.
	const each = (number) => number / Math.max(1, now.stories - logged.stories);
	const bytesEach = each(now.bytes - logged.bytes);
	Object.assign(logged, now);
	return {
		done: now.stories, 'program KiB': largest(programs, 'memory'), 'nginx KiB': largest(nginx, 'memory'),
		'PostgreSQL KiB': postgres.reduce((sum, { memory }) => sum + memory, 0),
		...Object.fromEntries(Object.keys(SERVERS).map((name, n) => [`${name} KiB`, largest(servers[n], 'memory')])),
		'program files': largest(programs, 'files'), 'nginx files': largest(nginx, 'files'), 'server files': largest(servers.flat(), 'files'),
		connections: Number(state.connections), 'queue %': Number(state.queue), rows,
		'log bytes each': Math.round(bytesEach),
		payments: Number(state.payments), 'payment bytes': Number(state.payment_bytes),
	};
}

test(`nothing grows in ${SECONDS} s`, async (t) => {
	const signed = [];
	await lab.warmUp();
	const signer = sign(signed);
	signer.catch(() => {}); // heard of where it is awaited
	const samples = [];
	const logged = { bytes: 0, stories: 0 };
	const begin = performance.now();
	await measure(logged);
	for (let n = 1; n <= SAMPLES; n += 1) {
		do {
			await letTimePass();
			await sleep(Math.min(EVERY * 1_000, 10_000));
		} while (performance.now() < begin + n * EVERY * 1_000);
		samples.push(await measure(logged));
		if (n === 1) t.diagnostic(['s', ...Object.keys(samples[0])].join(' | '));
		t.diagnostic([Math.round((performance.now() - begin) / 1_000), ...Object.values(samples.at(-1))].join(' | '));
	}
	signing = false;
	await lab.users.stop();
	await signer;

	const quarter = SAMPLES / 4;
	const least = (name, first) => Math.min(...samples.slice(first, first + quarter).map((sample) => sample[name]));
	const grown = Object.entries(GROWTH)
		.map(([name, [part, number]]) => ({ name, from: least(name, quarter), to: least(name, 3 * quarter), part, number }))
		.filter(({ from, to, part, number }) => to > from * (1 + part) + number);
	const [first, last] = [samples[quarter], samples.at(-1)];
	t.diagnostic(`the table of payments has ${Math.round((last['payment bytes'] - first['payment bytes']) / (last.payments - first.payments))} bytes more `
		+ `for each of ${last.payments - first.payments} payments`);
	assert.deepEqual(grown, []);

	// How many rows there are depends on how many users came last. When all of it is old, none is left, but perhaps the last entry of the queue.
	await letTimePass(0);
	assert.deepEqual(Object.entries(await countRows()).filter(([name, count]) => count > (name === 'purge_queue' ? 1 : 0)), []);

	const kinds = new Set(lab.users.stories.map(({ name }) => name));
	t.diagnostic(`${lab.users.stories.length} elicitations (${[...kinds].join(', ')}), and ${signed.length} signatures`);
	const wrong = [];
	for (const { id, name, expected, waits, claims } of lab.users.stories) {
		const outcomes = await Promise.all(waits);
		const isRight = outcomes.every(({ action, code }) => action === expected.action && (!expected.detail || code === expected.detail));
		const claimed = (await claims ?? []).filter((claim) => claim.claimed).length;
		if (!isRight || name === 'pay' && claimed !== 1) wrong.push({ id, name, outcomes, claimed });
	}
	assert.deepEqual(wrong, []);
	assert.ok(signed.length > 0);
	assert.deepEqual(signed.filter(({ action, claimed }) => action !== 'accept' || !claimed), []);
});
