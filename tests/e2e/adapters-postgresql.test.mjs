// Any program with a PostgreSQL client can wait: the examples in C and Python
// create an elicitation, listen, read the row, open the result and claim it.

import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { after, before, describe, test } from 'node:test';

import { BIN } from '../security/deployment.mjs';
import { openFixture } from '../support/fixture.mjs';
import { until } from '../support/wait.mjs';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const PROGRAM = `${ROOT}build/test/wait-example`;
const LINES_MAX = 64;

let fixture;

before(async () => {
	fixture = await openFixture({ name: 'postgresql' });
	mkdirSync(`${ROOT}build/test`, { recursive: true });
	// Built as its first lines describe, with the library of the programs that run here.
	execFileSync(process.env.CC ?? 'cc', ['-Wall', '-Wextra', '-Werror', '-Ilib/client', 'lib/client/examples/wait.c',
		path.join(BIN, '../liburlmode.a'), '-lpq', '-lcrypto', ...process.env.LIBRARY_FLAGS?.split(' ') ?? [],
		'-o', PROGRAM], { cwd: ROOT });
});

after(() => fixture?.close());

/** Starts an example and collects its output lines. */
function start(command, args, subject, env = {}) {
	const child = spawn(command, [...args, subject], {
		cwd: ROOT, env: { ...process.env, ...fixture.stack.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'],
	});
	const lines = [];
	for (const stream of [child.stdout, child.stderr]) {
		createInterface({ input: stream }).on('line', (line) => lines.push(line));
	}
	const ended = new Promise((resolve) => child.once('close', resolve));
	fixture.closeAtEnd({ close: async () => void child.kill('SIGKILL') });
	return {
		lines,
		ended,
		async url() {
			await until('it asks', () => lines.length > 0);
			return /^elicit with (\S+)$/.exec(lines[0])?.[1] ?? assert.fail(lines.join('\n'));
		},
	};
}

const rowOf = async (subject) => (await fixture.stack.sql(
	'SELECT id, status, action, reason FROM urlmode.elicitation WHERE subject = $1', [subject]))[0];

for (const [language, file, command] of [
	['C', 'lib/client/examples/wait.c', [PROGRAM]],
	['Python', 'lib/client/examples/wait.py', ['/usr/bin/python3', 'lib/client/examples/wait.py']],
]) {
	describe(language, { timeout: 90_000 }, () => {
		const run = (subject, env) => start(command[0], command.slice(1), subject, env);

		test(`the example has under ${LINES_MAX} lines`, () => {
			assert.ok(readFileSync(ROOT + file, 'utf8').trimEnd().split('\n').length < LINES_MAX);
		});

		test('the callback program completes the elicitation, and the example opens the result', async () => {
			const subject = `user-${randomUUID()}`;
			const example = run(subject);
			const url = await example.url();
			const browser = fixture.browser();
			const page = await browser.open(url);
			assert.match(page.text, new RegExp(`An example in ${language}`));
			const [{ action, fields }] = page.forms;
			const hop = await browser.send({
				url: new URL(action, page.url), method: 'POST', from: page,
				body: new URLSearchParams([...fields, ['answer', 'continue']]).toString(),
			});
			const state = new URL(hop.location).searchParams.get('state');
			const back = new URL(fixture.url('/oauth/demo/return'));
			back.search = new URLSearchParams({ code: 'SplxlOBeZQQYbYS6WxSbIA', iss: fixture.stack.env.URLMODE_DEMO_ISSUER, state });
			assert.equal((await browser.send({ url: back, from: { url: 'http://localhost:9/', headers: {} } })).location, '/done');
			assert.equal(await example.ended, 0, example.lines.join('\n'));
			const [, outcome, json] = /^(accept +)(\{.*\})$/.exec(example.lines[1]) ?? assert.fail(example.lines.join('\n'));
			assert.equal(outcome.trim(), 'accept');
			assert.equal(JSON.parse(json).code, 'SplxlOBeZQQYbYS6WxSbIA');

			assert.equal(example.lines[2], 'claimed');
			const { id } = await rowOf(subject);
			assert.equal(await fixture.urlmode.claim(id, { subject }), false, 'it is claimed by the example');
			const notes = await fixture.stack.sql(`
				SELECT extract(epoch FROM due_at - now()) AS due FROM urlmode.purge_queue WHERE $1 = ANY (ids) ORDER BY due_at`, [id]);
			assert.equal(notes.length, 3, 'of the read, of the claim, and of the completion');
			for (const { due } of notes.slice(0, 2)) assert.ok(due > 500 && due <= 600, `${due} s`);
		});

		test('a refusal has no result', async () => {
			const subject = `user-${randomUUID()}`;
			const example = run(subject);
			const browser = fixture.browser();
			await browser.submit(await browser.open(await example.url()), { button: 'refuse' });
			assert.equal(await example.ended, 0);
			assert.equal(example.lines[1], 'decline access_denied null');
		});

		test('Node completes an elicitation of the example', async () => {
			const subject = `üser ${randomUUID()}`;
			const example = run(subject);
			await example.url();
			const { id } = await rowOf(subject);
			await fixture.urlmode.complete(id, { subject, action: 'accept', result: { text: 'ö "€" \\ \u{1f600}' } });
			assert.equal(await example.ended, 0, example.lines.join('\n'));
			assert.deepEqual(JSON.parse(example.lines[1].slice('accept '.length).trim()), { text: 'ö "€" \\ \u{1f600}' });
		});

		test('an elicitation that nobody completes expires', async () => {
			const subject = `user-${randomUUID()}`;
			const example = run(subject);
			await example.url();
			const { id } = await rowOf(subject);
			await fixture.stack.sql("UPDATE urlmode.elicitation SET expires_at = now() - interval '1 s' WHERE id = $1", [id]);
			await fixture.stack.sql("SELECT pg_notify('urlmode', $1)", [JSON.stringify({ id, status: 'pending' })]);
			assert.equal(await example.ended, 0, example.lines.join('\n'));
			assert.equal(example.lines[1], 'cancel expired null');
		});

		test('a key that was added at the end of the file opens as well', async () => {
			const subject = `user-${randomUUID()}`;
			const file2 = `${ROOT}build/test/keys-${language}`;
			const current = readFileSync(fixture.stack.env.URLMODE_KEYS_FILE, 'latin1').trim();
			writeFileSync(file2, `# an older one stays for a while\n${current}\n7 ${Buffer.alloc(32, 7).toString('base64url')}\n`,
				{ mode: 0o600 });
			const example = run(subject, { URLMODE_KEYS_FILE: file2 });
			await example.url();
			const { id } = await rowOf(subject);
			await fixture.urlmode.complete(id, { subject, action: 'accept', result: { a: 1 } });
			assert.equal(await example.ended, 0, example.lines.join('\n'));
		});
	});
}

test('C: a lost connection is opened again, and the outcome arrives', { timeout: 60_000 }, async () => {
	const subject = `user-${randomUUID()}`;
	const example = start(PROGRAM, [], subject);
	await example.url();
	const { id } = await rowOf(subject);
	for (let round = 0; round < 3; round += 1) {
		await fixture.stack.sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'um_wait'");
		await until('it is back', async () => (await fixture.stack.sql(
			"SELECT FROM pg_stat_activity WHERE application_name = 'um_wait'")).length > 0);
	}
	await fixture.urlmode.complete(id, { subject, action: 'accept', result: { a: 1 } });
	assert.equal(await example.ended, 0, example.lines.join('\n'));
	assert.equal(example.lines[1], 'accept  {"a":1}');
});
