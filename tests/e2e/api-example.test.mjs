// The example in Python waits over HTTP, with nothing but Python's own library.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { after, before, test } from 'node:test';

import { openFixture } from '../support/fixture.mjs';
import { until } from '../support/wait.mjs';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const EXAMPLE = 'nginx/examples/wait.py';
const LINES_MAX = 64;

let fixture;

before(async () => {
	fixture = await openFixture({ name: 'api-example', own: true, env: { API: '1', USER_CHECK: 'confirm' } });
});

after(() => fixture?.close());

/** Starts the example and collects its output lines. */
function start(subject, env = {}) {
	const child = spawn('/usr/bin/python3', [EXAMPLE, subject], {
		cwd: ROOT, env: { ...process.env, ...fixture.stack.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'],
	});
	const lines = [];
	const said = [];
	createInterface({ input: child.stdout }).on('line', (line) => lines.push(line));
	createInterface({ input: child.stderr }).on('line', (line) => said.push(line));
	const ended = new Promise((resolve) => child.once('close', resolve));
	fixture.closeAtEnd({ close: async () => void child.kill('SIGKILL') });
	return {
		lines, said,
		async end(status = 0) {
			assert.equal(await ended, status, [...lines, ...said].join('\n'));
		},
		async url() {
			await until('it asks', () => lines.length + said.length > 0);
			return /^elicit with (\S+)$/.exec(lines[0])?.[1] ?? assert.fail([...lines, ...said].join('\n'));
		},
	};
}

const idOf = async (subject) => (await fixture.stack.sql('SELECT id FROM urlmode.elicitation WHERE subject = $1', [subject]))[0].id;

test(`the example has under ${LINES_MAX} lines`, () => {
	assert.ok(readFileSync(ROOT + EXAMPLE, 'utf8').trimEnd().split('\n').length < LINES_MAX);
});

test('the callback program completes the elicitation, and the example has its result and claims it', async () => {
	const subject = `user-${randomUUID()}`;
	const example = start(subject);
	const browser = fixture.browser();
	const page = await browser.open(await example.url());
	assert.match(page.text, /An example in Python/);
	const [{ action, fields }] = page.forms;
	const hop = await browser.send({
		url: new URL(action, page.url), method: 'POST', from: page,
		body: new URLSearchParams([...fields, ['answer', 'continue']]).toString(),
	});
	const state = new URL(hop.location).searchParams.get('state');
	const back = new URL(fixture.url('/oauth/demo/return'));
	back.search = new URLSearchParams({ code: 'SplxlOBeZQQYbYS6WxSbIA', iss: fixture.stack.env.URLMODE_DEMO_ISSUER, state });
	assert.equal((await browser.send({ url: back, from: { url: 'http://localhost:9/', headers: {} } })).location, '/done');
	await example.end();
	const [, json] = /^accept +(\{.*\})$/.exec(example.lines[1]) ?? assert.fail(example.lines.join('\n'));
	assert.equal(JSON.parse(json).code, 'SplxlOBeZQQYbYS6WxSbIA');
	assert.equal(example.lines[2], 'claimed');
	assert.equal(await fixture.urlmode.claim(await idOf(subject), { subject }), false, 'it is claimed by the example');
});

test('a refusal has no result', async () => {
	const example = start(`user-${randomUUID()}`);
	const browser = fixture.browser();
	await browser.submit(await browser.open(await example.url()), { button: 'refuse' });
	await example.end();
	assert.equal(example.lines[1], 'decline access_denied null');
});

test('an elicitation that nobody completes expires', async () => {
	const subject = `user-${randomUUID()}`;
	const example = start(subject);
	await example.url();
	const id = await idOf(subject);
	await fixture.stack.sql("UPDATE urlmode.elicitation SET expires_at = now() - interval '1 s' WHERE id = $1", [id]);
	await fixture.stack.sql("SELECT pg_notify('urlmode', $1)", [JSON.stringify({ id, status: 'pending' })]);
	await example.end();
	assert.equal(example.lines[1], 'cancel expired null');
});

/** What becomes of the api while the example waits, and then the outcome of a server in another language arrives. */
const BREAKS = {
	'the api is restarted': () => fixture.stack.service('restart', 'api'),
	'the connections of the api to PostgreSQL end': async () => {
		const ended = await fixture.stack.sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'api'");
		assert.ok(ended.length > 0);
	},
};

for (const [what, act] of Object.entries(BREAKS)) {
	test(`${what} while the example waits, and the outcome of a server in another language arrives`, async () => {
		const subject = `üser ${randomUUID()}`;
		const example = start(subject);
		await example.url();
		const id = await idOf(subject);
		await act();
		await fixture.urlmode.complete(id, { subject, action: 'accept', result: { text: 'ö "€" \\ \u{1f600}' } });
		await example.end();
		assert.deepEqual(JSON.parse(example.lines[1].slice('accept '.length).trim()), { text: 'ö "€" \\ \u{1f600}' });
	});
}

test('a wrong key is one sentence, and the status of an error', async () => {
	const example = start(`user-${randomUUID()}`, { URLMODE_API_KEY: `umk_${'A'.repeat(43)}` });
	await example.end(1);
	assert.deepEqual([example.lines, example.said.length], [[], 1]);
	assert.match(example.said[0], /^create: .*\.$/);
});
