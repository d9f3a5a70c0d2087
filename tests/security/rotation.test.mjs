// Keys are rotated while requests come: by SIGHUP, as systemd sends it, by
// SIGUSR2, which multiwatch passes on to its programs, and without a signal.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { after, before, describe, test } from 'node:test';

import { comeBack, press, stateOf } from '../support/flow.mjs';
import { request } from '../support/http.mjs';
import { openFixture } from '../support/fixture.mjs';
import { occurrences, whyUnreadable } from '../support/memory.mjs';
import { until } from '../support/wait.mjs';
import { PROGRAMS } from './deployment.mjs';

const WORKERS = 4;

let fixture;
let lines; // of the keys file
let written; // what each program had said of keys before the file was written last

before(async () => {
	fixture = await openFixture({ name: 'rotation', own: true });
	lines = (await readFile(fixture.stack.env.URLMODE_KEYS_FILE, 'utf8')).trim().split('\n');
});

after(() => fixture?.close());

const newKey = (kid) => `${kid} ${randomBytes(32).toString('base64')}`;

async function write(wanted) {
	lines = wanted;
	written = await count('');
	await writeFile(fixture.stack.env.URLMODE_KEYS_FILE, `${lines.join('\n')}\n`);
}

const notices = async () => (await fixture.stack.programLog()).filter(({ notice }) => notice).map(({ program, notice }) => [program, notice]);

/** How often each program has said this of keys, after so many other words on them. */
async function count(what, after = PROGRAMS.map(() => 0)) {
	const said = (await notices()).filter(([, text]) => /key/.test(text));
	return PROGRAMS.map((name, index) => said.filter(([program]) => program === name).slice(after[index]).filter(([, text]) => text.includes(what)).length);
}

/** Has every program read the keys again, and waits until each of them said `what`. */
async function reload(signal, what = 'the keys were read again') {
	const before = signal === WAYS['no signal'] ? written : await count('');

	for (const name of PROGRAMS) {
		await signal(name);
	}
	await until('every program has read the keys', async () => (await count(what, before)).every((times) => times > 0));
}

const WAYS = {
	'SIGHUP, to the program': async (name) => process.kill((await fixture.stack.program(name)).pid, 'SIGHUP'),
	'SIGUSR2, to its multiwatch': async (name) => process.kill(await fixture.stack.pid(name), 'SIGUSR2'),
	'no signal': () => {},
};

const kidOf = (token) => Buffer.from(token, 'base64url')[1];
const confirmState = ({ document }) => document.forms[0].fields.find(([name]) => name === 'state')[1];

/** An elicitation, made with the key on top: the SDK looks at the file once a second. */
function created() {
	return until('the SDK has the key', async () => {
		const elicitation = await fixture.create();
		return kidOf(stateOf(elicitation.url)) === Number(lines[0].split(' ')[0]) && elicitation;
	});
}

/** Asks for a page again and again until `stop`, which answers what was answered. */
function load(url) {
	const statuses = new Map();
	let stopped = false;
	const workers = Array.from({ length: WORKERS }, async () => {
		while (!stopped) {
			const status = await request(url).then((answer) => answer.status, ({ code }) => code);
			statuses.set(status, (statuses.get(status) ?? 0) + 1);
		}
	});
	return async () => {
		stopped = true;
		await Promise.all(workers);
		return statuses;
	};
}

