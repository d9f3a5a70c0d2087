// Instances in Node, in Python and in Go share the accounts of a vault: they refresh one at a time, open what the others have
// sealed, and run the scenarios of vault.json. README.md says what the steps mean.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

import { keyLine } from '../../lib/node/test/support/keys.js';
import { TokenEndpoint } from '../../lib/node/test/support/token-endpoint.js';
import { openFixture } from '../support/fixture.mjs';
import { until } from '../support/wait.mjs';
import { Driver } from './side.mjs';

/** SIDE=go: Go with each of the others, which the suite of Python has without it. */
const LANGUAGES = { go: ['go', 'node', 'python'], node: ['node'] }[process.env.SIDE] ?? ['node', 'python'];
const PAIRS = { go: [['go', 'node'], ['python', 'go']], node: [['node', 'node']] }[process.env.SIDE] ?? [['node', 'python'], ['python', 'node']];

let fixture;
let count = 0;

before(async () => {
	fixture = await openFixture({ name: 'vault-sides' });
});

after(() => fixture?.close());

const wordsOf = (...words) => words.filter(Boolean).join(' ');

function launch(language) {
	const heard = [];
	const onEvent = ({ name, reason }) => heard.push(wordsOf(name, reason));
	return Object.assign(new Driver(language, { name: `vault-${count += 1}`, env: fixture.stack.env, onEvent }), { heard });
}

/** A user, and instances in these languages, which may be running, with one vault. */
async function start(t, languages, running = []) {
	const endpoint = await TokenEndpoint.start(t);
	const subject = `user-${randomUUID()}`;
	const keys = keyLine(7);
	const killed = new Set();
	const open = async (language, content = keys, driver = launch(language)) => {
		if (!running.includes(driver)) t.after(() => killed.has(driver) || driver.end());
		assert.equal((await driver.begin('open_vault', { keys: content, issuer: endpoint.issuer }).end).error, undefined);
		return driver;
	};
	const drivers = await Promise.all(languages.map((language, n) => open(language, keys, running[n])));
	const ask = async (driver, verb, options) => {
		const { answer, error } = await driver.begin(verb, { subject, ...options }).end;
		return error ? wordsOf(error.code, error.reason) : answer;
	};
	const change = (text) => fixture.stack.sql(`UPDATE urlmode.account SET ${text} WHERE subject = $1`, [subject]);
	const expire = () => change("expires_at = now(), refreshed_at = now() - interval '1 hour', pause_until = NULL");
	const store = (driver, account = 'acme') => ask(driver, 'store', { account, tokens: endpoint.grant() });
	const token = async (driver) => {
		const answer = await ask(driver, 'access_token');
		return answer.access_token ?? answer;
	};
	/** The provider answers a refresh when it is told to. */
	const hold = () => {
		let answer;
		endpoint.instead = () => new Promise((resolve) => (answer = resolve));
		return { asked: () => until('it is asked', () => answer), answer: () => answer() };
	};
	const kill = (driver) => {
		killed.add(driver);
		return driver.kill();
	};
	return { endpoint, subject, keys, open, drivers, ask, change, expire, store, token, hold, kill };
}

test('a hundred calls at once on instances in all languages make one request to the token endpoint', async (t) => {
	const { endpoint, drivers, expire, store, token } = await start(t, [...LANGUAGES, ...LANGUAGES]);
	for (const [index, by] of drivers.slice(0, LANGUAGES.length).entries()) {
		endpoint.asked.length = 0;
		await store(by);
		await expire();
		endpoint.instead = () => sleep(500).then(() => false);
		const tokens = await Promise.all(Array.from({ length: 100 }, (_, n) => token(drivers[n % drivers.length])));
		assert.deepEqual([endpoint.asked, new Set(tokens)], [[`refresh-${2 * index + 1}`], new Set([`access-${2 * index + 2}`])]);
	}
});

for (const [one, other] of PAIRS) {
	test(`what ${one} has sealed opens in ${other}, also what it has sealed anew`, async (t) => {
		const { drivers: [first, second], keys, open, store, token } = await start(t, [one, other]);
		assert.equal(await store(first, 'zoë/✓'), 'zoë/✓');
		assert.equal(await token(second), 'access-1');
		const newest = keyLine(8) + keys;
		const [resealing, opening] = [await open(one, newest), await open(other, keyLine(9) + newest)];
		const { answer: sums } = await resealing.begin('reseal').end;
		assert.ok(sums.sealed >= 1, JSON.stringify(sums));
		assert.equal(await token(opening), 'access-1');
		assert.match(await token(second), /^ACCOUNT_SEAL .*has no key 8/);
	});

	test(`${one} dies in the middle of a refresh: ${other} sends the old token once more`, async (t) => {
		for (const rotates of [false, true]) {
			const { endpoint, drivers: [dying, living], change, expire, store, token, hold, kill } = await start(t, [one, other]);
			endpoint.rotates = rotates;
			await store(dying);
			await expire();
			const { asked, answer } = hold();
			void token(dying);
			await asked();
			await kill(dying);
			answer();
			endpoint.instead = undefined;
			await until('the provider is done', () => endpoint.alive.has('access-2'));
			await change('leased_until = now()');
			assert.match(await token(living), rotates ? /^ACCOUNT_RECONNECT invalid_grant$/ : /^access-3$/);
			assert.deepEqual(endpoint.asked, ['refresh-1', 'refresh-1']);
		}
	});

	test(`${other} disconnects while ${one} refreshes: what came is revoked`, async (t) => {
		const { endpoint, drivers: [first, second], ask, expire, store, token, hold } = await start(t, [one, other]);
		await store(first);
		await expire();
		const { asked, answer } = hold();
		const using = token(first);
		await asked();
		const ending = ask(second, 'disconnect');
		assert.equal(await Promise.race([ending, sleep(1_000, 'it waits')]), 'it waits');
		answer();
		assert.equal((await ending).revoked, true);
		await using;
		assert.deepEqual(endpoint.revoked, ['refresh-2', 'access-2']);
		assert.match(await token(first), /^ACCOUNT_NOT_CONNECTED/);
	});
}

