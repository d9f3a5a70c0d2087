// Results are sealed, only the SDK opens them, and they are not kept longer than
// needed.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { comeBack } from '../support/flow.mjs';
import { openFixture } from '../support/fixture.mjs';
import { until } from '../support/wait.mjs';
import { bindingOf } from '../../lib/node/src/core/token.js';

const CODE = 'a-code-that-is-nowhere-in-clear';
const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

let fixture;

before(async () => {
	fixture = await openFixture({ name: 'results' });
});

after(() => fixture?.close());

/** An elicitation whose browser came back. */
async function complete() {
	const browser = fixture.browser();
	const flow = await fixture.goOn(browser, { pkce: true });
	assert.equal((await comeBack(browser, flow.returnTo({ code: CODE }))).location, '/done');
	return flow;
}

const wait = ({ id, owner }, urlmode = fixture.urlmode) => urlmode.waitForCompletion(id, { ...owner, timeout: 0 });

/** When what stands in the row is to be dropped, in milliseconds from now. */
async function notes(id) {
	const rows = await fixture.stack.sql(`
		SELECT extract(epoch FROM due_at - now()) * 1000 AS due FROM urlmode.purge_queue WHERE $1 = ANY (ids) ORDER BY due_at`, [id]);
	return rows.map(({ due }) => Number(due));
}

/** The same, once a wait's read is noted beside the completion. */
const readNotes = (id, count = 2) => until('the read is noted', async () => {
	const due = await notes(id);
	return due.length >= count && due;
});

/** Lets time pass for the notes of an elicitation, and has what is due forgotten. */
async function later(id, milliseconds) {
	await fixture.stack.sql(`
		UPDATE urlmode.purge_queue SET due_at = due_at - $2 * interval '1 millisecond' WHERE $1 = ANY (ids)`, [id, milliseconds]);
	await fixture.purgeResults();
}

async function kept(id) {
	const { result, verifier } = await fixture.stack.elicitation(id);
	return { result: result !== null, verifier: verifier !== null };
}

const BOTH = { result: true, verifier: true };
const NONE = { result: false, verifier: false };

describe('a result in its row', () => {
	test('is sealed: neither the code nor the verifier is in any column', async () => {
		const { id } = await complete();
		const [{ text }] = await fixture.stack.sql(
			`SELECT e::text || encode(result, 'escape') || encode(verifier, 'escape') AS text FROM urlmode.elicitation e WHERE id = $1`, [id]);
		assert.ok(!text.includes(CODE));
		assert.ok(!text.includes('code_verifier'));
		assert.ok(!text.includes(Buffer.from(CODE).toString('hex')));
	});

	test('opens for its owner alone', async () => {
		const flow = await complete();
		await assert.rejects(wait({ ...flow, owner: { subject: 'mallory', session: '' } }), { code: 'ELICITATION_NOT_FOUND' });
		await assert.rejects(wait({ ...flow, owner: { ...flow.owner, session: 'another' } }), { code: 'ELICITATION_NOT_FOUND' });
		const { result, codeVerifier } = await wait(flow);
		assert.equal(result.code, CODE);
		assert.match(codeVerifier, /^[\w~.-]{43,128}$/);
	});

	test('opens in no other row', async () => {
		const [from, to] = [await complete(), await complete()];
		await fixture.stack.sql(`
			UPDATE urlmode.elicitation t SET result = f.result FROM urlmode.elicitation f WHERE t.id = $1 AND f.id = $2`, [to.id, from.id]);
		await assert.rejects(wait(to), { code: 'ELICITATION_SEAL' });
	});

	test('cannot be read through any function that the callback programs may execute', async () => {
		const rows = await fixture.stack.sql(`
			SELECT proname, pg_get_function_result(oid) AS answers FROM pg_proc
			WHERE pronamespace = 'urlmode'::regnamespace AND has_function_privilege('urlmode_cgi', oid, 'EXECUTE')`);
		assert.ok(rows.length > 0);
		for (const { proname, answers } of rows) {
			// A session that is a number is a process of PostgreSQL.
			assert.doesNotMatch(answers, /result|verifier|session(?! integer)|expected/, proname);
		}
	});
});

