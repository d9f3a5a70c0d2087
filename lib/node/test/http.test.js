// urlmode/http without a database: what it imports, how it asks, and what it does when nobody answers.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

import { sharedOf } from '../src/core/internals.js';
import { sha256Base64url } from '../src/core/plain-sha256.js';
import { sha256 } from '../src/core/sha256.js';
import { Api } from '../src/http/api.js';
import { UrlMode } from '../src/http/index.js';
import { completed, KEY, owner, play, shown } from './support/api.js';

test('nothing that urlmode/http imports is Node\'s or pg', () => {
	const seen = new Set();
	const walk = (url) => {
		if (seen.has(url.href)) return;
		seen.add(url.href);
		const text = readFileSync(url, 'utf8');
		for (const [, from] of text.matchAll(/^(?:import\b[^'`]*?|export \{[^'`]*?\} from |export \* from )'([^']+)';/gm)) {
			assert.match(from, /^\.\.?\//, `${url.pathname} imports ${from}`);
			walk(new URL(from, url));
		}
		assert.doesNotMatch(text.replaceAll(/\/\*[^]*?\*\/|^\s*\/\/.*$/gm, ''), /\bBuffer\b|[^.\w]process\.|\brequire\(|import\(|\.unref\(/, url.pathname);
	};
	const { exports } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
	walk(new URL(`../${exports['./http'].default}`, import.meta.url));
	assert.ok(seen.size > 20);
});

test('SHA-256 without waiting is that of node:crypto', () => {
	for (const length of [0, 1, 27, 28, 31, 32, 33, 59, 60, 500]) {
		const text = 'é'.repeat(length);
		assert.equal(sha256Base64url(text), sha256(text).toString('base64url'));
	}
});

test('one call waits for all, and is made again when another wait begins', async (t) => {
	const ids = Array.from({ length: 3 }, () => randomUUID());
	let parked = 0;
	let release;
	const { urlmode, calls } = await play(t, async (method, { of }, { aborted }) => {
		if (of.some(({ seen }) => seen === undefined)) return { elicitations: of.filter(({ seen }) => seen === undefined).map(({ id }) => shown(id)) };
		parked += 1;
		const isReleased = await Promise.race([aborted, new Promise((resolve) => {
			release = () => resolve(true);
		})]);
		parked -= 1;
		return { elicitations: isReleased ? of.map(({ id }) => completed(id)) : [] };
	});
	const heard = [];
	const waits = [urlmode.waitForCompletion(ids[0], owner), urlmode.waitForCompletion(ids[1], owner)];
	while (parked < 1) await sleep(5);
	waits.push(urlmode.waitForCompletion(ids[2], { subject: 'eve', session: 's' }), urlmode.waitForCompletion(ids[0], { ...owner, onProgress: (status) => heard.push(status) }));
	while (calls.at(-1).body.of.length < 3 || parked !== 1) await sleep(5);
	assert.equal(urlmode.openWaits, 4);
	assert.equal(parked, 1, 'one connection for all');
	assert.deepEqual(calls.at(-1).body.of.map(({ id, subject, session, seen }) => [id, subject, session, seen]),
		[[ids[0], 'ada', '', 'a'], [ids[1], 'ada', '', 'a'], [ids[2], 'eve', 's', 'a']]);
	assert.equal(calls[0].authorization, `Bearer ${KEY}`);
	release();
	for (const [n, outcome] of (await Promise.all(waits)).entries()) assert.deepEqual(outcome, { elicitationId: ids[n % 3], action: 'accept', reason: '', result: { code: 'c' } });
	assert.equal(urlmode.openWaits, 0);
	const { length } = calls;
	await sleep(50);
	assert.equal(calls.length, length, 'nobody is asked when nobody waits');
});

test('thousands of waits have as few calls as can be, and none has more than a thousand', async (t) => {
	let parked = 0;
	const { urlmode, calls } = await play(t, async (method, { of }, { aborted }) => {
		const fresh = of.filter(({ seen }) => seen === undefined);
		if (fresh.length > 0) return { elicitations: fresh.map(({ id }) => shown(id)) };
		parked += 1;
		await aborted;
		parked -= 1;
		return { elicitations: [] };
	});
	const stop = new AbortController();
	const waits = Array.from({ length: 2_500 }, () => urlmode.waitForCompletion(randomUUID(), { ...owner, timeout: Infinity, signal: stop.signal }).catch(() => {}));
	const isQuiet = () => parked > 0 && calls.slice(-parked).reduce((sum, { body: { of } }) => sum + of.length, 0) === 2_500;
	while (!isQuiet()) await sleep(20);
	assert.ok(parked <= 4, `${parked} calls`);
	assert.ok(calls.every(({ body: { of } }) => of.length <= 1_000));
	stop.abort();
	await Promise.all(waits);
	while (parked > 0) await sleep(5);
});

test('a lost connection, 503 and an answer that was cut are no end of a call that can be repeated', async (t) => {
	const id = randomUUID();
	const times = [];
	const { urlmode, calls } = await play(t, (method, body, { number }) => {
		times.push(performance.now());
		if (number === 1) return 'break';
		if (number === 2) return [503, { error: { code: 'unavailable', message: 'Busy.' } }, { 'retry-after': '1' }];
		if (number === 3) return [200, '{"elicitations":['];
		if (number === 4) return [502, 'a page of nginx'];
		return method === 'wait' ? { elicitations: [completed(id)] } : { id, url: 'https://a.example/', expires_at: new Date(), resumed: false };
	});
	assert.equal((await urlmode.waitForCompletion(id, owner)).action, 'accept');
	assert.ok(times[2] - times[1] >= 700, 'Retry-After is respected');
	calls.length = 0;
	await urlmode.create({ ...owner, provider: 'demo', kind: 'oauth', targetUrl: 'https://a.example/' });
	const [{ body }] = calls.slice(-1);
	assert.ok(calls.every((call) => call.body.id === body.id), 'with the same id');
});

test('what cannot be repeated ends with a lost connection, and says that it may have been carried out', async (t) => {
	const { urlmode, calls } = await play(t, () => 'break');
	for (const call of [
		() => urlmode.complete(randomUUID(), { ...owner, action: 'cancel' }), () => urlmode.abandon(randomUUID(), owner), () => urlmode.claim(randomUUID(), owner),
	]) await assert.rejects(call, { code: 'URLMODE_UNAVAILABLE', maybeDone: true });
	assert.equal(calls.length, 3);
});

test('many calls at once warn of nothing', async (t) => {
	const warned = [];
	const listen = ({ message }) => warned.push(message);
	process.on('warning', listen);
	t.after(() => process.off('warning', listen));
	let all;
	const arrived = new Promise((resolve) => {
		all = resolve;
	});
	const { urlmode, calls } = await play(t, async () => {
		if (calls.length === 20) all();
		await arrived;
		return { outcome: 'completed' };
	});
	await Promise.all(Array.from({ length: 20 }, () => urlmode.cancel(randomUUID(), owner)));
	await sleep(0); // it is told in the next turn
	assert.deepEqual(warned, []);
});

test('create asks for the target between two calls, with the same id', async (t) => {
	const { urlmode, calls } = await play(t, (method, { id, target_url: target }) => (target === undefined
		? { needs: 'target_url', id, return_url: 'https://a.example/r', cancel_url: 'https://a.example/c', webhook_url: null, amount: 1050 }
		: [201, { id, url: 'https://a.example/connect', return_url: 'https://a.example/r', cancel_url: 'https://a.example/c', webhook_url: null, amount: 1050, expires_at: '2030-01-01T00:00:00Z', resumed: false }]));
	const options = { ...owner, provider: 'stripe', kind: 'payment', item: 'a', expected: { amount: 1050, currency: 'EUR' }, ttl: 60_000 };
	const given = [];
	const elicitation = await urlmode.create({ ...options, targetUrl: (urls) => {
		given.push(urls);
		return { url: new URL('https://shop.example/pay'), checkout: 'cs_1' };
	} });
	const { elicitationId } = elicitation;
	assert.deepEqual(given, [{ elicitationId, returnUrl: 'https://a.example/r', cancelUrl: 'https://a.example/c', webhookUrl: undefined, amount: 1050 }]);
	assert.deepEqual(elicitation, {
		elicitationId, url: 'https://a.example/connect', returnUrl: 'https://a.example/r', cancelUrl: 'https://a.example/c', webhookUrl: undefined,
		expiresAt: new Date('2030-01-01'), resumed: false,
	});
	assert.deepEqual(calls.map(({ body: { id, target_url: url, checkout, ttl_ms: ttl } }) => [id, url, checkout, ttl]),
		[[elicitationId, undefined, undefined, 60_000], [elicitationId, 'https://shop.example/pay', 'cs_1', 60_000]]);
	await assert.rejects(urlmode.create({ ...options, targetUrl: () => 'ftp://shop.example/' }), { name: 'TypeError', message: /^targetUrl must be https/ });
});

test('every option of create reaches the api', async (t) => {
	const types = readFileSync(new URL('../src/core/types.js', import.meta.url), 'utf8');
	const options = ['Owner', 'CreateFields', 'TargetFields', 'OAuthFields', 'PaymentFields', 'ItemFields', 'InputFields', 'ApprovalFields', 'OthersFields'].flatMap((name) => {
		const [, properties] = new RegExp(`@typedef \\{object\\} ${name}\\b([^]*?)(?:@typedef|\\*/)`).exec(types);
		return [...properties.matchAll(/@property \{[^\n]*\} \[?(\w+)/g)].map(([, option]) => option);
	});
	const members = {
		subject: ['subject', 'ada'], session: ['session', 's'], provider: ['provider', 'demo'], kind: ['kind', 'oauth'], id: ['id', randomUUID()],
		ttl: ['ttl_ms', 60_000], exclusive: ['exclusive', true], resumeKey: ['resume_key', 'k'], about: ['about', { a: 1 }], clientId: ['client_id', 'c'],
		sameClient: ['same_client', true], traceparent: ['traceparent', 't'], canRecheck: ['can_recheck', false],
		targetUrl: ['target_url', 'https://a.example/'], pkce: ['pkce', true], item: ['item', 'i'], expected: ['expected', 'any'],
		subscription: ['subscription', true], form: ['form', { message: 'm' }], submitLabel: ['submit_label', 'Connect'], verifyTimeout: ['verify_ms', 5_000],
		stepUp: ['step_up', true], approver: ['approver', 'others'], fourEyes: ['four_eyes', true],
	};
	// The signal ends the request itself.
	assert.deepEqual([...new Set(options)].filter((option) => option !== 'signal').sort(), Object.keys(members).sort());
	const { urlmode, calls } = await play(t, (method, { id }) => [201, { id, url: 'https://a.example/c', expires_at: '2030-01-01T00:00:00Z', resumed: false }]);
	const required = { ...owner, provider: 'demo', kind: 'oauth', targetUrl: 'https://a.example/' };
	for (const [option, [member, value]] of Object.entries(members)) {
		await urlmode.create({ ...required, [option]: option === 'targetUrl' ? new URL(value) : value });
		assert.deepEqual(calls.at(-1).body[member], value, option);
	}
});

test('errors are those of the package', async (t) => {
	let error;
	const { urlmode } = await play(t, () => [error.status ?? 409, { error: { message: 'It is so.', ...error } }]);
	const id = randomUUID();
	const answer = { ...owner, action: 'accept' };
	const create = () => urlmode.create({ ...owner, provider: 'demo', kind: 'oauth', targetUrl: 'https://a.example/' });
	for (const [status, code, call, wanted] of [
		[404, 'not_found', () => urlmode.complete(id, answer), 'ELICITATION_NOT_FOUND'],
		[409, 'mismatch', () => urlmode.complete(id, answer), 'ELICITATION_MISMATCH'],
		[409, 'reference_taken', () => urlmode.complete(id, answer), 'ELICITATION_REFERENCE'],
		[409, 'open', () => urlmode.claim(id, owner), 'ELICITATION_OPEN'],
		[409, 'open', () => urlmode.beginClaim(id, owner), 'ELICITATION_OPEN'],
		[404, 'not_found', () => urlmode.beginClaim(id, owner), 'ELICITATION_NOT_FOUND'],
		[409, 'conflict', create, 'ELICITATION_EXISTS'],
		[429, 'full', create, 'ELICITATION_LIMIT'],
		[409, 'subscribed', create, 'ELICITATION_SUBSCRIBED'],
		[401, 'unauthorized', create, 'URLMODE_API'],
		[401, 'unauthorized', () => urlmode.waitForCompletion(id, owner), 'URLMODE_API'],
	]) {
		error = { status, code };
		await assert.rejects(call, { code: wanted }, code);
	}
	error = { status: 400, code: 'invalid_request', message: 'ttl_ms must be a whole number' };
	await assert.rejects(create, { name: 'TypeError', message: 'ttl_ms must be a whole number' });
	// As the package says of one that is purged.
	error = { status: 404, code: 'not_found' };
	assert.equal(await urlmode.claim(id, owner), false);
	error = { status: 409, code: 'taken' };
	assert.equal(await urlmode.claim(id, owner), false);
	assert.deepEqual(await urlmode.beginClaim(id, owner), { state: 'taken' });
	error = { status: 409, code: 'leased', left_ms: 5_000 };
	const { state, until } = await urlmode.beginClaim(id, owner);
	assert.equal(state, 'leased');
	assert.ok(until > Date.now() + 3_000);
	await assert.rejects(() => urlmode.waitForCompletion('x', owner), { name: 'TypeError', message: 'the elicitation id must be a UUID' });
	for (const options of [{ url: 'api', key: KEY }, { url: 'https://a.example', key: 'umk_' }]) assert.throws(() => new UrlMode(options), TypeError);
	await urlmode.close();
	await assert.rejects(create, { code: 'URLMODE_CLOSED' });
});

test('a wait ends by its signal, its time and close, and has nothing parked then', async (t) => {
	let parked = 0;
	const { urlmode } = await play(t, async (method, { of }, { aborted }) => {
		if (of[0].seen === undefined) return { elicitations: of.map(({ id }) => shown(id, { status: 'opened' })) };
		parked += 1;
		await aborted;
		parked -= 1;
		return { elicitations: [] };
	});
	const stop = new AbortController();
	const [stopped, open] = [{ signal: stop.signal }, {}].map((more) => urlmode.waitForCompletion(randomUUID(), { ...owner, ...more }));
	for (let timeout = 100, status; status !== 'opened'; timeout *= 2) {
		// Its status was not yet there, where the machine is slow.
		await assert.rejects(urlmode.waitForCompletion(randomUUID(), { ...owner, timeout }), (error) => {
			({ status } = error);
			return error.code === 'ELICITATION_TIMEOUT' && (status === 'opened' || timeout < 60_000);
		});
	}
	stop.abort(new Error('enough'));
	await assert.rejects(stopped, { message: 'enough' });
	await assert.rejects(urlmode.waitForCompletion(randomUUID(), { ...owner, timeout: 0 }), { code: 'ELICITATION_TIMEOUT', status: 'opened' });
	void urlmode.close();
	await assert.rejects(open, { code: 'URLMODE_CLOSED' });
	while (parked > 0) await sleep(5);
});

test('a handle is for its owner and request, and another instance with the same key opens it', async (t) => {
	const { urlmode } = await play(t, () => ({}));
	const { handles } = sharedOf(urlmode);
	const options = { ...owner, provider: 'stripe', kind: 'payment', item: 'a', expected: { amount: 1, currency: 'EUR' } };
	const elicitation = { elicitationId: randomUUID(), url: 'https://a.example/c', returnUrl: 'https://a.example/r', expiresAt: new Date('2030-01-01'), resumed: true };
	const sealed = await handles.seal({ options, key: 'k' }, elicitation);
	assert.match(`${sealed}.1`, handles.pattern);
	assert.ok(!Buffer.from(sealed, 'base64url').includes('ada'));
	const other = sharedOf(new UrlMode({ url: 'http://127.0.0.1:9', key: KEY })).handles;
	assert.deepEqual(await other.open({ options, key: 'another' }, sealed), elicitation);
	const foreign = sharedOf(new UrlMode({ url: 'http://127.0.0.1:9', key: `umk_${'B'.repeat(43)}` })).handles;
	const invalid = { code: 'STATE_INVALID' };
	for (const more of [{ subject: 'eve' }, { session: 's' }, { item: 'b' }, { provider: 'paypal' }, { about: { a: 1 } }]) await assert.rejects(handles.open({ options: { ...options, ...more }, key: 'k' }, sealed), invalid);
	await assert.rejects(foreign.open({ options, key: 'k' }, sealed), invalid);
	for (const at of [4, 20, sealed.length - 1]) await assert.rejects(handles.check(sealed.slice(0, at) + (sealed[at] === 'A' ? 'B' : 'A') + sealed.slice(at + 1)), invalid);
	const expired = await handles.seal({ options, key: 'k' }, { ...elicitation, expiresAt: new Date('2020-01-01') });
	await assert.rejects(handles.check(expired), { code: 'STATE_EXPIRED' });
});

test('the answer to a long body may take longer', async (t) => {
	const signals = [];
	const api = new Api({ url: 'http://127.0.0.1:9', key: KEY, fetch: (url, { signal }) => new Promise((resolve, reject) => {
		signals.push(signal);
		signal.addEventListener('abort', () => reject(signal.reason));
	}) });
	t.mock.timers.enable({ apis: ['setTimeout'] });
	const calls = [null, 'x'.repeat(1_000_000)].map((result) => assert.rejects(
		api.call('fulfil_claim', { result }, { repeatable: false }), { code: 'URLMODE_UNAVAILABLE' }));
	const areEnded = () => signals.map(({ aborted }) => aborted);
	t.mock.timers.tick(11_000);
	assert.deepEqual(areEnded(), [true, false]);
	t.mock.timers.tick(20_000);
	assert.deepEqual(areEnded(), [true, true]);
	await Promise.all(calls);
});

test('late payments and refunds are told once each', async (t) => {
	const item = (reference, late = true) => ({
		id: randomUUID(), provider: 'stripe', subject: 'ada', session: '', item: 'a', resume_key: null, reference, amount: 1, currency: 'EUR', matches: true, late,
		proven_at: new Date(), refunded: 0, held: false,
	});
	const all = [item('one'), item('two', false)];
	const { urlmode, calls } = await play(t, () => ({ items: all, next: null }));
	const told = [];
	urlmode.on('late', ({ reference }) => told.push(reference));
	while (calls.length < 1) await sleep(5);
	all.push(item('three'));
	while (told.length < 2) await sleep(20);
	assert.deepEqual(told, ['one', 'three']);
});
