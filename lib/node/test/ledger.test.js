// The ledger: everything about money, in order, each entry at least once, for one instance at a time.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import { UrlModeClosedError } from '../src/index.js';
import { connect, requireUrl, until } from './support/database.js';
import { scratchFolder } from './support/keys.js';
import { newReference, start } from './support/refunds.js';

/** A consumer that begins at the next entry, as if it had read those of the other tests. */
async function startsHere({ admin }) {
	const consumer = `of-${randomUUID()}`;
	await admin.query('SELECT urlmode.number_ledger() FROM generate_series(1, (SELECT 1 + count(*) / 1000 FROM urlmode.ledger WHERE number IS NULL))');
	await admin.query("INSERT INTO urlmode.ledger_consumer (tenant, consumer, number) SELECT '', $1, coalesce(max(number), 0) FROM urlmode.ledger", [consumer]);
	return consumer;
}

/** The next entries of an elicitation; the last one is not acknowledged. */
async function entriesOf(urlmode, consumer, id, count) {
	const entries = [];
	for await (const entry of urlmode.ledger({ consumer })) {
		if (entry.elicitationId === id) entries.push(entry);
		if (entries.length === count) return entries;
	}
	return entries;
}

test('what becomes of money is read in order, and again until the next entry is asked for', async (t) => {
	const one = await start(t);
	const { urlmode, id, owner, reference, pay, refund, reversal, decide } = one;
	const consumer = await startsHere(one);
	await pay();
	await refund('a', 500);
	assert.equal(await decide('released'), 'released');
	await reversal('a', 200);
	const claim = await urlmode.beginClaim(id, owner);
	await claim.fulfil('done');
	await claim.confirm();

	const entries = await entriesOf(urlmode, consumer, id, 6);
	assert.deepEqual(entries.map(({ type, kind, amount, refunded }) => [type, kind, amount, refunded]), [
		['paid', 'payment', 1_050, 0], ['refunded', 'refund', 500, 500], ['held', 'payment', 1_050, 500], ['released', 'payment', 1_050, 500],
		['refund_reversed', 'refund', 200, 300], ['claimed', 'payment', 1_050, 300],
	]);
	const [paid, refunded] = entries;
	assert.deepEqual({ ...refunded, number: 0, enteredAt: 0 }, {
		number: 0, enteredAt: 0, type: 'refunded', kind: 'refund', provider: 'demo', elicitationId: id, subject: owner.subject, item: 'report:42',
		payment: reference, checkout: undefined, reference: `${reference}-a`, amount: 500, currency: 'EUR', refunded: 500,
		status: undefined, occurredAt: undefined, evidenceDueAt: undefined,
	});
	assert.equal(paid.reference, reference);
	assert.ok(paid.enteredAt instanceof Date && paid.number < refunded.number);

	const again = await entriesOf(urlmode, consumer, id, 2);
	assert.deepEqual(again.map(({ type }) => type), ['claimed', 'delivered'], 'the one at which the loop has ended comes again');
	const other = await entriesOf(one.another(), consumer, id, 1);
	assert.deepEqual(other.map(({ type }) => type), ['delivered']);
});

test('a loop that throws leaves its entry to the next one, at once', async (t) => {
	const one = await start(t);
	const consumer = await startsHere(one);
	await one.pay();
	const seen = [];
	for (const instance of [one.urlmode, one.another()]) {
		await assert.rejects(async () => {
			for await (const { type, elicitationId } of instance.ledger({ consumer })) {
				if (elicitationId !== one.id) continue;
				seen.push(type);
				throw new Error('the books are closed');
			}
		}, { message: 'the books are closed' });
	}
	assert.deepEqual(seen, ['paid', 'paid']);
});

