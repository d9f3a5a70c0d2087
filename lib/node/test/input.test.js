// How an instance verifies what a user types. What comes of it is in tests/waiting/scenarios.json.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import test from 'node:test';

import { openLink } from '../src/core/link.js';
import { KeysFile } from '../src/core/keys.js';
import { input, setUp, until } from './support/database.js';

const KEY = 'sk-0123456789';
const typed = { result: { values: { api_key: KEY } } };
const wanted = { ...input, verifyTimeout: 20_000 };

async function start(t, options = {}) {
	const fixture = await setUp(t);
	const owner = { subject: `user-${randomUUID()}` };
	const { elicitationId: id, url, ...rest } = await fixture.urlmode.create({ ...wanted, ...owner, ...options });
	const { admin, callback } = fixture;
	return {
		...fixture, id, url, rest, owner,
		row: async () => (await admin.query('SELECT * FROM urlmode.elicitation JOIN urlmode.form ON elicitation = id WHERE id = $1', [id])).rows[0],
		type: (value = KEY, more = {}) => callback.answer(id, { ...owner, result: { values: { api_key: value } }, ...more }),
		page: () => callback.lookUpForm(id, owner),
	};
}

test('the form is sealed in the row, which has no target, and its link is one of a user', async (t) => {
	const { id, url, rest, row, page, keysFile } = await start(t);
	assert.deepEqual(Object.keys(rest).sort(), ['expiresAt', 'resumed']);
	assert.match(url, /^https:\/\/callback\.example\/connect\/demo\?state=[\w-]{43}$/);
	assert.equal(openLink(new KeysFile(keysFile), 'demo', new URL(url).searchParams.get('state')).id, id);
	const { target_url: target, definition, verify_ms: limit } = await row();
	assert.deepEqual([target, limit], [null, 20_000]);
	assert.equal(definition.includes('Your key'), false);
	assert.deepEqual((await page()).form, input.form);
});

test('a problem is shown on the page, the value is wiped, and the next one can be good', async (t) => {
	const { urlmode, id, owner, type, page, row } = await start(t);
	const asked = [];
	const heard = [];
	const waiting = urlmode.waitForCompletion(id, {
		...owner, onProgress: (progress) => heard.push(progress),
		async verify({ values, signal, ...request }) {
			asked.push(values.api_key);
			assert.deepEqual(request, { elicitationId: id, provider: 'demo' });
			assert.equal(signal.aborted, false);
			return values.api_key === KEY ? undefined : { field: 'api_key', problem: { en: 'Unknown key' } };
		},
	});
	assert.equal(await type('wrong'), 'processing');
	await until('the page is open again', async () => (await page()).problem);
	assert.deepEqual((await page()).problem, { field: 'api_key', problem: { en: 'Unknown key' } });
	assert.equal((await row()).result, null);
	await type();
	assert.deepEqual(await waiting, { elicitationId: id, action: 'accept', reason: '', ...typed });
	assert.deepEqual(asked, ['wrong', KEY]);
	assert.deepEqual([...new Set(heard)], heard, 'each progress is told once');
	assert.ok(heard.includes('attempt_failed'), heard.join());
});

test('a wait that looks once does not wait for the verification of another instance', async (t) => {
	const { urlmode, another, id, owner, type } = await start(t);
	let end;
	const waiting = urlmode.waitForCompletion(id, { ...owner, verify: () => new Promise((resolve) => (end = resolve)) });
	await type();
	await until('it is being verified', () => end);
	await assert.rejects(another().waitForCompletion(id, { ...owner, timeout: 0, verify: () => assert.fail('twice') }),
		{ code: 'ELICITATION_TIMEOUT', status: 'processing' });
	end();
	assert.equal((await waiting).action, 'accept');
});

