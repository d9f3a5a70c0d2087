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

function launch(language, settings = {}) {
	const heard = [];
	const onEvent = ({ name, reason }) => heard.push(wordsOf(name, reason));
	return Object.assign(new Driver(language, { name: `vault-${count += 1}`, env: fixture.stack.env, settings, onEvent }), { heard });
}

/** A user, and instances in these languages, which may be running, with one vault. */
async function start(t, languages, running = [], settings = {}, tenants = []) {
	const endpoint = await TokenEndpoint.start(t);
	const subject = `user-${randomUUID()}`;
	const keys = keyLine(7);
	const killed = new Set();
	const open = async (language, content = keys, driver = launch(language)) => {
		if (!running.includes(driver)) t.after(() => killed.has(driver) || driver.end());
		assert.equal((await driver.begin('open_vault', { keys: content, issuer: endpoint.issuer, ...settings }).end).error, undefined);
		return driver;
	};
	const drivers = await Promise.all(languages.map((language, n) => open(language, keys, running[n] ?? launch(language, tenants[n] === undefined ? {} : { tenant: tenants[n] }))));
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

	test(`of two tenants, ${one} and ${other} each have their own accounts, and share those of one`, async (t) => {
		const { drivers: [first, second, third], subject, ask, store, token } = await start(t, [one, other, other], [], {}, ['acme', 'south', 'acme']);
		await store(first);
		assert.deepEqual([await token(second), await ask(second, 'accounts'), await ask(second, 'disconnect', { account: 'acme' })],
			['ACCOUNT_NOT_CONNECTED', [], 'ACCOUNT_NOT_CONNECTED']);
		assert.equal(await token(third), 'access-1');
		await store(second);
		assert.deepEqual([await token(first), await token(second), await token(third)], ['access-1', 'access-2', 'access-1']);
		const rows = () => fixture.stack.sql("SELECT tenant FROM urlmode.account WHERE subject LIKE '%' || $1 ORDER BY tenant", [subject]);
		assert.deepEqual((await rows()).map(({ tenant }) => tenant), ['acme', 'south']);
		// What is sealed for the one does not open for the other.
		await fixture.stack.sql("UPDATE urlmode.account a SET tokens = b.tokens FROM urlmode.account b WHERE a.subject = 'south\x1f' || $1 AND b.subject = 'acme\x1f' || $1", [subject]);
		assert.match(await token(second), /^ACCOUNT_SEAL/);
		assert.deepEqual((await ask(third, 'accounts')).map(({ account }) => account), ['acme']);
		assert.equal(first.heard.includes('connected'), true);
		await ask(second, 'forget');
		assert.deepEqual([(await rows()).map(({ tenant }) => tenant), await token(first)], [['acme'], 'access-1']);
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

	for (const [kind, reuse, end] of [
		['takes the token again for a while: at once', 60, 'access-3'], ['is not known: ten seconds later', undefined, 'access-3'],
		['ends everything at a second use: never', 'never', 'ACCOUNT_RECONNECT refresh_lost'],
	]) {
		test(`${one} dies after it has sent the token, and the provider ${kind} ${other} sends it`, async (t) => {
			const settings = reuse && { reuse_within: reuse };
			const { endpoint, drivers: [dying, living], change, expire, store, token, hold, kill } = await start(t, [one, other], [], settings);
			endpoint.rotates = false;
			await store(dying);
			await expire();
			const { asked, answer } = hold();
			void token(dying);
			await asked();
			await kill(dying);
			answer();
			endpoint.instead = undefined;
			const waiting = token(living);
			if (reuse !== 60) assert.equal(await Promise.race([waiting, sleep(2_000, 'it waits')]), 'it waits');
			if (reuse === undefined) await change("gone_at = gone_at - interval '10 seconds'");
			if (reuse === 'never') await change('leased_until = now()');
			assert.equal(await waiting, end);
			assert.deepEqual(endpoint.asked, reuse === 'never' ? ['refresh-1'] : ['refresh-1', 'refresh-1']);
		});
	}

	test(`a provider that forgives for a few seconds does not answer ${one} and ${other}: within that time the token is sent again`, async (t) => {
		for (const first of [0, 1]) {
			const { endpoint, drivers, expire, store, token } = await start(t, [one, other], [], { reuse_within: 8 });
			endpoint.rotates = false;
			await store(drivers[0]);
			await expire();
			let passed = -performance.now();
			endpoint.instead = () => {
				endpoint.instead = () => void (passed += performance.now());
				return new Promise(() => {});
			};
			assert.equal(await token(drivers[first]), 'access-2');
			assert.deepEqual(endpoint.asked, ['refresh-1', 'refresh-1']);
			assert.ok(passed < 25_000, `and not after the limit of any request: ${passed} ms`);
		}
	});

	test(`${one} is frozen after it has sent the token: ${other} does not send it, and waits for what comes`, async (t) => {
		const { endpoint, drivers: [frozen, living], expire, store, token, hold } = await start(t, [one, other]);
		await store(frozen);
		await expire();
		const { asked, answer } = hold();
		const late = token(frozen);
		await asked();
		frozen.signal('SIGSTOP');
		answer();
		endpoint.instead = undefined;
		const waiting = token(living);
		const meanwhile = await Promise.race([waiting, sleep(2_000, 'it waits')]);
		frozen.signal('SIGCONT');
		assert.equal(meanwhile, 'it waits');
		assert.deepEqual([await late, await waiting, endpoint.asked], ['access-2', 'access-2', ['refresh-1']]);
	});

	for (const [kind, end, row] of [
		['has ended everything: what came is dead, and is not stored', 'ACCOUNT_RECONNECT invalid_grant', ['reconnect', 'invalid_grant']],
		['has given other tokens: what came is dropped', 'access-3', ['connected', '']],
		['was away: what came is tried, and stored', 'access-3', ['connected', '']],
	]) {
		test(`${one} is frozen for longer than its lease, ${other} sends the token, and the provider ${kind}`, async (t) => {
			const { endpoint, drivers: [frozen, living], subject, change, expire, store, token, hold } = await start(t, [one, other]);
			await store(frozen);
			await expire();
			const { asked, answer } = hold();
			const late = token(frozen);
			await asked();
			frozen.signal('SIGSTOP');
			answer();
			endpoint.instead = undefined;
			await until('the provider is done', () => endpoint.alive.has('refresh-2'));
			if (kind.startsWith('has ended')) endpoint.alive.clear();
			if (kind.startsWith('has given')) endpoint.alive.add('refresh-1');
			if (kind.startsWith('was')) endpoint.instead = (_request, response) => void response.writeHead(503).end() ?? true;
			await change('leased_until = now()');
			await token(living);
			endpoint.instead = undefined;
			frozen.signal('SIGCONT');
			assert.equal(await late, end);
			const [{ state, reason }] = await fixture.stack.sql('SELECT state, reason FROM urlmode.account WHERE subject = $1', [subject]);
			assert.deepEqual([[state, reason], endpoint.revoked], [row, []]);
			assert.deepEqual(endpoint.asked, ['refresh-1', 'refresh-1', ...kind.startsWith('has given') ? [] : ['refresh-2']]);
			assert.equal(await token(living), end);
		});
	}

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
	async store(run, { expires_in: expiresIn, ...more }, { account = 'acme', refuses = account, ...step }) {
		const tokens = Object.fromEntries(Object.entries({ ...run.endpoint.grant(expiresIn), ...more }).filter(([, value]) => value !== null));
		await call(run, 'store', step, { account, tokens }, refuses);
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
		if (breaks) {
			endpoint.instead = (_request, response) => {
				if (breaks === 'once') endpoint.instead = undefined;
				return void response.destroy() ?? true;
			};
		}
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
