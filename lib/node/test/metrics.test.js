// What a process knows of its waits, as Prometheus reads it.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import test from 'node:test';

import { internalsOf } from '../src/core/internals.js';
import { request, setUp, until } from './support/database.js';

const owner = { subject: 'user-42' };

/** The samples of a text: name and labels → value. */
function samples(text) {
	return new Map(text.split('\n').filter((line) => line !== '' && !line.startsWith('#')).map((line) => {
		const space = line.lastIndexOf(' ');
		return [line.slice('urlmode_server_'.length, space), Number(line.slice(space + 1))];
	}));
}

test('waits, the age of the oldest, and how they have ended', async (t) => {
	const { urlmode, callback } = await setUp(t);
	const now = (name) => samples(urlmode.metrics()).get(name);
	const ended = () => ['accept', 'decline', 'cancel', 'timeout', 'aborted', 'closed', 'error'].map((end) => now(`waits_ended_total{end="${end}"}`));
	assert.deepEqual([now('waits'), now('oldest_wait_age_seconds'), ended()], [0, 0, [0, 0, 0, 0, 0, 0, 0]]);

	const ids = await Promise.all(Array.from({ length: 5 }, async () => (await urlmode.create(request)).elicitationId));
	const controller = new AbortController();
	const [accepted, declined, late, aborted, closed] = ids.map((id, i) => urlmode.waitForCompletion(id, {
		...owner, ...i === 2 && { timeout: 50 }, ...i === 3 && { signal: controller.signal },
	}));
	assert.equal(now('waits'), 5);
	await assert.rejects(late, { name: 'ElicitationTimeoutError' });
	await until('notifications arrive', () => now('notifications_arrive') === 1);
	assert.ok(now('oldest_wait_age_seconds') >= 0.04);
	await callback.complete(ids[0], { result: { code: 'c' } });
	await callback.complete(ids[1], { action: 'decline', reason: 'access_denied' });
	await Promise.all([accepted, declined]);
	controller.abort(new Error('gone'));
	await assert.rejects(aborted, { message: 'gone' });
	await assert.rejects(urlmode.waitForCompletion(ids[0], { subject: 'somebody else' }), { name: 'ElicitationNotFoundError' });
	await assert.rejects(urlmode.waitForCompletion(ids[4], { ...owner, timeout: 0 }), { name: 'ElicitationTimeoutError' });
	assert.deepEqual([now('waits'), ended()], [1, [1, 1, 0, 1, 1, 0, 1]], 'a look is no wait');
	await Promise.all([urlmode.close(), assert.rejects(closed, { name: 'UrlModeClosedError' })]);
	assert.deepEqual([now('waits'), now('oldest_wait_age_seconds'), ended()], [0, 0, [1, 1, 0, 1, 1, 1, 1]]);
});

test('a connection that is lost is counted, and promtool takes the text', async (t) => {
	const { urlmode, admin, applicationName } = await setUp(t);
	const { elicitationId } = await urlmode.create(request);
	const wait = urlmode.waitForCompletion(elicitationId, owner);
	const { listener } = internalsOf(urlmode);
	await until('it listens', () => listener.receivesNotifications);
	assert.equal(samples(urlmode.metrics()).get('connections_lost_total'), 0);
	await admin.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1', [applicationName]);
	await until('it was lost, and listens again', () => samples(urlmode.metrics()).get('connections_lost_total') >= 1 && listener.receivesNotifications);
	execFileSync('promtool', ['check', 'metrics'], { input: urlmode.metrics() });
	await urlmode.cancel(elicitationId, owner);
	await wait;
	assert.equal(samples(urlmode.metrics()).get('waits_ended_total{end="cancel"}'), 1);
});