test('a wait that looks once waits for the verification of its own instance', async (t) => {
	const { urlmode, id, owner, type } = await start(t);
	let end;
	const waiting = urlmode.waitForCompletion(id, { ...owner, verify: () => new Promise((resolve) => (end = resolve)) });
	await type();
	await until('it is being verified', () => end);
	const heard = [];
	const looking = urlmode.waitForCompletion(id, {
		...owner, timeout: 0, onProgress: (progress) => heard.push(progress), verify: () => assert.fail('twice'),
	});
	looking.catch(() => {});
	await until('it has looked', () => heard.includes('processing'));
	end();
	assert.equal((await looking).action, 'accept');
	assert.equal((await waiting).action, 'accept');
});

test('if verify throws, or returns what is no problem, the wait rejects, and the form is open and says so', async (t) => {
	for (const [verify, error] of [
		[() => { throw new Error('the API is down'); }, /^Error: the API is down$/],
		[() => ({ field: 'API key', problem: 'No.' }), /^TypeError: verify must return nothing or \{ field, problem \}/],
	]) {
		const { urlmode, id, owner, type, page, row } = await start(t);
		const waiting = urlmode.waitForCompletion(id, { ...owner, verify });
		await type();
		await assert.rejects(waiting, error);
		const { outcome, unchecked, problem } = await until('the form is open', async () => {
			const shown = await page();
			return shown.outcome === 'opened' && shown;
		});
		assert.deepEqual([outcome, unchecked, problem], ['opened', true, null]);
		assert.deepEqual([(await row()).result, (await row()).failed_attempts], [null, 0]);
		const again = urlmode.waitForCompletion(id, { ...owner, verify: () => undefined });
		await type();
		assert.equal((await again).action, 'accept');
	}
});

test('after its time limit a verification has no effect, its signal aborts, and the user can send the form again', async (t) => {
	const { urlmode, id, owner, type, page } = await start(t, { verifyTimeout: 1_000 });
	const warnings = [];
	const onWarning = ({ code, message }) => code === 'URLMODE_VERIFY' && warnings.push(message);
	process.on('warning', onWarning);
	t.after(() => process.off('warning', onWarning));
	const aborted = [];
	const waiting = urlmode.waitForCompletion(id, { ...owner, verify: async ({ values, signal }) => {
		if (values.api_key === KEY) return undefined;
		await new Promise((resolve) => signal.addEventListener('abort', resolve));
		aborted.push(values.api_key);
		return undefined;
	} });
	await type('slow');
	await until('the form is open', async () => (await page()).outcome === 'opened');
	assert.equal((await page()).unchecked, true);
	await until('the signal has aborted', () => aborted.length === 1);
	await type();
	assert.deepEqual((await waiting).result, typed.result);
	assert.equal(warnings.length, 1);
	assert.equal(warnings[0].includes('slow'), false);
});

test('the page says that nobody has verified the value, also while another transaction holds the row', async (t) => {
	const { id, type, page, admin } = await start(t, { verifyTimeout: 1_000 });
	await type('lost');
	await admin.query('BEGIN');
	await admin.query('SELECT FROM urlmode.elicitation WHERE id = $1 FOR UPDATE', [id]);
	const { unchecked } = await until('the form is open', async () => {
		const shown = await page();
		return shown.outcome === 'opened' && shown;
	});
	await admin.query('ROLLBACK');
	assert.equal(unchecked, true);
});

test('a server that is gone leaves the form open', async (t) => {
	const { another, urlmode, id, owner, type, page } = await start(t, { verifyTimeout: 1_000 });
	const dying = another();
	const begun = [];
	const gone = dying.waitForCompletion(id, { ...owner, verify: () => new Promise(() => begun.push(1)) }).catch(() => {});
	await type('lost');
	await until('it is being verified', () => begun.length === 1);
	await dying.close();
	await gone;
	await until('the form is open', async () => (await page()).outcome === 'opened');
	assert.equal((await page()).unchecked, true);
	const waiting = urlmode.waitForCompletion(id, { ...owner, verify: () => undefined });
	await type();
	assert.deepEqual((await waiting).result, typed.result);
});
