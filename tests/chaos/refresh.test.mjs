// A refresh has a holder who is alive: instances are frozen, killed and cut off from PostgreSQL at each step of a refresh, at providers
// that forgive a second use, that punish it, and of which nothing is known, while instances in other languages want the same
// tokens. No account is lost by that, but with a process that is killed with its new tokens in memory, where the provider does not forgive it.
//
// In `make test-all` a fault lasts for two seconds, and the clock of the rows is moved. `make soak` has LONG=1: 1 to 290 seconds, as they
// pass (new tokens are kept in memory for 300), with servers in Go as well, and then a storm of 18,000 calls.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import { keyLine } from '../../lib/node/test/support/keys.js';
import { buildGo } from '../support/go.mjs';
import { useStack } from '../support/stack.mjs';
import { until } from '../support/wait.mjs';
import { Driver } from '../waiting/side.mjs';
import { Families, WINDOW } from './families.mjs';
import { openProxy } from './proxy.mjs';

const IS_LONG = process.env.LONG === '1';
const SECONDS = IS_LONG ? (process.env.DURATIONS ?? '1,12,40,75,290').split(',').map(Number) : [2];
/** Each user's account is at another step: its request has arrived, its answer is on the way, or nobody knows. */
const STEPS = ['arrived', 'answered', 'anywhere'];
const KINDS = { forgiving: WINDOW / 1_000, strict: 'never', unknown: undefined };
/** How long it may take until all is settled after a fault: a lease that nobody may end, and some. */
const SETTLED = 400_000;

let stack;
let families;
let languages;
const keys = keyLine(7);

before(async () => {
	const hasGo = await buildGo('tests/waiting/go', fileURLToPath(new URL('../../build/go/waiting', import.meta.url)));
	languages = ['node', 'python', ...hasGo ? ['go'] : []];
	stack = await useStack({ name: 'chaos-refresh' });
	families = new Families();
	await families.open();
});

after(async () => {
	families?.close();
	await stack?.close();
});

/** The faults. Each begins, and returns how it ends. */
const FAULTS = {
	frozen: ({ driver }) => {
		driver.signal('SIGSTOP');
		return () => driver.signal('SIGCONT');
	},
	killed: ({ driver }) => {
		driver.isGone = driver.kill();
		return () => {};
	},
	/** Connections end, and there are no others. */
	'cut off': ({ proxy }) => {
		const { target } = proxy;
		proxy.target = { host: '127.0.0.1', port: 1 };
		proxy.reset();
		return () => { proxy.target = target; };
	},
	/** Connections carry nothing any more, and nobody is told. */
	silenced: ({ proxy }) => {
		const { target } = proxy;
		proxy.target = { host: '127.0.0.1', port: 1 };
		proxy.stopCarrying();
		return () => {
			proxy.target = target;
			proxy.dropStopped();
		};
	},
};

async function launch(language, kind, place) {
	const url = new URL(stack.env.URLMODE_DATABASE_URL);
	const proxy = await openProxy({ host: '127.0.0.1', port: Number(url.port) });
	url.port = proxy.port;
	const driver = new Driver(language, { name: `refresh-${place}`, env: { ...stack.env, URLMODE_DATABASE_URL: url.href } });
	const issuer = `${families.origin}/${place}`;
	const settings = KINDS[kind] === undefined ? {} : { reuse_within: KINDS[kind] };
	assert.equal((await driver.begin('open_vault', { keys, issuer, ...settings }).end).error, undefined);
	return { language, kind, driver, proxy, issuer };
}

async function leave({ driver, proxy }) {
	driver.signal('SIGCONT');
	await (driver.isGone ?? driver.kill());
	await proxy.close();
}

/** An access token, or why there is none. */
async function tokenOf({ driver }, subject) {
	const { answer, error } = await driver.begin('access_token', { subject }).end;
	return answer?.access_token ?? [error.code, error.reason].filter(Boolean).join(' ');
}

const isToken = (token) => token.startsWith('access-');
const change = (subject, text) => stack.sql(`UPDATE urlmode.account SET ${text} WHERE subject = $1`, [subject]);
const expire = (subject) => change(subject, "expires_at = now(), refreshed_at = now() - interval '1 hour', pause_until = NULL");

async function connect(by, subject, kind) {
	assert.equal((await by.driver.begin('store', { subject, account: 'acme', tokens: families.grant(subject, kind) }).end).error, undefined);
	await expire(subject);
}

/** Another instance wants the token for as long as it takes. */
async function want(others, subject, isOver) {
	for (let n = 0; ; n += 1) {
		const token = await tokenOf(others[n % others.length], subject);
		if (isToken(token) || isOver()) return token;
		await sleep(200);
	}
}