test('a loop waits for what comes, and ends with close or its signal', async (t) => {
	const one = await start(t);
	const consumer = await startsHere(one);
	const seen = [];
	const looping = (async () => {
		for await (const { type, elicitationId } of one.urlmode.ledger({ consumer })) if (elicitationId === one.id) seen.push(type);
		return 'ended';
	})();
	await one.pay();
	await until('the payment is read', () => seen.includes('paid'));
	await one.refund('a', 1_050);
	await until('the refund is read', () => seen.includes('refunded'));

	const waiting = one.another();
	const abort = new AbortController();
	const aborted = (async () => { for await (const entry of waiting.ledger({ consumer, signal: abort.signal })) assert.fail(entry.type); })();
	await sleep(100);
	abort.abort(new Error('enough'));
	await assert.rejects(aborted, { message: 'enough' });

	const turn = entriesOf(waiting, consumer, 'none', 1);
	await one.urlmode.close();
	assert.equal(await looping, 'ended');
	await until('the lease was given back', async () => (await one.admin.query(
		"SELECT FROM urlmode.ledger_consumer WHERE consumer = $1 AND lease > 0", [consumer])).rowCount === 1);
	assert.throws(() => one.urlmode.ledger({ consumer }), UrlModeClosedError);
	await waiting.close();
	assert.deepEqual(await turn, []);
	const { rows } = await one.admin.query('SELECT leased_until FROM urlmode.ledger_consumer WHERE consumer = $1', [consumer]);
	assert.deepEqual(rows, [{ leased_until: null }], 'nobody has to wait for the lease of a process that has closed');
});

test('one instance at a time reads for a consumer, and one that has lost its lease goes on after the other', async (t) => {
	const one = await start(t);
	const consumer = await startsHere(one);
	const other = one.another();
	const seen = [];
	const slow = one.urlmode.ledger({ consumer });
	await one.pay();
	await one.refund('a', 1_050);
	seen.push(`slow ${(await nextOf(slow, one.id)).type}`);
	const quick = other.ledger({ consumer });
	const next = nextOf(quick, one.id);
	assert.equal(await Promise.race([next.then(() => 'read'), sleep(300, 'waits')]), 'waits');
	// As if the process had stood still.
	await one.admin.query('UPDATE urlmode.ledger_consumer SET leased_until = now() WHERE consumer = $1', [consumer]);
	seen.push(`quick ${(await next).type}`);
	const late = nextOf(slow, one.id);
	seen.push(`quick ${(await nextOf(quick, one.id)).type}`);
	await quick.return();
	seen.push(`slow ${(await late).type}`);
	assert.deepEqual(seen, ['slow paid', 'quick paid', 'quick refunded', 'slow refunded']);
	await slow.return();
});

async function nextOf(loop, id) {
	for (;;) {
		const { value } = await loop.next();
		if (value.elicitationId === id) return value;
	}
}

test('an entry is not lost where PostgreSQL ends the connections', async (t) => {
	const one = await start(t);
	const consumer = await startsHere(one);
	await one.pay();
	await one.refund('a', 1_050);
	const loop = one.urlmode.ledger({ consumer });
	assert.equal((await nextOf(loop, one.id)).type, 'paid');
	await one.admin.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = $1 AND pid <> pg_backend_pid() AND application_name = $2',
		['urlmode_server', one.applicationName]);
	assert.equal((await nextOf(loop, one.id)).type, 'refunded');
	await loop.return();
});

test('a consumer that is killed between two entries reads the first of them again', async (t) => {
	const one = await start(t);
	const consumer = await startsHere(one);
	await one.pay();
	await one.refund('a', 300);
	await one.refund('b', 300);
	const effects = join(scratchFolder(t), 'effects');
	writeFileSync(effects, '');
	const numbers = () => readFileSync(effects, 'utf8').trim().split('\n').filter(Boolean);
	const run = (dieAt) => spawn(process.execPath, [fileURLToPath(new URL('support/ledger-process.js', import.meta.url)), JSON.stringify({
		databaseUrl: requireUrl('URLMODE_DATABASE_URL'), keysFile: one.keysFile, baseUrl: 'https://callback.example', consumer, effects, dieAt,
	})], { stdio: 'inherit' });
	const { rows: [{ expected }] } = await one.admin.query(
		"SELECT count(*)::integer AS expected FROM urlmode.ledger WHERE elicitation = $1 AND type IN ('paid', 'refunded', 'held')", [one.id]);
	for (const dieAt of [1, 2, 1]) {
		await once(run(dieAt), 'exit');
		await one.admin.query('UPDATE urlmode.ledger_consumer SET leased_until = now() WHERE consumer = $1', [consumer]);
	}
	const killed = numbers();
	assert.deepEqual([killed.length, new Set(killed).size], [4, 2], 'the first entry twice, the second twice');
	const last = run(0);
	await until('all is read', async () => new Set((await readOf(one, numbers())).map(({ id }) => id)).size === expected, 30_000);
	last.kill('SIGKILL');
	await once(last, 'exit');
	const order = numbers().map(Number);
	assert.ok(order.every((number, n) => n === 0 || number >= order[n - 1]), `never back: ${order}`);
});

