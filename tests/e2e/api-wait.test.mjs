// Waiting over HTTP: when a call of `wait` answers, with what, and how it ends. Everything goes through nginx.

import assert from 'node:assert/strict';
import { createHash, randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

import { parseKeys } from '../../lib/node/src/core/keys.js';
import { bindingOf } from '../../lib/node/src/core/token.js';
import { sealReturn } from '../bench/sealed.mjs';
import { startApi } from '../support/api.mjs';
import { holdRow } from '../support/locks.mjs';
import { until } from '../support/wait.mjs';

let api;

before(async () => {
	api = await startApi('api-wait');
});

after(() => api?.close());

const TARGET = 'https://github.com/login/oauth/authorize?client_id=x';
const LONG = 60_000;

/** A new elicitation of kind oauth: its id and its owner. */
async function created(members = {}) {
	const asked = { provider: 'github', kind: 'oauth', subject: 'ada', target_url: TARGET, ...members };
	const { id } = await api.ok('create', asked, 201);
	return { id, subject: asked.subject, ...asked.session && { session: asked.session } };
}

const wait = async (of, forMs = LONG) => (await api.ok('wait', { of, for_ms: forMs })).elicitations;
/** The same elements, as they were shown. */
async function seen(...owners) {
	const shown = await wait(owners, 0);
	return owners.map((owner) => ({ ...owner, seen: shown.find(({ id }) => id === owner.id).seen }));
}
const complete = (owner, answer = { action: 'accept', result: { code: 'abc' } }) => api.ok('complete', { ...owner, seen: undefined, ...answer });
/** How many connections nginx has to the program. */
const connections = async () => {
	const lines = (await readFile('/proc/net/unix', 'utf8')).split('\n');
	return lines.filter((line) => line.includes('sock/api.sock') && / 03 /.test(line)).length;
};

describe('when it answers', () => {
	test('at once, with what the caller has not seen', async () => {
		const owner = await created({ session: 's' });
		const [shown] = await wait([owner]);
		const { expires_at: expires, seen: digest, ...rest } = shown;
		assert.deepEqual(rest, {
			id: owner.id, provider: 'github', kind: 'oauth', status: 'pending', action: null, reason: '', result: null, code_verifier: null, nonce: null,
			reference: null, amount: null, currency: null, late: false, failed_attempts: 0,
		});
		assert.match(digest, /^[\w-]{22}$/);
		assert.ok(new Date(expires) > new Date());
	});

	test('empty when the time is over, and nothing has moved', async () => {
		const of = await seen(await created());
		const began = performance.now();
		assert.deepEqual(await wait(of, 700), []);
		assert.ok(performance.now() - began >= 650);
		assert.deepEqual(await wait(of, 0), []);
	});

	test('as soon as one of them has moved, with that one alone', async () => {
		const of = await seen(await created(), await created(), await created());
		const answer = wait(of);
		await complete(of[1]);
		assert.deepEqual((await answer).map(({ id, action, result }) => [id, action, result]), [[of[1].id, 'accept', { code: 'abc' }]]);
	});

	test('again and again with what comes next, and never with what was seen', async () => {
		const [element] = await seen(await created());
		await api.stack.sql("UPDATE urlmode.elicitation SET status = 'opened', opened_at = now() WHERE id = $1", [element.id]);
		await api.stack.sql("SELECT pg_notify('urlmode', json_build_object('id', $1::text, 'status', 'opened')::text)", [element.id]);
		const [opened] = await wait([element]);
		assert.equal(opened.status, 'opened');
		const answer = wait([{ ...element, seen: opened.seen }]);
		await complete(element, { action: 'decline', reason: 'access_denied' });
		const [ended] = await answer;
		assert.deepEqual([ended.status, ended.action, ended.reason], ['completed', 'decline', 'access_denied']);
		assert.deepEqual(await wait([{ ...element, seen: ended.seen }], 0), []);
	});

	test('several calls that wait for the same one are all told', async () => {
		const of = await seen(await created());
		const answers = Promise.all(Array.from({ length: 5 }, () => wait(of)));
		await complete(of[0]);
		for (const [shown] of await answers) assert.equal(shown.action, 'accept');
	});

	test('with the verifier of the code', async () => {
		const of = await seen(await created({ pkce: true, target_url: `${TARGET}&scope=openid` }));
		const { code_challenge: challenge, nonce } = Object.fromEntries(new URL((await api.stack.elicitation(of[0].id)).target_url).searchParams);
		await complete(of[0]);
		const [shown] = await wait(of);
		assert.match(shown.code_verifier, /^[\w-]{43}$/);
		assert.equal(createHash('sha256').update(shown.code_verifier).digest('base64url'), challenge);
		assert.equal(shown.nonce, nonce);
	});

	test('what a call of this process has done is there for the next one, although it is not announced yet', async () => {
		const [one, other] = await seen(await created(), await created());
		const [{ pid }] = await api.stack.sql("SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'LISTEN urlmode; SELECT pg_backend_pid()%'");
		process.kill(pid, 'SIGSTOP');
		try {
			await complete(one);
			await api.ok('cancel', { ...other, seen: undefined });
			const shown = await wait([one, other], 0);
			assert.deepEqual(shown.map(({ action }) => action).sort(), ['accept', 'cancel']);
		} finally {
			process.kill(pid, 'SIGCONT');
		}
	});

	test('who can be asked reads a row again only where something is asked, or announced', async () => {
		const { id } = await api.ok('create', { provider: 'stripe', kind: 'payment', subject: 'ada', item: 'can', expected: { amount: 1, currency: 'EUR' }, target_url: 'https://checkout.stripe.com/c/pay' }, 201);
		const [{ seen: digest }] = await wait([{ id, subject: 'ada' }], 0);
		const of = [{ id, subject: 'ada', seen: digest, can: ['recheck', 'check'] }];
		await api.stack.sql('REVOKE EXECUTE ON FUNCTION urlmode.read_waiting FROM urlmode_server');
		try {
			for (const waits of [0, 50]) assert.deepEqual(await wait(of, waits), []);
		} finally {
			await api.stack.sql('GRANT EXECUTE ON FUNCTION urlmode.read_waiting TO urlmode_server');
		}
		// An event that proves nothing is announced, so that the waiter asks, also the next one while the first has the lease.
		const asked = wait(of);
		await api.stack.sql("SELECT urlmode.receive_events(ARRAY[$1]::uuid[], '{stripe}', '{evt_can}', '{payment.updated}', '{recheck}', '{NULL}', '{NULL}', '{pi_can}', '{NULL}')", [id]);
		const [{ recheck }] = await asked;
		assert.deepEqual(recheck.references, ['pi_can']);
		assert.deepEqual(await wait(of, 0), [], 'another call has the lease');
		await api.ok('end_recheck', { id, subject: 'ada', lease: recheck.lease, failed: true });
		const [again] = await wait(of);
		assert.notEqual(again.recheck.lease, recheck.lease);
	});

	test('an outcome that is announced is shown as a read shows it, without one, to those who wait and to those who come', async () => {
		const of = await seen(await created({ pkce: true, target_url: `${TARGET}&scope=openid` }), await created({ subject: 'eve' }));
		const keys = parseKeys(await readFile(api.stack.env.URLMODE_KEYS_FILE, 'latin1'), 'keys');
		const answer = wait(of.slice(0, 1));
		await until('it waits', async () => (await wait(of, 0)).length === 0);
		await api.stack.sql('REVOKE EXECUTE ON FUNCTION urlmode.read_waiting FROM urlmode_server');
		const shown = [];
		try {
			for (const { id, subject } of of) {
				const row = { id, binding: bindingOf(subject, '') };
				const { result, outcome } = sealReturn(keys, row, { code: 'abc', iss: 'https://github.com' });
				await api.stack.sql("SELECT urlmode.complete(ARRAY[$1]::uuid[], ARRAY[$2]::bytea[], '{github}', '{accept}', '{\"\"}', ARRAY[$3]::bytea[], outcomes => ARRAY[$4]::bytea[])",
					[id, row.binding, result, outcome]);
			}
			shown.push(...await answer);
			await until('the second one is announced', async () => {
				const { status, body } = await api.call('wait', { of, for_ms: 0 });
				if (status === 200 && body.elicitations.length === 2) shown.push(...body.elicitations);
				return shown.length === 3;
			});
			const { elicitations: again } = await api.ok('wait', { of: of.map(({ id }) => ({ ...shown.find((one) => one.id === id), id })).map(({ id, seen: digest }) => ({ id, subject: of.find((one) => one.id === id).subject, seen: digest })), for_ms: 0 });
			assert.deepEqual(again, []);
		} finally {
			await api.stack.sql('GRANT EXECUTE ON FUNCTION urlmode.read_waiting TO urlmode_server');
		}
		// A program that has just begun knows nothing.
		await api.stack.service('restart', 'api');
		await until('it is served again', async () => (await api.call('wait', { of, for_ms: 0 })).status === 200);
		const read = await wait(of, 0);
		assert.equal(read.length, 2);
		assert.match(read.find(({ id }) => id === of[0].id).code_verifier, /^[\w-]{43}$/);
		for (const one of shown) assert.deepEqual(one, read.find(({ id }) => id === one.id));
	});

	test('what expires is ended, and told', async () => {
		const of = await seen(await created({ ttl_ms: 1_500 }));
		const [shown] = await wait(of);
		assert.deepEqual([shown.status, shown.action, shown.reason], ['completed', 'cancel', 'expired']);
	});

	test('what is overdue is ended before it is shown, also to who looks once, and before its provider is asked', async () => {
		const overdue = async () => {
			const { id } = await api.ok('create', { provider: 'stripe', kind: 'payment', subject: 'ada', item: randomUUID(), expected: { amount: 1, currency: 'EUR' }, target_url: 'https://checkout.stripe.com/c/pay' }, 201);
			await api.stack.sql("UPDATE urlmode.elicitation SET created_at = created_at - interval '1 hour', expires_at = expires_at - interval '1 hour' WHERE id = $1", [id]);
			return { id, subject: 'ada' };
		};
		const [one, other] = [await overdue(), await overdue()];
		await api.stack.sql("INSERT INTO urlmode.recheck (elicitation, event_type, unproven_references, rechecks) VALUES ($1, 'payment.updated', '{pi_o}', 1)", [other.id]);
		const shown = await wait([one, { ...other, can: ['recheck'] }, await created()], 0);
		const of = ({ id }) => shown.find((each) => each.id === id);
		for (const row of [one, other]) assert.deepEqual([of(row).status, of(row).action, of(row).reason], ['completed', 'cancel', 'expired']);
		assert.deepEqual([shown.length, of(one).recheck, of(other).recheck?.references], [3, undefined, ['pi_o']]);
		// Whose lock is not released in time is shown as it is, and again a second later.
		const locked = await overdue();
		const held = await holdRow(api.stack, locked.id);
		try {
			const [{ status }] = await wait([locked], 0);
			assert.equal(status, 'pending');
		} finally {
			await held.release();
		}
		await until('it is ended', async () => (await wait([locked], 0))[0].reason === 'expired');
	});

	test('a thousand on one connection, of which one moves', async () => {
		const owners = await Promise.all(Array.from({ length: 20 }, (_, n) => created({ subject: `of-many-${n}` })));
		const all = Array.from({ length: 980 }, (_, n) => ({ id: randomUUID(), subject: `${n}` }));
		const first = await wait([...owners, ...all]);
		assert.equal(first.filter(({ error }) => error === 'not_found').length, 980);
		const of = owners.map((owner) => ({ ...owner, seen: first.find(({ id }) => id === owner.id).seen }));
		const answer = wait(of);
		await complete(of[7]);
		assert.deepEqual((await answer).map(({ id }) => id), [of[7].id]);
	});

	test('more than are read at a time, of which the last one moves', async () => {
		const owners = await Promise.all(Array.from({ length: 150 }, (_, n) => created({ subject: `of-batches-${n}` })));
		const of = (await seen(...owners)).sort((a, b) => a.id < b.id ? -1 : 1);
		const answer = wait(of);
		await complete(of.at(-1));
		assert.deepEqual((await answer).map(({ id, action }) => [id, action]), [[of.at(-1).id, 'accept']]);
	});

	test('more results than an answer has room for: the rest comes with the next call, and only what was shown is marked as read', async () => {
		const owners = await Promise.all(Array.from({ length: 90 }, (_, n) => created({ subject: `of-large-${n}` })));
		await Promise.all(owners.map((owner) => complete(owner, { action: 'accept', result: { code: 'x'.repeat(60_000) } })));
		const marked = async () => (await api.stack.sql("SELECT DISTINCT q.id FROM urlmode.purge_queue, unnest(ids) AS q (id) JOIN urlmode.elicitation USING (id) WHERE due_at < now() + interval '1 hour' AND subject LIKE 'of-large-%' ORDER BY 1")).map(({ id }) => id);
		const first = await wait(owners);
		const size = JSON.stringify(first).length;
		assert.ok(size < 4_194_304 && size > 4_000_000, `${size}`);
		const shown = new Map(first.map((one) => [one.id, one.seen]));
		await until('what was shown is marked', async () => (await marked()).length >= first.length);
		assert.deepEqual(await marked(), [...shown.keys()].sort());
		const rest = await wait(owners.map((owner) => ({ ...owner, seen: shown.get(owner.id) })));
		assert.equal(rest.length, owners.length - first.length);
		for (const { id, result } of rest) assert.deepEqual([shown.has(id), result.code.length], [false, 60_000]);
	});

	test('one that does not exist, or is another owner\'s or tenant\'s, is said in its place, and the others go on', async () => {
		const owner = await created();
		const shop = await api.as('shop', 'shop');
		const none = { id: randomUUID(), subject: 'ada' };
		const answers = await wait([none, owner, { ...await created(), subject: 'eve' }]);
		assert.deepEqual(answers.map(({ id, error = 'shown' }) => [id === owner.id, error]).sort(), [[false, 'not_found'], [false, 'not_found'], [true, 'shown']]);
		assert.deepEqual((await shop.ok('wait', { of: [owner], for_ms: 0 })).elicitations, [{ id: owner.id, error: 'not_found' }]);
		assert.deepEqual(await shop.error('cancel', owner), [404, 'not_found']);
	});
});

describe('what it refuses', () => {
	test('lists and times that are none', async () => {
		const owner = { id: randomUUID(), subject: 'ada' };
		const cases = [
			[{ for_ms: 0 }, 'of'], [{ of: [], for_ms: 0 }, 'of'], [{ of: {}, for_ms: 0 }, 'of'], [{ of: [owner], for_ms: 60_001 }, 'for_ms'],
			[{ of: [owner, owner], for_ms: 0 }, 'of'], [{ of: [owner, { ...owner, subject: 'eve' }], for_ms: 0 }, 'of'], [{ of: [{ id: owner.id }], for_ms: 0 }, 'of[0].subject'],
			[{ of: [{ ...owner, can: ['pay'] }], for_ms: 0 }, 'of[0].can'], [{ of: [{ ...owner, more: 1 }], for_ms: 0 }, 'of[0].more'], [{ of: [owner, 1], for_ms: 0 }, 'of[1].'],
			[{ of: Array.from({ length: 1_001 }, () => ({ id: randomUUID(), subject: 'a' })), for_ms: 0 }, 'of'],
		];
		for (const [body, member] of cases) assert.deepEqual(await api.error('wait', body), [400, 'invalid_request', member], JSON.stringify(body).slice(0, 200));
	});

	test('a digest of somebody else is no reason to be silent', async () => {
		const owner = await created();
		for (const digest of ['x', 'A'.repeat(22)]) assert.equal((await wait([{ ...owner, seen: digest }], 0)).length, 1, digest);
	});
});

describe('how it ends', () => {
	test('a caller that goes ends its call, at once', async () => {
		const of = await seen(await created());
		const controller = new AbortController();
		const before = await connections();
		const answer = api.call('wait', { of, for_ms: LONG }, { signal: controller.signal });
		await sleep(500);
		controller.abort();
		await assert.rejects(answer, { name: 'AbortError' });
		await until('its connection is closed', async () => (await connections()) <= before);
		await until('the log says so', async () => /"status":499,"outcome":"gone"/.test(await readFile(path.join(api.stack.runDir, 'log/api.log'), 'utf8')));
		assert.equal((await complete(of[0])).outcome, 'completed', 'and nothing else');
	});

	test('a call whose key is removed ends within a second or two, and the others go on', async () => {
		const of = await seen(await created());
		const other = await api.as('removed');
		const ends = other.call('wait', { of, for_ms: LONG });
		const goesOn = wait(of);
		await sleep(300);
		const began = performance.now();
		await api.remove('removed');
		const { status, body } = await ends;
		assert.deepEqual([status, body.error.code], [401, 'unauthorized']);
		assert.ok(performance.now() - began < LONG / 2, 'not at its end');
		await complete(of[0]);
		assert.equal((await goesOn)[0].action, 'accept');
	});

	test('SIGTERM marks as read what was shown before', async () => {
		const owner = await created({ subject: 'marked' });
		await complete(owner);
		assert.equal((await wait([owner]))[0].status, 'completed');
		await api.stack.service('stop', 'api');
		try {
			const marked = await api.stack.sql("SELECT FROM urlmode.purge_queue, unnest(ids) AS q (id) WHERE q.id = $1 AND due_at < now() + interval '1 hour'", [owner.id]);
			assert.equal(marked.length, 1);
		} finally {
			await api.stack.service('start', 'api');
		}
		await until('it is served again', async () => (await api.call('wait', { of: [owner], for_ms: 0 })).status === 200);
	});

	test('SIGTERM answers what waits with an empty list', async () => {
		const of = await seen(await created());
		const answer = wait(of);
		await sleep(500);
		await api.stack.service('stop', 'api');
		try {
			assert.deepEqual(await answer, []);
		} finally {
			await api.stack.service('start', 'api');
		}
		await until('it is served again', async () => (await api.call('wait', { of, for_ms: 0 })).status === 200);
	});

	test('kill -9 ends the call, and the next one has what happened', async () => {
		const of = await seen(await created());
		const answer = api.call('wait', { of, for_ms: LONG });
		await sleep(500);
		const { pid } = await api.stack.program('api');
		process.kill(pid, 'SIGKILL');
		assert.equal((await answer).status, 502);
		await until('it is served again', async () => (await api.call('wait', { of, for_ms: 0 })).status === 200);
		await complete(of[0]);
		assert.equal((await wait(of))[0].action, 'accept');
	});

	test('PostgreSQL that is away for a moment delays, and loses nothing', async () => {
		const of = await seen(await created());
		const answer = wait(of);
		await sleep(300);
		await api.stack.service('restart', 'postgres');
		await until('it is completed', async () => (await api.call('complete', { ...of[0], seen: undefined, action: 'accept' })).status === 200);
		assert.equal((await answer)[0].action, 'accept');
	});

	test('a lost listener is replaced, and what happened meanwhile is told', async () => {
		const of = await seen(await created());
		const answer = wait(of);
		await sleep(300);
		await api.stack.sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'api listener'");
		await complete(of[0]);
		assert.equal((await answer)[0].action, 'accept');
	});
});

describe('complete, cancel, abandon', () => {
	test('complete ends once, and says what it has done', async () => {
		const owner = await created();
		assert.deepEqual(await complete(owner), { outcome: 'completed' });
		assert.deepEqual(await complete(owner), { outcome: 'already' });
		for (const [body, member] of [[{ action: 'pay' }, 'action'], [{}, 'action'], [{ action: 'accept', result: [] }, 'result'], [{ action: 'accept', reason: 'A b' }, 'reason'], [{ action: 'accept', result: { a: 'x'.repeat(65_500) } }, 'result']]) {
			assert.deepEqual((await api.error('complete', { ...owner, ...body })).slice(1), body.result?.a ? ['too_large'] : ['invalid_request', member], JSON.stringify(body).slice(0, 100));
		}
	});

	test('cancel ends also what was opened, with a reason', async () => {
		const of = await seen(await created());
		assert.deepEqual(await api.ok('cancel', { id: of[0].id, subject: 'ada', reason: 'too_late' }), { outcome: 'completed' });
		const [shown] = await wait(of);
		assert.deepEqual([shown.action, shown.reason], ['cancel', 'too_late']);
	});

	test('abandon leaves what somebody has opened', async () => {
		const [one, other] = [await created(), await created()];
		await api.stack.sql("UPDATE urlmode.elicitation SET status = 'opened', opened_at = now() WHERE id = $1", [one.id]);
		assert.deepEqual(await api.ok('abandon', one), { outcome: 'opened' });
		assert.deepEqual(await api.ok('abandon', other), { outcome: 'completed' });
		assert.deepEqual(await api.ok('abandon', other), { outcome: 'already' });
		assert.deepEqual(await api.error('abandon', { ...other, action: 'accept' }), [400, 'invalid_request', 'action']);
	});

	test('the accept of a payment needs what was paid, and that must be what was expected', async () => {
		const asked = { provider: 'stripe', kind: 'payment', subject: 'ada', item: 'paid', expected: { amount: 1_050, currency: 'EUR' }, target_url: 'https://checkout.stripe.com/c/pay' };
		const { id } = await api.ok('create', asked, 201);
		const owner = { id, subject: 'ada', action: 'accept' };
		assert.deepEqual(await api.error('complete', owner), [400, 'invalid_request', 'reference']);
		assert.deepEqual(await api.error('complete', { ...owner, amount: 1_049, currency: 'EUR', reference: 'pi_1' }), [409, 'mismatch']);
		assert.deepEqual(await api.ok('complete', { ...owner, amount: 1_050, currency: 'eur', reference: 'pi_1' }), { outcome: 'completed' });
		const [shown] = await wait([{ id, subject: 'ada' }]);
		assert.deepEqual([shown.action, shown.reference, shown.amount, shown.currency], ['accept', 'pi_1', 1_050, 'EUR']);
		const other = await api.ok('create', { ...asked, item: 'other' }, 201);
		assert.deepEqual(await api.error('complete', { ...owner, id: other.id, amount: 1_050, currency: 'EUR', reference: 'pi_1' }), [409, 'reference_taken']);
	});

	test('an approval is accepted by its approver alone', async () => {
		const { id } = await api.ok('create', { provider: 'approvals', kind: 'approval', subject: 'ada', form: { title: 'T' } }, 201);
		assert.deepEqual(await api.error('complete', { id, subject: 'ada', action: 'accept' }), [409, 'undecided']);
	});
});