describe('a result is dropped', () => {
	test('ten minutes after it was read, and not before', async () => {
		const flow = await complete();
		await wait(flow);
		const [soon, last] = await readNotes(flow.id);
		assert.ok(soon > 9 * MINUTE && soon <= 10 * MINUTE, `${soon} ms`);
		assert.ok(last > DAY - MINUTE && last <= DAY, `${last} ms`);

		await later(flow.id, 9 * MINUTE);
		assert.deepEqual(await kept(flow.id), BOTH);
		assert.equal((await wait(flow)).result.code, CODE, 'who waits again meanwhile still gets it');
		await readNotes(flow.id, 3);
		await later(flow.id, MINUTE);
		assert.deepEqual(await kept(flow.id), NONE);

		const { action, reason, result, codeVerifier } = await wait(flow);
		assert.deepEqual({ action, reason, result, codeVerifier }, { action: 'accept', reason: '', result: undefined, codeVerifier: undefined });
	});

	test('as long after it was read as keepResults says', async () => {
		const flow = await complete();
		const urlmode = fixture.openUrlMode({ keepResults: 90 * MINUTE });
		await wait(flow, urlmode);
		const [soon] = await readNotes(flow.id);
		assert.ok(soon > 89 * MINUTE && soon <= 90 * MINUTE, `${soon} ms`);
	});

	test('at once, with keepResults of 0', async () => {
		const flow = await complete();
		assert.equal((await wait(flow, fixture.openUrlMode({ keepResults: 0 }))).result.code, CODE);
		await readNotes(flow.id);
		await later(flow.id, 0);
		assert.deepEqual(await kept(flow.id), NONE);
	});

	test('for its owner alone: a note of another binding, or of a row with nothing to drop, does nothing', async () => {
		const noteRead = (ids, bindings) => (
			fixture.stack.sql('SELECT urlmode.mark_read($1::uuid[], $2::bytea[], 0)', [ids, bindings]));
		const { id, owner } = await complete();
		const [open, cancelled] = [await fixture.create({ pkce: true }), await fixture.create()];
		await fixture.urlmode.cancel(cancelled.id, cancelled.owner);
		const strangers = [bindingOf('mallory', ''), bindingOf(owner.subject, 'another'), Buffer.alloc(16), null];
		await noteRead(strangers.map(() => id), strangers);
		await noteRead([open.id, cancelled.id], [open, cancelled].map((one) => bindingOf(one.owner.subject, one.owner.session)));
		await noteRead(null, null);
		assert.equal((await notes(id)).length, 1, 'the one of completion');
		assert.deepEqual(await notes(open.id), []);
		assert.deepEqual(await notes(cancelled.id), [], 'it has nothing to drop');

		await noteRead([id], [bindingOf(owner.subject, owner.session)]);
		await later(id, 0);
		assert.deepEqual(await kept(id), NONE);
	});

	test('a day after completion, where nobody has read it', async () => {
		const flow = await complete();
		const due = await notes(flow.id);
		assert.equal(due.length, 1);
		await later(flow.id, DAY - MINUTE);
		assert.deepEqual(await kept(flow.id), BOTH);
		await later(flow.id, MINUTE);
		assert.deepEqual(await kept(flow.id), NONE);
	});

	test('a day after completion, however it was completed', async () => {
		const declined = fixture.browser();
		const flow = await fixture.goOn(declined, { pkce: true });
		await comeBack(declined, flow.returnTo({ error: 'access_denied' }));
		const told = await fixture.create({ pkce: true });
		await fixture.urlmode.complete(told.id, { ...told.owner, action: 'accept', result: { code: CODE } });

		for (const { id } of [flow, told]) {
			await later(id, DAY);
			assert.deepEqual(await kept(id), NONE);
			assert.equal((await fixture.stack.elicitation(id)).status, 'completed', 'the row itself stays');
		}
	});

	test('at once, its verifier that is, where it is over without a code: expired, abandoned, superseded', async () => {
		const expired = await fixture.create({ pkce: true });
		await fixture.stack.sql("UPDATE urlmode.elicitation SET expires_at = now() - interval '1 second' WHERE id = $1", [expired.id]);
		assert.equal((await fixture.urlmode.waitForCompletion(expired.id, expired.owner)).reason, 'expired');
		const abandoned = await fixture.create({ pkce: true });
		await fixture.urlmode.abandon(abandoned.id, abandoned.owner);
		const superseded = await fixture.create({ pkce: true });
		await fixture.create({ ...superseded.owner, exclusive: true });

		for (const { id } of [expired, abandoned, superseded]) {
			const { status, action } = await fixture.stack.elicitation(id);
			assert.deepEqual({ status, action, ...await kept(id) }, { status: 'completed', action: 'cancel', ...NONE });
		}
	});

	test('keepResults of more than a day, or of no number, is refused', () => {
		for (const keepResults of [DAY + 1, -1, 1.5, '600000', NaN, Infinity]) {
			assert.throws(() => fixture.openUrlMode({ keepResults }), /keepResults/);
		}
	});
});
