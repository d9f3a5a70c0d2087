// Instances in Node, in Python and in Go share the accounts of a vault: they refresh one at a time, and open what the others have
// sealed.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
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

/** A user, and instances in these languages with one vault. */
async function start(t, languages) {
	const endpoint = await TokenEndpoint.start(t);
	const subject = `user-${randomUUID()}`;
	const keys = keyLine(7);
	const killed = new Set();
	const open = async (language, content = keys) => {
		const driver = new Driver(language, { name: `vault-${count += 1}`, env: fixture.stack.env });
		t.after(() => killed.has(driver) || driver.end());
		assert.equal((await driver.begin('open_vault', { keys: content, issuer: endpoint.issuer }).end).error, undefined);
		return driver;
	};
	const drivers = await Promise.all(languages.map((language) => open(language)));
	const ask = async (driver, verb, options) => {
		const { answer, error } = await driver.begin(verb, { subject, ...options }).end;
		return error ? `${error.code} ${error.reason}` : answer;
	};
	const change = (text) => fixture.stack.sql(`UPDATE urlmode.account SET ${text} WHERE subject = $1`, [subject]);
	const expire = () => change("expires_at = now(), refreshed_at = now() - interval '1 hour'");
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
