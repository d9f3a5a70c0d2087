// The events of a UrlMode, for audit and analytics.

import assert from 'node:assert/strict';
import test from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

import { payment, request, setUp, until } from './support/database.js';

const NAMES = ['created', 'opened', 'processing', 'completed'];

/** Collects all events of an instance. */
function listen(urlmode) {
	const told = [];
	for (const name of NAMES) urlmode.on(name, (event) => told.push([name, event]));
	return told;
}

test('each status of an elicitation is reported once, however many waits see it', async (t) => {
	const { urlmode, callback } = await setUp(t);
	const told = listen(urlmode);
	const owner = { subject: 'user-42', session: 's' };
	const { elicitationId, expiresAt } = await urlmode.create({ ...payment, ...owner });
	const waits = [1, 2, 3].map(() => urlmode.waitForCompletion(elicitationId, owner));
	await callback.open(elicitationId, owner);
	await until('opened is told', () => told.length === 2);
	await callback.event(elicitationId, 'processing');
	await until('processing is told', () => told.length === 3);
	await callback.event(elicitationId, 'failed');
	await Promise.all(waits);
	await urlmode.waitForCompletion(elicitationId, owner);
	await sleep(20);
	const about = { elicitationId, provider: 'demo', ...owner };
	assert.deepEqual(told, [
		['created', { ...about, kind: 'payment', expiresAt }],
		['opened', { ...about, status: 'opened' }],
		['processing', { ...about, status: 'processing' }],
		['completed', { ...about, status: 'completed', action: 'cancel', reason: 'payment_failed' }],
	]);
});

test('a listener that comes later is told of a status that was seen before', async (t) => {
	const { urlmode, callback } = await setUp(t);
	const owner = { subject: 'user-42' };
	const { elicitationId } = await urlmode.create({ ...payment, ...owner });
	await callback.open(elicitationId, owner);
	const look = () => urlmode.waitForCompletion(elicitationId, { ...owner, timeout: 0 }).catch(() => {});
	await look();
	const told = listen(urlmode);
	await look();
	await until('it is told', () => told.length === 1);
	assert.equal(told[0][0], 'opened');
});

test('each instance reports what it does and sees', async (t) => {
	const { urlmode, another } = await setUp(t);
	const other = another();
	const [here, there] = [listen(urlmode), listen(other)];
	const owner = { subject: 'user-42' };
	const { elicitationId } = await urlmode.create(request);
	const waiting = other.waitForCompletion(elicitationId, owner);
	await urlmode.complete(elicitationId, { ...owner, action: 'decline', reason: 'no' });
	await waiting;
	await until('both have told', () => here.length === 2 && there.length === 1);
	assert.deepEqual(here.map(([name]) => name), ['created', 'completed']);
	assert.deepEqual(there.map(([name, { reason }]) => [name, reason]), [['completed', 'no']]);
	assert.equal(await urlmode.complete(elicitationId, { ...owner, action: 'accept' }), false);
	await urlmode.cancel(elicitationId, owner);
	await sleep(50);
	assert.equal(here.length, 2, 'what changed nothing was told');
});

test('events contain no secret', async (t) => {
	const { urlmode, callback } = await setUp(t);
	const told = listen(urlmode);
	const owner = { subject: 'user-42' };
	const e = await urlmode.create({ ...request, pkce: true, targetUrl: `${request.targetUrl}&secret_hint=tea` });
	const waiting = urlmode.waitForCompletion(e.elicitationId, owner);
	await callback.complete(e.elicitationId, { result: { code: 'the-code' } });
	const { codeVerifier } = await waiting;
	await until('it is told', () => told.length === 2);
	const text = JSON.stringify(told);
	for (const secret of [new URL(e.url).searchParams.get('state'), codeVerifier, 'the-code', 'tea', 'authorize']) {
		assert.ok(!text.includes(secret), `${secret} is in ${text}`);
	}
});

test('an error of a listener is an uncaught exception and ends no wait', async (t) => {
	const { urlmode, callback } = await setUp(t);
	const failure = new Error('the audit log is full');
	urlmode.on('completed', () => {
		throw failure;
	});
	const uncaught = new Promise((resolve) => {
		const original = process.listeners('uncaughtException');
		process.removeAllListeners('uncaughtException');
		process.once('uncaughtException', (error) => {
			for (const listener of original) process.on('uncaughtException', listener);
			resolve(error);
		});
	});
	const { elicitationId } = await urlmode.create(request);
	const waiting = urlmode.waitForCompletion(elicitationId, { subject: 'user-42' });
	await callback.complete(elicitationId);
	assert.equal((await waiting).action, 'accept');
	assert.equal(await uncaught, failure);
});
