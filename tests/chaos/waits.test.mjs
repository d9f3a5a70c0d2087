// Three MCP servers with 10,000 waits each (WAITS=) are cut off from their database at the same
// time, while all rows are completed: each wait ends, with its outcome, soon after they are back.

import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

import { bindingOf } from '../../lib/node/src/core/token.js';
import { openFixture } from '../support/fixture.mjs';
import { until } from '../support/wait.mjs';
import { openProxy } from './proxy.mjs';

const WAITS = Number(process.env.WAITS ?? 10_000);
const SERVERS = ['one', 'two', 'three'];
const BATCH = 1_000;
const PATIENCE = { timeout: 180_000 };
/** Of each server: its pool, and the connection that listens. */
const CONNECTIONS_MAX = 5 * SERVERS.length;

let fixture;
let relay;
let servers;

before(async () => {
	fixture = await openFixture({ name: 'crowd', own: true });
	const url = new URL(fixture.stack.env.URLMODE_DATABASE_URL);
	relay = fixture.closeAtEnd(await openProxy({ host: '127.0.0.1', port: Number(url.port) }));
	url.port = relay.port;
	servers = SERVERS.map((name) => fork(new URL('crowd.mjs', import.meta.url), {
		env: { ...process.env, ...fixture.stack.env, URLMODE_DATABASE_URL: url.href, CROWD_COUNT: WAITS, CROWD_NAME: name },
	}));
});

after(async () => {
	servers?.forEach((server) => server.kill('SIGKILL'));
	await fixture?.close();
});

/** How many waits of each server have ended, and with what. */
function ask() {
	return Promise.all(servers.map(async (server) => {
		server.send('how many');
		return (await once(server, 'message'))[0];
	}));
}

test(`${SERVERS.length} servers with ${WAITS} waits each, cut off at once`, async (t) => {
	const rows = (await Promise.all(servers.map((server) => once(server, 'message')))).flatMap(([{ created }]) => created);
	assert.equal(rows.length, SERVERS.length * WAITS);
	const { target } = relay;
	relay.target = { host: '127.0.0.1', port: 1 };
	relay.reset();
	for (let n = 0; n < rows.length; n += BATCH) {
		const some = rows.slice(n, n + BATCH);
		await fixture.stack.sql(`SELECT urlmode.complete($1::uuid[], $2::bytea[], array_fill('demo'::text, ARRAY[$3::integer]),
			array_fill('decline'::text, ARRAY[$3::integer]), array_fill('access_denied'::text, ARRAY[$3::integer]), array_fill(NULL::bytea, ARRAY[$3::integer]))`,
		[some.map(({ id }) => id), some.map(({ subject }) => bindingOf(subject, '')), some.length]);
	}
	await sleep(2_000);
	assert.deepEqual((await ask()).map(({ count }) => count), SERVERS.map(() => 0));

	relay.target = target;
	const begin = performance.now();
	let connections = 0;
	await until('all waits have ended', async () => {
		const [{ n }] = await fixture.stack.sql("SELECT count(*)::integer AS n FROM pg_stat_activity WHERE usename = 'urlmode_server'");
		connections = Math.max(connections, n);
		return (await ask()).every(({ count }) => count === WAITS);
	}, PATIENCE);
	const took = (performance.now() - begin) / 1_000;
	t.diagnostic(`${rows.length} waits ended within ${took.toFixed(1)} s, over ${connections} connections at most`);
	for (const { reasons, open } of await ask()) assert.deepEqual({ reasons, open }, { reasons: { 'access_denied': WAITS }, open: 0 });
	assert.ok(connections <= CONNECTIONS_MAX, `${connections} connections`);
});
