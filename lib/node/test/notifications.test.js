// Whether a client is told that an elicitation is completed.

import assert from 'node:assert/strict';
import test from 'node:test';

import { noticeOf } from '../src/adapters/notices.js';

const REMEMBERED = 1_000;

/** How often the client is told. */
async function told(notice, times = 1) {
	let count = 0;
	for (let n = 0; n < times; n += 1) await notice.send(async () => { count += 1; });
	return count;
}

test('a client is told once in each session, whichever call tells it', async () => {
	const [one, other] = [{}, {}];
	assert.equal(await told(noticeOf(one, 'e'), 2), 1);
	assert.equal(await told(noticeOf(one, 'e')), 0);
	assert.equal(await told(noticeOf(one, 'another')), 1);
	assert.equal(await told(noticeOf(other, 'e')), 1);
	for (let n = 0; n < 2; n += 1) assert.equal(await told(noticeOf(undefined, 'e')), 1, 'a call without a session');
});

test('a session remembers a thousand elicitations: the oldest is forgotten for one more', () => {
	const session = {};
	const notices = Array.from({ length: REMEMBERED }, (_, n) => noticeOf(session, `e-${n}`));
	assert.ok(notices.every((notice, n) => noticeOf(session, `e-${n}`) === notice));
	noticeOf(session, 'one more');
	assert.ok(notices.slice(1).every((notice, n) => noticeOf(session, `e-${n + 1}`) === notice));
	assert.notEqual(noticeOf(session, 'e-0'), notices[0]);
	assert.notEqual(noticeOf(session, 'e-1'), notices[1], 'it has made room');
});
