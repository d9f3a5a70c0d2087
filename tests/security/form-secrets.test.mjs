// What a user has typed into a form is nowhere in clear after the answer: not in a log, in
// a file of the database or its write-ahead log, nor in the memory of a program.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { after, before, test } from 'node:test';

import { openFixture } from '../support/fixture.mjs';
import { occurrences, whyUnreadable } from '../support/memory.mjs';
import { until } from '../support/wait.mjs';

/** Every value that a test has typed, by what became of it. */
const typed = new Map();
let fixture, subject;

before(async () => {
	fixture = await openFixture({ name: 'form-secrets', own: true });
	subject = `ada-${randomBytes(8).toString('hex')}`;
	await typeAll();
	await fixture.stack.sql('CHECKPOINT');
}, { timeout: 240_000 });

after(() => fixture?.close());

/** A value that needs no percent-encoding, so that it is the same wherever it is. */
function newSecret(fate) {
	const secret = `sk${randomBytes(16).toString('hex')}`;
	typed.set(fate, secret);
	return secret;
}

async function openForm(options = {}) {
	const created = await fixture.urlmode.create({
		provider: 'intake', kind: 'input', subject,
		form: { title: 'Your key', fields: [
			{ name: 'key', type: 'secret', label: 'Key', required: true, max: 200, format: 'alphanumeric' },
			{ name: 'note', type: 'text', label: 'Note', max: 10 },
		] },
		...options,
	});
	const browser = fixture.browser();
	return { ...created, browser, page: await browser.open(created.url), owner: { subject } };
}

const send = ({ browser, page }, fields, button = 'submit') => browser.submit(page, { button, fields });

async function typeAll() {
	const accepted = await openForm();
	await send(accepted, { 'field.key': newSecret('accepted') });
	const { result } = await fixture.urlmode.waitForCompletion(accepted.elicitationId, accepted.owner);
	assert.equal(result.values.key, typed.get('accepted'), 'the one whom it is for has it');
	await send(accepted, { 'field.key': newSecret('sent after the end') });

	const invalid = await openForm();
	assert.equal((await send(invalid, { 'field.key': newSecret('sent with a mistake in another field'), 'field.note': 'x'.repeat(11) })).status, 422);
	assert.equal((await send(invalid, { 'field.key': `${newSecret('of a wrong form')}!` })).status, 422);
	await send(invalid, { 'field.key': newSecret('in a form that was declined') }, 'decline');

	const verified = await openForm({ verifyTimeout: 20_000 });
	const waiting = fixture.urlmode.waitForCompletion(verified.elicitationId, {
		...verified.owner, verify: ({ values }) => (values.key === typed.get('found good') ? undefined : { field: 'key', problem: 'Unknown' }),
	});
	await send(verified, { 'field.key': newSecret('with a problem') });
	await until('the problem is shown', async () => (await verified.browser.open(verified.page.url)).body.includes('Unknown'));
	await send(verified, { 'field.key': newSecret('found good') });
	assert.equal((await waiting).action, 'accept');
	await fixture.urlmode.claim(verified.elicitationId, verified.owner);

	const unverified = await openForm({ verifyTimeout: 1_000 });
	await send(unverified, { 'field.key': newSecret('that nobody has verified') });
	await until('the form is open', async () => (await unverified.browser.open(unverified.page.url)).body.includes('field.key'));

	// It fills so much of what is freed that later requests do not overwrite all of it.
	const long = await openForm({ form: { title: 'Your key', fields: [{ name: 'key', type: 'secret', multiline: true, label: 'Key' }] } });
	await send(long, { 'field.key': `${newSecret('in many lines')}\n`.repeat(200) });
	assert.equal(typed.size, 9);
}

/** The files below a folder, with what they contain. */
async function * filesBelow(folder) {
	for (const entry of await readdir(folder, { withFileTypes: true, recursive: true })) {
		if (!entry.isFile()) continue;
		const file = path.join(entry.parentPath ?? entry.path, entry.name);
		yield [path.relative(folder, file), await readFile(file).catch(() => Buffer.alloc(0))];
	}
}

test('it is in no log, in no file of the database and not in its WAL', async () => {
	const found = [];
	const places = new Set();
	for await (const [file, bytes] of filesBelow(fixture.stack.runDir)) {
		// What is not a secret is found: so the search finds what there is.
		if (bytes.includes(subject)) places.add(file.split(path.sep).includes('pg_wal') ? 'WAL' : /\blog\b/.test(file) ? 'log' : 'files');
		for (const [fate, secret] of typed) {
			for (const form of [secret, Buffer.from(secret).toString('base64').slice(0, 40), Buffer.from(secret).toString('hex')]) {
				if (bytes.includes(form)) found.push(`${file}: ${fate}`);
			}
		}
	}
	assert.deepEqual(found, []);
	assert.ok(places.has('WAL') && places.has('files'), [...places].join());
});

test('it is not in the memory of a program that has answered', async (t) => {
	for (const name of ['form', 'connect', 'status']) {
		const { pid } = await fixture.stack.program(name);
		const denied = await whyUnreadable(pid);
		if (denied) {
			t.skip(denied);
			return;
		}
		assert.ok(await occurrences(pid, Buffer.from(fixture.stack.baseUrl)) > 0, 'what a program knows is found');
		for (const [fate, secret] of typed) assert.equal(await occurrences(pid, Buffer.from(secret)), 0, `${name}: ${fate}`);
	}
});

test('what waits for its claim is sealed in the row, and deleted with it', async () => {
	const rows = await fixture.stack.sql('SELECT concat(e, f) AS text, result FROM urlmode.elicitation e LEFT JOIN urlmode.form f ON f.elicitation = e.id WHERE subject = $1', [subject]);
	assert.equal(rows.length, 5);
	assert.equal(rows.filter(({ result }) => result).length, 2, 'those of the ones that were not claimed');
	for (const { text } of rows) {
		for (const secret of typed.values()) assert.ok(!text.includes(secret) && !text.includes(Buffer.from(secret).toString('hex')));
	}
});