for (const [way, signal] of Object.entries(WAYS)) {
	describe(way, () => {
		let old; // made with the key before

		test('a key that was added on top mints at once, and no request is dropped', async (t) => {
			old = await created();
			const processes = await Promise.all(PROGRAMS.map((name) => fixture.stack.program(name)));
			const [oldKid] = lines.map((line) => Number(line.split(' ')[0]));
			assert.equal(kidOf(stateOf(old.url)), oldKid);
			const stop = load(old.url);
			t.after(stop);

			await until('there is some load', async () => (await request(old.url)).status === 200);
			await write([newKey(oldKid + 1), ...lines]);
			await reload(signal);
			assert.equal(kidOf(confirmState(await request(old.url))), oldKid + 1, 'the page’s state has the new key');
			for (let i = 0; i < 20; i++) {
				await request(old.url);
			}
			assert.deepEqual([...(await stop()).keys()], [200]);
			assert.deepEqual(await Promise.all(PROGRAMS.map((name) => fixture.stack.program(name))), processes, 'the same processes');
		});

		test('what was made with the key before it still opens, to its end', async () => {
			const browser = fixture.browser();
			const hop = await press(browser, await browser.open(old.url), 'continue');
			const back = new URL(old.returnUrl);
			back.search = new URLSearchParams({ code: 'c', iss: fixture.stack.env.URLMODE_DEMO_ISSUER, state: stateOf(hop.location) });
			assert.equal((await comeBack(browser, back)).location, '/done');
			assert.equal((await fixture.urlmode.waitForCompletion(old.id, old.owner)).result.code, 'c');
		});

		test('the SDK mints with it without a signal', async () => {
			await created();
		});

		test('a key that was dropped opens nothing', async () => {
			const before = await created();
			const [top] = lines;
			assert.equal((await request(before.url)).status, 200);

			await write([newKey(Number(top.split(' ')[0]) + 1)]);
			await reload(signal);
			const untouched = await fixture.row(before.id);
			const answer = await request(before.url);
			assert.deepEqual([answer.status, answer.reason], [400, 'state_invalid']);
			assert.equal(await fixture.row(before.id), untouched);
			const line = await until('the request is in the log', async () => (
				(await fixture.stack.programLog()).find(({ request: id }) => id === answer.headers['x-request-id'])));
			assert.equal(line.reason, 'unknown_key', 'which whoever reads the page does not learn');
		});

		test('a key that was dropped is no longer in a program’s memory', async (t) => {
			const [secret] = lines.map((line) => Buffer.from(line.split(' ')[1], 'base64'));
			const { pid } = await fixture.stack.program('connect');
			const denied = await whyUnreadable(pid);
			if (denied) {
				t.skip(denied);
				return;
			}
			assert.equal(await occurrences(pid, secret), 1, 'the key that is there is found, once');

			await write([newKey(Number(lines[0].split(' ')[0]) + 1)]);
			await reload(signal);
			assert.equal(await occurrences(pid, secret), 0);
			assert.equal(await occurrences(pid, Buffer.from(secret.toString('base64').slice(0, 24))), 0, 'nor as text');
		});
	});
}

describe('a keys file that is not good', () => {
	test('one that is gone: every program says so by itself, and has the keys still', async () => {
		const file = fixture.stack.env.URLMODE_KEYS_FILE;
		const { url } = await created();
		written = await count('');
		await rename(file, `${file}.gone`);
		await reload(WAYS['no signal'], 'No such file');
		assert.equal((await request(url)).status, 200);
		assert.equal(JSON.parse((await request(fixture.url('/healthz'))).body).keys, 'refused');
		assert.equal(((await request(fixture.url('/metrics'))).body.match(/^urlmode_keys_refused\{.*\} 1$/gm)).length, PROGRAMS.length);

		written = await count('');
		await rename(`${file}.gone`, file);
		await reload(WAYS['no signal']);
		assert.equal(JSON.parse((await request(fixture.url('/healthz'))).body).keys, undefined);
	});

	for (const [what, text, reason] of [
		['no key', '# nothing\n', 'no key in it'],
		['a key that is too short', '9 c2hvcnQ=\n', 'the key is under'],
		['a line that is none', 'secret-that-must-not-be-logged\n', 'not `<kid>'],
	]) {
		test(`${what}: the keys stay as they were, and the log says why, without what stands in it`, async () => {
			const good = lines;
			const { url } = await created();
			await write([text]);
			await reload(WAYS['SIGHUP, to the program'], reason);
			assert.equal((await request(url)).status, 200);
			const health = await request(fixture.url('/healthz'));
			assert.deepEqual([health.status, JSON.parse(health.body).keys], [200, 'refused']);
			assert.ok(!JSON.stringify(await notices()).includes('secret-that-must-not-be-logged'));

			await write(good);
			await reload(WAYS['SIGHUP, to the program']);
			assert.equal(JSON.parse((await request(fixture.url('/healthz'))).body).keys, undefined);
		});
	}
});