/** A fault of an instance whose refreshes are at each step. Returns what became of the accounts. */
async function suffer({ fault, kind, language, isBegun, seconds, living }) {
	const place = randomUUID();
	const victim = await launch(language, kind, place);
	const others = living.filter((other) => other.kind === kind && (languages.length === 1 || other.language !== language));
	const users = (isBegun ? ['begun', 'begun'] : STEPS).map((step) => ({ subject: `${step}-${randomUUID()}`, step }));
	for (const { subject } of users) await connect(others[0], subject, kind);
	if (isBegun) families.silent.add(victim.issuer);
	for (const { subject, step } of users) if (step === 'arrived' || step === 'answered') families.holding.add(subject);
	const calls = users.filter(({ step }) => step !== 'anywhere').map(({ subject }) => tokenOf(victim, subject));
	await until('each call is where it should be', async () => {
		if (!isBegun) return users.every(({ subject, step }) => step === 'anywhere' || families.held.has(subject));
		const rows = await stack.sql('SELECT FROM urlmode.account WHERE subject = ANY ($1) AND leased_until > now()', [users.map(({ subject }) => subject)]);
		return rows.length === users.length;
	}, { timeout: 120_000 });
	for (const { subject, step } of users.filter((user) => user.step === 'anywhere')) {
		calls.push(tokenOf(victim, subject));
		await sleep(Math.random() * 60, step);
	}
	let isOver = false;
	for (const { subject, step } of users) if (step === 'answered') families.held.get(subject)();
	const end = FAULTS[fault](victim);
	const wanted = users.map(({ subject }) => want(others, subject, () => isOver));
	await sleep(300);
	families.silent.delete(victim.issuer);
	for (const { subject, step } of users) if (step === 'arrived') families.held.get(subject)();
	await sleep(1_000 * seconds);
	end();
	if (fault !== 'killed') await Promise.all(calls);
	else await settleDead(users, kind);
	isOver = true;
	await Promise.all(wanted);
	const ends = await Promise.all(users.map(({ subject, step }) => verdictOf({ subject, step, fault, kind, others })));
	await leave(victim);
	return ends.map((verdict) => `${verdict}: ${fault} for ${seconds} s, ${kind}, ${language}`);
}

/** A lease that nobody may end is over when its time is. */
async function settleDead(users, kind) {
	const left = () => stack.sql('SELECT subject FROM urlmode.account WHERE subject = ANY ($1) AND leased_until > now()', [users.map(({ subject }) => subject)]);
	const isLeft = async () => (await left()).length > 0;
	if (!IS_LONG) {
		if (kind !== 'strict') await until('those who may have ended the leases', async () => !(await isLeft()), { timeout: 30_000 });
		for (const { subject } of await left()) await change(subject, 'leased_until = now()');
	}
	await until('no lease is left', async () => !(await isLeft()), { timeout: SETTLED });
}

/** `good`, `gone` with the process that was killed, or what is wrong. Twice, so that the refresh token is good as well. */
async function verdictOf({ subject, step, fault, kind, others }) {
	for (let times = 0; times < 2; times += 1) {
		let token = '';
		await until(`there is an end at ${step}`, async () => {
			await change(subject, 'pause_until = NULL');
			token = await tokenOf(others[times % others.length], subject);
			return isToken(token) || token.startsWith('ACCOUNT_RECONNECT');
		}, { timeout: SETTLED });
		// Where a second use ends everything, nobody knows whether the token was sent that was about to be.
		const mayBeGone = fault === 'killed' && step !== 'begun' && (kind === 'strict' || kind === 'unknown' && families.uses(subject) > 0);
		if (!isToken(token)) return mayBeGone ? 'gone' : `lost (${token}) at ${step}`;
		if (!families.isGood(subject, token)) return `dead (${token}) at ${step}`;
		await expire(subject);
	}
	return 'good';
}

for (const [turn, seconds] of SECONDS.entries()) {
	test(`instances are frozen, killed and cut off for ${seconds} s at each step of a refresh, and lose no account`, { timeout: 2 * SETTLED + 1_000 * seconds }, async (t) => {
		const living = await Promise.all(Object.keys(KINDS).flatMap((kind) => languages.map((language) => launch(language, kind, `living-${kind}-${language}-${turn}`))));
		const cases = Object.keys(FAULTS).flatMap((fault, f) => [...Object.keys(KINDS), 'begun'].map((kind, k) => ({
			fault, seconds, living, isBegun: kind === 'begun', kind: kind === 'begun' ? Object.keys(KINDS)[f % 3] : kind, language: languages[(f + k + turn) % languages.length],
		})));
		try {
			// Some at a time, so that a machine of two processors does not stand still itself.
			const queue = [...cases];
			const ends = [];
			await Promise.all(Array.from({ length: IS_LONG ? queue.length : 4 }, async () => {
				for (let next = queue.shift(); next; next = queue.shift()) ends.push(...await suffer(next));
			}));
			const good = ends.filter((end) => end.startsWith('good:')).length;
			const gone = ends.filter((end) => end.startsWith('gone:'));
			t.diagnostic(`${cases.length} instances, ${ends.length} accounts: ${good} are good, ${gone.length} are gone with their process; ${families.asked} requests`);
			assert.deepEqual({ lost: ends.filter((end) => !/^(good|gone):/.test(end)), wrong: families.wrong }, { lost: [], wrong: [] });
			assert.ok(good > ends.length / 2);
		} finally {
			await Promise.all(living.map(leave));
		}
	});
}

if (IS_LONG) test('a storm of 18,000 calls makes one request for each account', { timeout: SETTLED }, async () => {
	const [accounts, calls] = [60, 18_000];
	const instances = await Promise.all(languages.flatMap((language) => ['a', 'b'].map((name) => launch(language, 'strict', `storm-${language}-${name}`))));
	try {
		const users = Array.from({ length: accounts }, () => `storm-${randomUUID()}`);
		for (const subject of users) await connect(instances[0], subject, 'strict');
		const asked = families.asked;
		const ends = await Promise.all(Array.from({ length: calls }, (_, n) => tokenOf(instances[n % instances.length], users[n % accounts])));
		const wrong = ends.filter((token, n) => !families.isGood(users[n % accounts], token));
		assert.deepEqual([wrong, families.asked - asked, new Set(ends).size, families.wrong], [[], accounts, accounts, []]);
	} finally {
		await Promise.all(instances.map(leave));
	}
});