const SCENARIOS = JSON.parse(readFileSync(new URL('vault.json', import.meta.url), 'utf8'));

/** Begins a call of the instance. What it answers is awaited and compared here, or by a later step where it has a name. */
async function call(run, verb, { by = 'a', as }, options, wanted) {
	const end = run.ask(run.instances[by], verb, options).then((answer) => answer?.access_token ?? answer);
	if (as) run.calls.set(as, end);
	else check(await end, wanted);
}

/** Each member that is wanted is there. An error that is wanted without a reason has any. */
function check(actual, wanted) {
	if (/^[A-Z_]+$/.test(wanted)) return assert.equal(String(actual).split(' ')[0], wanted);
	if (typeof wanted !== 'object' || wanted === null) return assert.equal(actual, wanted);
	if (Array.isArray(wanted)) assert.equal(actual.length, wanted.length, JSON.stringify(actual));
	for (const [name, member] of Object.entries(wanted)) check(actual[name], member);
}

const STEPS = {
	async store(run, { expires_in: expiresIn, ...more }, { account = 'acme', ...step }) {
		const tokens = Object.fromEntries(Object.entries({ ...run.endpoint.grant(expiresIn), ...more }).filter(([, value]) => value !== null));
		await call(run, 'store', step, { account, tokens }, account);
	},
	token: (run, wanted, step) => call(run, 'access_token', step, step.with, wanted),
	disconnect: (run, wanted, step) => call(run, 'disconnect', step, { account: step.account }, wanted),
	forget: (run, wanted, step) => call(run, 'forget', step, {}, wanted),
	accounts: (run, wanted, step) => call(run, 'accounts', step, {}, wanted),
	ends: async (run, wanted, { of }) => check(await run.calls.get(of), wanted),

	async pays(run) {
		const owner = { session: 's' };
		const { elicitation_id: id } = await run.ask(run.instances.a, 'create', {
			...owner, provider: 'stripe', kind: 'payment', target_url: 'http://localhost:9/pay', expected: { amount: 1050, currency: 'EUR' }, item: 'report:42' });
		run.paid = { ...owner, elicitation_id: id, reference: `cs_${randomUUID()}` };
		assert.equal(await run.ask(run.instances.a, 'complete', { ...run.paid, action: 'accept', amount: 1050, currency: 'EUR' }), true);
	},
	claims: async (run) => assert.equal(await run.ask(run.instances.a, 'claim', run.paid), true),

	endpoint(run, { holds, breaks, answers, alive, ...settings }) {
		const { endpoint } = run;
		Object.assign(endpoint, settings);
		if (alive) endpoint.alive = new Set(alive);
		run.release?.();
		endpoint.instead = undefined;
		if (holds) endpoint.instead = () => new Promise((resolve) => (run.release = resolve));
		if (breaks) endpoint.instead = (_request, response) => void response.destroy() ?? true;
		if (answers) endpoint.instead = (_request, _response, answer) => void answer(...answers) ?? true;
	},
	is_asked: ({ endpoint }, count) => until('it is asked', () => endpoint.asked.length === count),
	asked: ({ endpoint }, wanted) => assert.deepEqual(endpoint.asked, wanted),
	revoked: ({ endpoint }, wanted) => assert.deepEqual(endpoint.revoked, wanted),

	expires: ({ expire }) => expire(),
	sets: ({ change }, assignments) => change(assignments),
	async row({ subject }, wanted) {
		const [row] = await fixture.stack.sql('SELECT * FROM urlmode.account WHERE subject = $1', [subject]);
		check(row, wanted);
	},
	async heard({ instances: { a: { heard } } }, wanted) {
		await until('it is told', () => heard.length >= wanted.length);
		assert.deepEqual(heard, wanted);
	},
};

for (const [one, other] of PAIRS) {
	describe(`${one} with ${other}`, () => {
		const running = [];
		before(() => running.push(launch(one), launch(other)));
		after(() => Promise.all(running.map((driver) => driver.end())));

		for (const { name, steps } of SCENARIOS) {
			test(name, { timeout: 120_000 }, async (t) => {
				const started = await start(t, [one, other], running);
				const [a, b] = running;
				a.heard.length = 0;
				const run = { ...started, instances: { a, b }, calls: new Map() };
				for (const [index, step] of steps.entries()) {
					const [verb] = Object.keys(step);
					try {
						await STEPS[verb](run, step[verb], step);
					} catch (error) {
						error.message = `step ${index + 1}, ${JSON.stringify(step)}: ${error.message}`;
						throw error;
					}
				}
			});
		}
	});
}
