// Runs the code of README.md and the example for Mollie as they are.

import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import test from 'node:test';

import { KeysFile } from '../src/core/keys.js';
import { openLink } from '../src/core/link.js';
import { payment, setUp } from './support/database.js';

const README = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
const PACKAGE = fileURLToPath(new URL('..', import.meta.url));

test('the example creates an elicitation, waits, prints the outcome and exits', async (t) => {
	const [, example] = /```js\n([^]*?)```/.exec(README);
	const { callback, settings } = await setUp(t);
	const child = spawn(process.execPath, ['--input-type=module', '-'], {
		cwd: PACKAGE,
		env: { ...process.env, URLMODE_DATABASE_URL: settings.databaseUrl, URLMODE_KEYS_FILE: settings.keysFile,
			URLMODE_BASE_URL: settings.baseUrl },
		stdio: ['pipe', 'pipe', 'inherit'],
		timeout: 30_000,
	});
	child.stdin.end(example);
	const lines = [];
	for await (const line of createInterface({ input: child.stdout })) {
		lines.push(line);
		const url = /^elicit with (.*)$/.exec(line)?.[1];
		if (!url) continue;
		const { id } = openLink(new KeysFile(settings.keysFile), 'github', new URL(url).searchParams.get('state'));
		assert.equal(await callback.open(id, { provider: 'github' }), 'opened');
		assert.equal(await callback.complete(id, { provider: 'github', result: { code: 'abc' } }), 'completed');
	}
	const code = child.exitCode ?? await new Promise((resolve) => child.once('exit', resolve));
	assert.equal(code, 0, lines.join('\n'));
	assert.equal(lines.length, 2);
	assert.equal(lines[1], "accept  [ 'code' ]");
});

test('the example for the tests of users ends as it says', () => {
	const [example] = /import [^\n]* from 'urlmode\/testing';\n[^]*?(?=```)/.exec(README);
	assert.equal(execFileSync(process.execPath, ['--input-type=module', '-'], { cwd: PACKAGE, input: example, encoding: 'utf8' }), 'accept cs_1 1050\n');
});

test('recheck with Mollie: what its payment says counts, and no reference that a stranger sends', async (t) => {
	const mollie = await import('../examples/mollie.mjs');
	// A double of the used part of Mollie's API, compared on 28 November 2026 with https://docs.mollie.com/reference/get-payment and
	// the types of mollie-api-typescript.
	const payments = new Map();
	t.mock.method(globalThis, 'fetch', async (url, { method, body }) => {
		const answer = (status, json) => ({ ok: status < 300, status, json: async () => json });
		if (method === 'POST') {
			const created = { ...JSON.parse(body), id: `tr_${randomUUID()}`, status: 'open', _links: { checkout: { href: 'https://mollie.example/pay' } } };
			payments.set(created.id, created);
			return answer(201, created);
		}
		const { pathname, searchParams } = new URL(url);
		assert.equal(searchParams.get('embed'), 'refunds,chargebacks');
		const found = payments.get(pathname.split('/').at(-1));
		return found ? answer(200, found) : answer(404);
	});
	const { urlmode, callback } = await setUp(t);
	const owner = { subject: 'user-42' };
	const create = () => urlmode.create({ ...payment, targetUrl: mollie.createPayment });
	const [other, mine] = [await create(), await create()];
	const [foreign, own] = payments.values();
	assert.equal(own.webhookUrl, mine.webhookUrl);
	foreign.status = 'paid';

	const look = async (reference) => {
		await callback.event(mine.elicitationId, 'recheck', { reference });
		return urlmode.waitForCompletion(mine.elicitationId, { ...owner, timeout: 0, recheck: mollie.recheck });
	};
	for (const reference of ['tr_made_up', foreign.id, own.id]) await assert.rejects(look(reference), { code: 'ELICITATION_TIMEOUT' });
	own.status = 'paid';
	assert.equal((await look('tr_junk')).reference, own.id);
	await assert.rejects(urlmode.waitForCompletion(other.elicitationId, { ...owner, timeout: 0 }), { code: 'ELICITATION_TIMEOUT' });

	own._embedded = { refunds: [{ id: 're_1', amount: { value: '0.50', currency: 'EUR' }, status: 'queued' }] };
	assert.equal((await look(own.id)).reason, 'held');
	own._embedded.refunds[0].status = 'canceled';
	assert.equal((await look(own.id)).reference, own.id);
	own._embedded.chargebacks = [{ id: 'chb_1', amount: own.amount, reversedAt: null }];
	assert.equal((await look(own.id)).refunded, true);
});

test('REFERENCE.md names every warning, and no other', () => {
	const reference = readFileSync(new URL('../REFERENCE.md', import.meta.url), 'utf8');
	const [, table] = /\n## Warnings\n([^]*?)\n## /.exec(reference);
	const source = readdirSync(`${PACKAGE}src`, { recursive: true }).filter((name) => name.endsWith('.js'))
		.map((name) => readFileSync(`${PACKAGE}src/${name}`, 'utf8')).join('');
	const sorted = (text, pattern) => [...new Set([...text.matchAll(pattern)].map(([, code]) => code))].sort();
	assert.deepEqual(sorted(table, /^\| `(\w+)`/gm), sorted(source, /(?:type: 'UrlModeWarning',\s*code: |(?:\bwarn\([^;]*|WARNING = ))'(\w+)'/g));
});