/** The entries of the elicitation that have these numbers. */
const readOf = async ({ admin, id }, numbers) => (await admin.query(
	'SELECT id FROM urlmode.ledger WHERE elicitation = $1 AND number = ANY ($2)', [id, numbers])).rows;

test('two transactions that commit in the other order than they wrote: none appears behind the cursor', async (t) => {
	const [one, other] = [await start(t), await start(t)];
	const consumer = await startsHere(one);
	const slow = await connect(t, requireUrl('URLMODE_ADMIN_DATABASE_URL'));
	await slow.query('BEGIN');
	await slow.query(`INSERT INTO urlmode.payment (provider, reference, elicitation, amount, currency, matches, late)
		VALUES ('demo', $1, $2, 1050, 'EUR', true, false)`, [newReference(), one.id]);
	await other.pay();
	const loop = one.urlmode.ledger({ consumer });
	const first = await nextOf(loop, other.id);
	// It is acknowledged, while the one that was written before it is still invisible.
	const next = nextOf(loop, one.id);
	await until('it is acknowledged', async () => (await one.admin.query(
		'SELECT FROM urlmode.ledger_consumer WHERE consumer = $1 AND number >= $2', [consumer, first.number])).rowCount === 1);
	await slow.query('COMMIT');
	let last;
	next.then((entry) => (last = entry), () => {});
	await until('the other one is read', () => last, 30_000);
	const { rows: [{ before, after }] } = await one.admin.query(
		'SELECT (SELECT id FROM urlmode.ledger WHERE number = $1) AS before, (SELECT id FROM urlmode.ledger WHERE number = $2) AS after', [first.number, last.number]);
	assert.ok(Number(after) < Number(before), 'it was written first');
	assert.ok(last.number > first.number);
	await loop.return();
});

test('paid says whether a user has paid for an item: what went back as a whole does not count', async (t) => {
	const one = await start(t);
	const { urlmode, callback, owner } = one;
	const asks = (more) => urlmode.paid({ subject: owner.subject, item: 'report:42', ...more });
	const { elicitationId: id } = await urlmode.create({ provider: 'demo', kind: 'payment', ...owner, item: 'report:42',
		expected: { amount: 1_050, currency: 'EUR' }, targetUrl: 'https://provider.example/' });
	assert.equal(await asks(), false);
	const reference = newReference();
	await callback.paid(id, { ...owner, reference });
	assert.equal(await asks(), true);
	assert.deepEqual([await asks({ item: 'report:43' }), await asks({ subject: 'eve' }), await asks({ since: new Date(Date.now() + 60_000) }),
		await asks({ since: new Date(Date.now() - 60_000) })], [false, false, false, true]);
	await callback.event(id, 'refunded', { reference, refund: `${reference}-a`, amount: 1_050 });
	assert.equal(await asks(), false);
	await callback.event(id, 'refund_reversed', { reference, refund: `${reference}-a`, amount: 1_050 });
	assert.equal(await asks(), true);
	assert.equal(await asks({ delivered: true }), false);
	const claim = await urlmode.beginClaim(id, owner);
	await claim.fulfil('the report');
	assert.equal(await asks({ delivered: true }), false, 'the next call is given the result');
	await claim.confirm();
	assert.deepEqual([await asks({ delivered: true }), await asks({ delivered: false })], [true, true]);
});

test('what is no consumer, subject or item is refused', async (t) => {
	const { urlmode } = await start(t);
	for (const consumer of [undefined, '', 'Books', 'a b', 'x'.repeat(65), 7]) assert.throws(() => urlmode.ledger({ consumer }), TypeError);
	await assert.rejects(urlmode.paid({ subject: 'ann' }), { message: 'item must be a string' });
	await assert.rejects(urlmode.paid({ subject: '', item: 'x' }), TypeError);
	await assert.rejects(urlmode.paid({ subject: 'ann', item: 'x', since: 'yesterday' }), TypeError);
	await assert.rejects(urlmode.paid({ subject: 'ann', item: 'x', delivered: 1 }), { message: 'delivered must be true or false' });
});
